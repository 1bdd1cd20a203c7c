// weftd without its executor: it starts another, and nothing that was promised is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <numeric>
#include <span>
#include <vector>

#include "base/unique_fd.h"
#include "tests/e2e/weft_fixture.h"
#include "tests/testing/status_matchers.h"

namespace weft::e2e {
namespace {

class ExecutorLossTest : public WeftTest {
 protected:
  void SetUp() override { StartDaemon(); }

  // Kills the executor and waits for the next one.
  void ReplaceExecutor() {
    const auto old = static_cast<uint32_t>(ExecutorPid());
    ::kill(static_cast<pid_t>(old), SIGKILL);
    AwaitStatus([old](const v1::ServerStatus& now) {
      return now.devices(0).executor_state() == v1::EXECUTOR_STATE_SERVING &&
             now.devices(0).executor_pid() != old;
    });
  }
};

TEST_F(ExecutorLossTest, JobsRunAgainAfterItWasKilled) {
  ASSERT_EQ(RunCanary(), 0);
  ReplaceExecutor();
  EXPECT_EQ(RunCanary(), 0);
}

TEST_F(ExecutorLossTest, ANamedBufferKeepsEveryByte) {
  const client::Client client = Connect();
  std::vector<uint32_t> values(300'000);
  std::iota(values.begin(), values.end(), 7);
  ASSERT_OK_AND_ASSIGN(
      const client::Buffer buffer,
      client.CreateBuffer({"kept", v1::DATA_TYPE_U32, {static_cast<int64_t>(values.size())}}));
  ASSERT_OK(buffer.Upload(std::as_bytes(std::span(values))));
  ReplaceExecutor();
  std::vector<uint32_t> read(values.size());
  ASSERT_OK(buffer.Download(std::as_writable_bytes(std::span(read))));
  EXPECT_EQ(read, values);
}

TEST_F(ExecutorLossTest, AJobThatWasRunningEndsAndSaysWhy) {
  const client::Client client = Connect();
  ASSERT_OK_AND_ASSIGN(const client::Job job, client.Submit(ParseJob(SpinJob(10'000'000'000))));
  AwaitStatus([](const v1::ServerStatus& now) { return now.jobs_running() == 1; });
  ReplaceExecutor();
  EXPECT_THAT(job.Wait(), testing::StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(RunCanary(), 0);
}

TEST_F(ExecutorLossTest, ItEndsWhenWeftdIsKilled) {
  const int executor = ExecutorPid();
  ASSERT_OK_AND_ASSIGN(const UniqueFd pidfd, UniqueFd::Pidfd(executor));
  daemon_->Signal(SIGKILL);
  daemon_->Wait();
  pollfd ended = {pidfd.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, 20'000), 1);
}

}  // namespace
}  // namespace weft::e2e
