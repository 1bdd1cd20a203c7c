// Runs a Daemon from its start to the signal that ends it.
#pragma once

#include "absl/status/status.h"
#include "server/daemon/config.h"

namespace weft::daemon {

// Serves until SIGTERM or SIGINT; then drains. A second signal, not at the same moment,
// ends the process at once. When it
// serves, tells the service manager, and `ready_fd` (-1: none), which it closes.
// REQUIRES: called on the main thread before others are started; it blocks signals.
absl::Status Serve(const Config& config, int ready_fd);

}  // namespace weft::daemon
