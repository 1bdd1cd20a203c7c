#include "tests/e2e/weft_fixture.h"

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/testing/status_matchers.h"

namespace weft::e2e {

void WeftTest::StartDaemon(const std::vector<std::string>& flags, const std::string& at_socket) {
  daemon_.reset();
  auto started = testing::DaemonProcess::Start({.flags = flags, .socket = at_socket});
  ASSERT_OK(started);
  daemon_ = *std::move(started);
}

std::vector<std::string> WeftTest::WeftArguments(const std::vector<std::string>& arguments) const {
  std::vector<std::string> all = {testing::ProgramFolder() + "/weft", "--socket=" + socket()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

ProgramResult WeftTest::Weft(const std::vector<std::string>& arguments) const {
  return RunProgram(WeftArguments(arguments));
}

ProgramResult WeftTest::RunJob(const std::string& job,
                               const std::vector<std::string>& flags) const {
  std::vector<std::string> arguments = {"run", dir_.WriteFile("job.textproto", job)};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return Weft(arguments);
}

int WeftTest::RunCanary() const {
  const ProgramResult run = RunJob(testing::CanaryJobText());
  if (run.exit_code != 0) ADD_FAILURE() << "canary: " << run.err;
  return run.exit_code;
}

client::Client WeftTest::Connect() const {
  auto client = client::Client::Connect({.socket = socket()});
  EXPECT_OK(client);
  return *client;
}

v1::ServerStatus WeftTest::AwaitStatus(
    const std::function<bool(const v1::ServerStatus&)>& condition) const {
  const client::Client client = Connect();
  const absl::Time limit = absl::Now() + absl::Seconds(20);
  v1::ServerStatus last;
  // Each round is a call to the server, which takes its time.
  do {
    auto status = client.GetStatus();
    if (status.ok()) last = *status;
    if (status.ok() && condition(last)) return last;
  } while (absl::Now() < limit);
  ADD_FAILURE() << "still not as awaited: " << last.ShortDebugString();
  return last;
}

int WeftTest::ExecutorPid() const {
  const v1::ServerStatus status = AwaitStatus([](const v1::ServerStatus& now) {
    return now.devices_size() > 0 &&
           now.devices(0).executor_state() == v1::EXECUTOR_STATE_SERVING &&
           now.devices(0).executor_pid() > 0;
  });
  return status.devices_size() > 0 ? static_cast<int>(status.devices(0).executor_pid()) : -1;
}

std::string SpinJob(uint64_t ns, const std::string& buffer) {
  const std::string storage = buffer.empty() ? "" : absl::StrCat("shared: \"", buffer, "\"");
  return absl::Substitute(R"pb(
                            name: "spin"
                            buffers { name: "mark" data_type: DATA_TYPE_U64 shape: 2 $0 }
                            nodes {
                              name: "spin"
                              kernel {
                                kernel: "spin"
                                args {
                                  name: "mark"
                                  view { buffer: "mark" }
                                }
                                args { name: "ns" i64: $1 }
                              }
                            })pb",
                          storage, ns);
}

std::string DoublingJob(const std::string& buffer) {
  return absl::Substitute(R"pb(
                            name: "doubling"
                            buffers { name: "x" shared: "$0" }
                            buffers { name: "copy" data_type: DATA_TYPE_F32 shape: 1 }
                            buffers { name: "mark" data_type: DATA_TYPE_U64 shape: 2 }
                            nodes {
                              name: "take"
                              copy {
                                src { buffer: "x" }
                                dst { buffer: "copy" }
                              }
                            }
                            nodes {
                              name: "dawdle"
                              after: "take"
                              kernel {
                                kernel: "spin"
                                args {
                                  name: "mark"
                                  view { buffer: "mark" }
                                }
                                args { name: "ns" i64: 2000000 }
                              }
                            }
                            nodes {
                              name: "double"
                              after: "dawdle"
                              kernel {
                                kernel: "scale"
                                args {
                                  name: "x"
                                  view { buffer: "copy" }
                                }
                                args {
                                  name: "y"
                                  view { buffer: "copy" }
                                }
                                args { name: "a" f64: 2 }
                              }
                            }
                            nodes {
                              name: "put"
                              copy {
                                src { buffer: "copy" }
                                dst { buffer: "x" }
                              }
                            })pb",
                          buffer);
}

v1::Job ParseJob(const std::string& text) {
  v1::Job job;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &job)) << text;
  return job;
}

absl::StatusOr<v1::JobResult> ParseResultJson(const std::string& text) {
  v1::JobResult result;
  const auto status = google::protobuf::util::JsonStringToMessage(text, &result);
  if (status.ok()) return result;
  return absl::InvalidArgumentError(std::string(status.message()) + ": " + text);
}

}  // namespace weft::e2e
