// A real weftd, with its executors, on the CPU driver and a socket of its own.
//
//   ASSERT_OK_AND_ASSIGN(auto daemon, DaemonProcess::Start({.flags = {"--cpu-devices=2"}}));
//   ... connect to daemon->socket() ...
//
// Thread safety: none; the thread that starts it must outlive it (weftd ends with that thread, so
// that no test leaves one behind, however it ends).
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/testing/temp_dir.h"

namespace weft::testing {

struct DaemonOptions {
  std::vector<std::string> flags = {};  // behind --driver=cpu --cpu-workers=4 --log-level=info
  std::string socket = {};              // empty: in a temporary folder
};

class DaemonProcess {
 public:
  // Blocks until it serves. The programs are those in the folder above the test's own.
  // UNAVAILABLE with what it said when it ends instead.
  static absl::StatusOr<std::unique_ptr<DaemonProcess>> Start(const DaemonOptions& options = {});
  // Ends it when it still runs: SIGTERM, and SIGKILL after 10 s.
  ~DaemonProcess();
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  const std::string& socket() const { return socket_; }
  // REQUIRES: Wait was not called.
  pid_t pid() const { return pid_; }
  void Signal(int signal) const;
  // Blocks until it has ended: its exit status, or 128 and the number of the signal that ended it.
  int Wait();
  // What it and its executors have written to standard error so far.
  std::string Log() const;

 private:
  DaemonProcess() = default;
  absl::Status Spawn(const DaemonOptions& options, int ready_fd);

  TempDir folder_;
  std::string socket_;
  pid_t pid_ = -1;
  std::optional<int> exit_code_;
};

// The folder of weft, weftd and weft-executor: the parent of the running program's.
std::string ProgramFolder();

}  // namespace weft::testing
