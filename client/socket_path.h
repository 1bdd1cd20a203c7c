// Where a client looks for weftd.
//
// Thread safety: reads the environment; as getenv.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace weft::client {

// The socket to use when the caller names none:
//   1. $WEFT_SOCKET, when set (whether or not something listens there);
//   2. $XDG_RUNTIME_DIR/weft/weftd.sock, when it exists;
//   3. /run/weft/weftd.sock, when it exists;
//   4. else where a weftd started now by this user would listen: the second for users with
//      $XDG_RUNTIME_DIR, otherwise the third.
std::string DefaultSocket();

// OK when something accepts connections at `path`. Otherwise says what is wrong and what to do:
// UNAVAILABLE (nothing there, nobody listens), PERMISSION_DENIED, INVALID_ARGUMENT (longer than a
// socket's path can be). Makes and drops one connection; does not wait.
absl::Status ProbeSocket(const std::string& path);

}  // namespace weft::client
