// Tells the service manager how weftd is (the protocol of sd_notify(3), without libsystemd).
#pragma once

#include "absl/strings/string_view.h"

namespace weft::daemon {

// Sends `state` ("READY=1", "STOPPING=1") to the socket named by $NOTIFY_SOCKET; does nothing
// without it. A failure is logged. Does not block.
void NotifyServiceManager(absl::string_view state);

}  // namespace weft::daemon
