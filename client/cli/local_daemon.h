// A weftd of this command's own (`weft run --local`): on a socket in a temporary folder, gone when
// the command ends.
//
// Thread safety: none; the thread that starts it must outlive it (the daemon ends with that
// thread).
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace weft::cli {

class LocalDaemon {
 public:
  struct Options {
    std::string program;          // path of weftd
    std::string driver = "auto";  // weftd --driver
  };

  // Blocks until it serves. UNAVAILABLE with what it said when it does not come up.
  // Cost: two processes; on a GPU a context (0.3 s).
  static absl::StatusOr<std::unique_ptr<LocalDaemon>> Start(const Options& options);
  // Stops it (SIGTERM, and after a grace time SIGKILL), waits for its end and removes the folder.
  ~LocalDaemon();
  LocalDaemon(const LocalDaemon&) = delete;
  LocalDaemon& operator=(const LocalDaemon&) = delete;

  std::string socket() const;
  pid_t pid() const { return pid_; }

 private:
  explicit LocalDaemon(std::string folder) : folder_(std::move(folder)) {}
  absl::Status Spawn(const Options& options, int ready_fd);
  absl::Status WaitUntilReady(int ready_fd) const;
  std::string log_path() const;

  const std::string folder_;
  pid_t pid_ = -1;
  UniqueFd pidfd_;
};

}  // namespace weft::cli
