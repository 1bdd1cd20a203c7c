// Outputs that are delivered while their job runs.
#include "server/daemon/host_outputs.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/daemon/daemon_parts.h"
#include "transport/ready_word.h"

namespace weft::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using transport::SharedMemory;

constexpr uint64_t kWordOfFirst = 4;     // behind 4 bytes at 0
constexpr uint64_t kWordOfSecond = 260;  // behind 4 bytes at 256

// Two outputs of 4 bytes that are delivered when ready, and one that is not.
std::shared_ptr<CompiledJob> ThreeOutputs() {
  auto compiled = std::make_shared<CompiledJob>();
  compiled->outputs.push_back({.name = "a", .staging = {0, 4}, .ready = {kWordOfFirst, 4}});
  compiled->outputs.push_back({.name = "late", .staging = {512, 4}});
  compiled->outputs.push_back({.name = "b", .staging = {256, 4}, .ready = {kWordOfSecond, 4}});
  return compiled;
}

class HostOutputsTest : public ::testing::Test {
 protected:
  void Write(uint64_t offset, const std::string& bytes) {
    std::memcpy(staging_.data() + offset, bytes.data(), bytes.size());
  }
  void SetWord(uint64_t offset, uint32_t value) {
    *transport::ReadyWord(staging_.data(), offset) = value;
  }
  // "name=bytes" of what was delivered, in order.
  std::vector<std::string> Delivered() const {
    std::vector<std::string> all;
    while (const JobOutputPtr output = log_->At(all.size())) {
      all.push_back(output->name + "=" + output->data);
    }
    return all;
  }

  SharedMemory staging_ = *SharedMemory::Create("staging", 4096);
  std::shared_ptr<OutputLog> log_ = std::make_shared<OutputLog>();
  HostOutputs outputs_{ThreeOutputs(), log_};
};

TEST_F(HostOutputsTest, AreTakenOnceInTheOrderOfBecomingReady) {
  outputs_.Begin(staging_);
  EXPECT_FALSE(outputs_.Take());
  Write(256, "BBBB");
  SetWord(kWordOfSecond, transport::kOutputReady);
  EXPECT_TRUE(outputs_.Take());
  Write(256, "....");  // what happens to the bytes now does not matter
  EXPECT_FALSE(outputs_.Take());
  Write(0, "AAAA");
  SetWord(kWordOfFirst, transport::kOutputReady);
  EXPECT_TRUE(outputs_.Take());
  EXPECT_THAT(Delivered(), ElementsAre("b=BBBB", "a=AAAA"));
  EXPECT_EQ(log_->bytes(), 8u);
  EXPECT_EQ(outputs_.Delivered(2)->data, "BBBB");
  EXPECT_EQ(outputs_.Delivered(1), nullptr);
}

TEST_F(HostOutputsTest, OfAnEarlierLaunchOfTheGraphAreNotReady) {
  SetWord(kWordOfFirst, transport::kOutputReady);
  outputs_.Begin(staging_);
  EXPECT_FALSE(outputs_.Take());
}

TEST_F(HostOutputsTest, AScribbledWordIsNotReady) {
  outputs_.Begin(staging_);
  for (const uint32_t value : {2u, 0x01000000u, 0x101u, UINT32_MAX}) {
    SetWord(kWordOfFirst, value);
    EXPECT_FALSE(outputs_.Take()) << value;
  }
}

TEST_F(HostOutputsTest, AreAllDeliveredWithTheSuccessOfTheJobWhateverTheWordsSay) {
  outputs_.Begin(staging_);
  Write(0, "AAAA");
  Write(256, "BBBB");
  SetWord(kWordOfFirst, 77);
  outputs_.End(HostOutputs::Rest::kAll);
  EXPECT_THAT(Delivered(), ElementsAre("a=AAAA", "b=BBBB"));
}

TEST_F(HostOutputsTest, OfAJobThatFailedOnlyReadyOnesAreDelivered) {
  outputs_.Begin(staging_);
  Write(0, "AAAA");
  SetWord(kWordOfFirst, transport::kOutputReady);
  outputs_.End(HostOutputs::Rest::kReady);
  EXPECT_THAT(Delivered(), ElementsAre("a=AAAA"));
}

TEST_F(HostOutputsTest, NothingIsReadOnceTheLaunchIsOver) {
  outputs_.Begin(staging_);
  outputs_.End(HostOutputs::Rest::kReady);
  SetWord(kWordOfFirst, transport::kOutputReady);
  EXPECT_FALSE(outputs_.Take());
  outputs_.End(HostOutputs::Rest::kAll);
  EXPECT_THAT(Delivered(), IsEmpty());
}

