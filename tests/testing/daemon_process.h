// A real weftd with its executors, on a socket of its own and the CPU driver, for the tests of
// whole programs.
//
//   ASSERT_OK_AND_ASSIGN(auto daemon, DaemonProcess::Start({.devices = 2}));
//   … connect to daemon->socket() …
//   EXPECT_OK(daemon->Stop());
//
// The programs are those of the tree that the test program lies in: ../weftd from bin/tests, or what
// $WEFT_BIN_DIR names.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"
#include "tests/testing/temp_dir.h"

namespace weft::testing {

struct DaemonOptions {
  std::string driver = "cpu";      // "cuda": tests that run on the GPU machine
  uint32_t devices = 1;            // of the CPU driver
  uint32_t workers = 4;            // threads of each
  uint64_t memory_mib = 256;       // of each
  std::string faults;              // fault plan, as the setting cpu_faults has it
  std::vector<std::string> flags;  // of weftd, besides
};

// The folder of weft, weftd and weft-executor.
std::string ProgramFolder();

// Thread safety: as a value; one owner.
class DaemonProcess {
 public:
  // Starts it, and returns when it serves. INTERNAL with its log when it ends before.
  static absl::StatusOr<std::unique_ptr<DaemonProcess>> Start(const DaemonOptions& options = {});
  // Stops it; one that does not end is killed, with its executors.
  ~DaemonProcess();
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  const std::string& socket() const { return socket_; }
  pid_t pid() const { return pid_; }
  // What it has logged so far.
  std::string Log() const;

  // SIGTERM, then waits for its end. INTERNAL unless that comes in time with exit status 0 and the
  // socket is gone.
  absl::Status Stop();
  void Signal(int signal) const;
  // Waits for its end: the exit status, or 128 and the number of the signal that ended it.
  // DEADLINE_EXCEEDED.
  absl::StatusOr<int> Wait(absl::Duration timeout);

 private:
  DaemonProcess() = default;
  absl::Status Spawn(const DaemonOptions& options);
  absl::Status AwaitReady(const UniqueFd& ready) const;

  TempDir dir_;
  std::string socket_;
  pid_t pid_ = 0;  // 0: ended
  UniqueFd pidfd_;
};

}  // namespace weft::testing
