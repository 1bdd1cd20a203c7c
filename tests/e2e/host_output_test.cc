// Outputs that reach the client while their job runs: the job goes on only when the test, which has the
// output by then, signals it. Where it is not delivered early, nobody ever signals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/substitute.h"
#include "tests/e2e/weft_fixture.h"
#include "tests/testing/status_matchers.h"

namespace weft::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::StatusIs;

// Delivers 4 bytes of `pattern`, waits until semaphore "gate" is `value`, then downloads as well.
std::string GatedJob(int pattern, int value, const std::string& options = "") {
  return absl::Substitute(R"(
      name: "gated" $2
      buffers { name: "gate" shared: "gate" }
      buffers { name: "x" shape: 4 }
      nodes { name: "fill" fill { dst { buffer: "x" } pattern: $0 } }
      nodes { name: "early" download { src { buffer: "x" } delivery: DELIVERY_WHEN_READY } }
      nodes { name: "go" after: "early" wait { semaphore { buffer: "gate" } value: $1 } }
      nodes { name: "late" after: "go" download { src { buffer: "x" } } })",
                          pattern, value, options);
}

class HostOutputTest : public WeftTest {
 protected:
  void SetUp() override {
    StartDaemon();
    client_.emplace(Connect());
    ASSERT_OK_AND_ASSIGN(client::Buffer gate,
                         client_->CreateBuffer({"gate", v1::DATA_TYPE_U64, {1}}));
    gate_.emplace(std::move(gate));
  }

  void OpenGate(int value) {
    EXPECT_OK(client_->Run(ParseJob(absl::Substitute(
        R"(buffers { name: "gate" shared: "gate" }
           nodes { signal { semaphore { buffer: "gate" } value: $0 } })",
        value))));
  }
  // What a watch tells, the bytes of outputs and names of states; opens the gate at the output.
  std::vector<std::string> WatchAndOpen(const client::Job& job, int value) {
    std::vector<std::string> told;
    EXPECT_OK(job.Watch(
        [&](const v1::JobInfo& info) {
          if (info.state() > v1::JOB_STATE_RUNNING) told.push_back(v1::JobState_Name(info.state()));
          return client::WatchNext::kContinue;
        },
        [&](const v1::JobOutput& output) {
          told.push_back(output.name() + "=" + output.data());
          OpenGate(value);
          return client::WatchNext::kContinue;
        }));
    return told;
  }

  std::optional<client::Client> client_;
  std::optional<client::Buffer> gate_;
};

TEST_F(HostOutputTest, ArrivesWhileItsJobStillRuns) {
  ASSERT_OK_AND_ASSIGN(const client::Job job, client_->Submit(ParseJob(GatedJob('a', 1))));
  EXPECT_THAT(WatchAndOpen(job, 1), ElementsAre("early=aaaa", "JOB_STATE_SUCCEEDED"));
  ASSERT_OK_AND_ASSIGN(const v1::JobResult result, job.Wait());
  ASSERT_EQ(result.outputs_size(), 2);
  EXPECT_EQ(result.outputs(0).data(), "aaaa");
  EXPECT_EQ(result.outputs(1).data(), "aaaa");
}

TEST_F(HostOutputTest, ArrivesFromAJobThatRunsThroughStreams) {
  ASSERT_OK_AND_ASSIGN(
      const client::Job job,
      client_->Submit(ParseJob(GatedJob('s', 1, "options { collect_timeline: true }"))));
  EXPECT_THAT(WatchAndOpen(job, 1), ElementsAre("early=ssss", "JOB_STATE_SUCCEEDED"));
}

TEST_F(HostOutputTest, IsDeliveredAnewByEachLaunchOfAPreparedGraph) {
  // An upload, so that the launches differ.
  v1::Job proto = ParseJob(GatedJob(0, 1));
  proto.mutable_nodes(0)->mutable_upload()->mutable_dst()->set_buffer("x");
  proto.mutable_nodes(0)->mutable_upload()->set_data("1111");
  ASSERT_OK_AND_ASSIGN(const client::PreparedGraph graph, client_->Prepare(proto));
  ASSERT_OK_AND_ASSIGN(const client::Job first, graph.Start());
  EXPECT_THAT(WatchAndOpen(first, 1), ElementsAre("early=1111", "JOB_STATE_SUCCEEDED"));
  const std::string other = "2222";
  ASSERT_OK_AND_ASSIGN(const client::Job second,
                       graph.Start({{"fill", std::as_bytes(std::span(other))}}));
  EXPECT_THAT(WatchAndOpen(second, 1), ElementsAre("early=2222", "JOB_STATE_SUCCEEDED"));
}

// The watcher that goes away takes nothing with it.
TEST_F(HostOutputTest, IsForWatchersThatComeLaterToo) {
  ASSERT_OK_AND_ASSIGN(const client::Job job, client_->Submit(ParseJob(GatedJob('l', 1))));
  {
    const client::Client gone = Connect();
    EXPECT_OK(gone.FindJob(job.id()).Watch(
        [](const v1::JobInfo&) { return client::WatchNext::kContinue; },
        [](const v1::JobOutput&) { return client::WatchNext::kStop; }));
  }
  EXPECT_THAT(WatchAndOpen(job, 1), ElementsAre("early=llll", "JOB_STATE_SUCCEEDED"));
  EXPECT_THAT(WatchAndOpen(job, 1), ElementsAre("early=llll", "JOB_STATE_SUCCEEDED"));
  EXPECT_EQ(RunCanary(), 0);
}

TEST_F(HostOutputTest, OfAJobThatIsAbortedHasBeenDelivered) {
  ASSERT_OK_AND_ASSIGN(const client::Job job, client_->Submit(ParseJob(GatedJob('f', 1))));
  std::vector<std::string> told;
  EXPECT_OK(job.Watch(
      [&](const v1::JobInfo& info) {
        if (info.state() > v1::JOB_STATE_RUNNING) told.push_back(v1::JobState_Name(info.state()));
        return client::WatchNext::kContinue;
      },
      [&](const v1::JobOutput& output) {
        told.push_back(output.data());
        EXPECT_EQ(::kill(ExecutorPid(), SIGKILL), 0);
        return client::WatchNext::kContinue;
      }));
  EXPECT_THAT(told, ElementsAre("ffff", "JOB_STATE_ABORTED"));
  EXPECT_THAT(job.Wait(), StatusIs(absl::StatusCode::kAborted));
  AwaitStatus([](const v1::ServerStatus& now) { return now.devices_size() > 0; });
}

TEST_F(HostOutputTest, IsPrintedByWatch) {
  ASSERT_OK_AND_ASSIGN(const client::Job job, client_->Submit(ParseJob(GatedJob(7, 1))));
  OpenGate(1);
  const ProgramResult watch = Weft({"watch", job.id()});
  EXPECT_EQ(watch.exit_code, 0) << watch.err;
  EXPECT_THAT(watch.out, HasSubstr("output early  u8 [4]  7 7 7 7"));
}

}  // namespace
}  // namespace weft::e2e