// The job of daemon_parts.h, whose output is delivered when ready.
v1::Job EarlyEchoJob(const std::string& data = "abcd") {
  v1::Job job = EchoJob(data);
  job.mutable_nodes(1)->mutable_download()->set_delivery(v1::DownloadNode::DELIVERY_WHEN_READY);
  return job;
}

class OutputRecorder : public JobWatcher {
 public:
  void OnChange(const JobSnapshot& job) override { states.push_back(job.state); }
  void OnOutput() override { ++outputs; }
  std::vector<JobState> states;
  int outputs = 0;
};

class HostOutputJobTest : public ::testing::Test {
 protected:
  JobId Submit(v1::Job job) {
    absl::StatusOr<JobId> id = absl::InternalError("not answered");
    d_.manager.Submit(d_.alice, std::move(job), "",
                      [&](absl::StatusOr<JobId> accepted) { id = accepted; });
    d_.executor->RunAll();
    EXPECT_OK(id);
    return *id;
  }
  // As the device does behind the copy: upload at 0, download at 256, its word behind it.
  void Deliver(const std::string& data) {
    d_.executor->GiveNotice([&data](const SharedMemory& staging) {
      std::memcpy(staging.data() + 256, data.data(), data.size());
      *transport::ReadyWord(staging.data(), 256 + data.size()) = transport::kOutputReady;
    });
  }
  JobSnapshot Get(JobId id) { return *d_.table.Get(d_.alice, id); }

  DaemonParts d_;
};

TEST_F(HostOutputJobTest, IsTheWatchersBeforeTheJobHasEndedAndInItsResult) {
  const JobId id = Submit(EarlyEchoJob());
  auto watcher = std::make_shared<OutputRecorder>();
  ASSERT_OK_AND_ASSIGN(const JobSnapshot job, d_.table.Watch(d_.alice, id, watcher));
  Deliver("abcd");
  EXPECT_EQ(watcher->outputs, 1);
  EXPECT_THAT(watcher->states, IsEmpty());
  EXPECT_EQ(job.spec->delivered->At(0)->data, "abcd");
  d_.executor->EndLaunch();
  EXPECT_THAT(watcher->states, ElementsAre(JobState::kSucceeded));
  EXPECT_EQ(job.spec->delivered->At(1), nullptr);
  EXPECT_EQ(Get(id).outcome->outputs[0], job.spec->delivered->At(0));
}

TEST_F(HostOutputJobTest, IsDeliveredAnewByEveryLaunchOfTheSameGraph) {
  for (const std::string data : {"abcd", "wxyz"}) {
    const JobId id = Submit(EarlyEchoJob(data));
    EXPECT_EQ(Get(id).spec->delivered->At(0), nullptr);
    Deliver(data);
    EXPECT_EQ(Get(id).spec->delivered->At(0)->data, data);
    d_.executor->EndLaunch();
  }
  EXPECT_EQ(d_.executor->live_graphs(), 1u);
}

TEST_F(HostOutputJobTest, OfAFailedJobIsKeptAndCounted) {
  const JobId id = Submit(EarlyEchoJob());
  Deliver("abcd");
  d_.executor->report.status = absl::InternalError("illegal address");
  d_.executor->EndLaunch({.code = absl::StatusCode::kInternal});
  d_.executor->RunAll();
  const JobSnapshot job = Get(id);
  EXPECT_EQ(job.state, JobState::kFailed);
  EXPECT_THAT(job.outcome->outputs, IsEmpty());
  EXPECT_EQ(job.spec->delivered->At(0)->data, "abcd");
  EXPECT_EQ(d_.table.totals().kept_result_bytes, 4u);
}

TEST_F(HostOutputJobTest, LargeOnesAreCopiedByAWorker) {
  v1::Job job = EarlyEchoJob(std::string(100'000, 'x'));
  job.mutable_buffers(0)->set_shape(0, 100'000);
  d_.executor->staging_bytes = 1 << 20;
  const JobId id = Submit(std::move(job));
  d_.executor->GiveNotice([](const SharedMemory& staging) {
    *transport::ReadyWord(staging.data(), 100'096 + 100'000) = transport::kOutputReady;
  });
  ASSERT_NE(Get(id).spec->delivered->At(0), nullptr);
  EXPECT_EQ(Get(id).spec->delivered->At(0)->data.size(), 100'000u);
}

TEST_F(HostOutputJobTest, AJobWithoutThemIsNotToldOfNotices) {
  const JobId id = Submit(EchoJob());
  EXPECT_EQ(Get(id).spec->delivered, nullptr);
  d_.executor->GiveNotice([](const SharedMemory&) {});
  EXPECT_EQ(Get(id).state, JobState::kRunning);
}

}  // namespace
}  // namespace weft::daemon
