// Real programs on the CPU driver: a weftd of the test's own, `weft`, and the client library.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/client.h"
#include "tests/e2e/run_program.h"
#include "tests/testing/canary.h"
#include "tests/testing/daemon_process.h"
#include "tests/testing/temp_dir.h"
#include "weft/v1/device.pb.h"
#include "weft/v1/job.pb.h"

namespace weft::e2e {

class WeftTest : public ::testing::Test {
 protected:
  // Starts a weftd with these flags behind those of every test, and waits until it serves.
  void StartDaemon(const std::vector<std::string>& flags = {}, const std::string& at_socket = "");

  // `weft <arguments>` against that weftd.
  ProgramResult Weft(const std::vector<std::string>& arguments) const;
  std::vector<std::string> WeftArguments(const std::vector<std::string>& arguments) const;
  // `weft run` of `job` (the text of a job file).
  ProgramResult RunJob(const std::string& job, const std::vector<std::string>& flags = {}) const;
  // `weft run` of the canary: its exit code.
  int RunCanary() const;
  client::Client Connect() const;

  // Asks for the server's status until `condition` holds, for at most 20 s; the last one.
  v1::ServerStatus AwaitStatus(const std::function<bool(const v1::ServerStatus&)>& condition) const;
  // The process of device 0's executor, once it serves.
  int ExecutorPid() const;

  const std::string& socket() const { return daemon_->socket(); }

  testing::TempDir dir_;
  std::unique_ptr<testing::DaemonProcess> daemon_;
};

// Texts of job files.
//
// One kernel that takes `ns` nanoseconds; with `buffer` it also writes that buffer of the server (two
// u64: when it started and ended).
std::string SpinJob(uint64_t ns, const std::string& buffer = "");
// x = 2 x for the f32 buffer `buffer` of the server, by way of a copy that takes a while.
std::string DoublingJob(const std::string& buffer);

// The job in a text like those above.
v1::Job ParseJob(const std::string& text);
// A JobResult as `weft --json` prints it.
absl::StatusOr<v1::JobResult> ParseResultJson(const std::string& text);

}  // namespace weft::e2e
