// One weft-executor process: started with nothing but the descriptors it is meant to have, watched
// by a pidfd, never left behind (killed with the thread that started it, see Spawn).
//
// Thread safety: one thread, which started it and lives as long as it.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"

namespace weft::daemon {

struct ExecutorCommand {
  std::string program;                   // path
  std::vector<std::string> arguments;    // without the program and without --fd-socket
  std::vector<std::string> environment;  // "NAME=value", added to this process's own
};

class ExecutorProcess {
 public:
  // Starts `command` with one end of a SOCK_SEQPACKET pair as --fd-socket=3. The kernel kills the
  // process when the calling *thread* ends (PR_SET_PDEATHSIG): the thread must live as long.
  static absl::StatusOr<std::unique_ptr<ExecutorProcess>> Spawn(const ExecutorCommand& command);
  // Kills and reaps it, if that was not done.
  ~ExecutorProcess();
  ExecutorProcess(const ExecutorProcess&) = delete;
  ExecutorProcess& operator=(const ExecutorProcess&) = delete;

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }  // readable when the process has ended
  UniqueFd TakeSocket() { return std::move(socket_); }

  // Waits at most `patience` for it to end by itself, then kills it; reaps it, and says how it
  // ended: "exit status 3", "signal 9 (Killed)".
  std::string Reap(absl::Duration patience);

 private:
  ExecutorProcess(pid_t pid, UniqueFd pidfd, UniqueFd socket)
      : pid_(pid), pidfd_(std::move(pidfd)), socket_(std::move(socket)) {}

  pid_t pid_;
  UniqueFd pidfd_;
  UniqueFd socket_;
  bool reaped_ = false;
};

}  // namespace weft::daemon
