// weft-executor: owns everything in order; starts, serves, ends.
//
//   start ──Hello──▶ attached ──Ready──▶ serving ──Shutdown──▶ ended (exit status 0)
//     │                │                    ├──weftd closes the fd socket──▶ ends at once (0)
//     │                └── weftd is gone ──▶ ended (0)
//     └──no device──▶ Hello with the error, ended (1)
//                                           └──context lost──▶ says so, ends at once (3)
#pragma once

#include <string>

#include "absl/time/time.h"
#include "base/unique_fd.h"
#include "server/executor/device_environment.h"

namespace weft::executor {

struct ExecutorOptions {
  DeviceOptions device;
  std::string grpc_socket;  // path of the private service; made with mode 0600
  absl::Duration spin = absl::Microseconds(500);
};

// Exit statuses of the program.
inline constexpr int kExitOk = 0;
inline constexpr int kExitCannotServe = 1;
inline constexpr int kExitContextLost = 3;

// Serves weftd at the other end of `fd_socket` until one of the ends above; returns the exit status
// (or ends the process itself, where the drawing says at once: nothing is lost with it, the memory
// of buffers lives in weftd's descriptors). Blocks; serves the ring on the calling thread.
int RunExecutor(const ExecutorOptions& options, UniqueFd fd_socket);

}  // namespace weft::executor
