// Every bad job of tests/jobs/bad through the command line: refused with one clear message, and the
// server is as it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "base/error_context.h"
#include "tests/e2e/run_program.h"
#include "tests/e2e/weft_fixture.h"
#include "tests/testing/leak_baseline.h"

namespace weft::e2e {
namespace {

using ::testing::IsEmpty;

std::vector<std::string> BadJobs() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(WEFT_SOURCE_DIR "/tests/jobs/bad")) {
    const std::string ending = entry.path().extension().string();
    if (ending == ".textproto" || ending == ".json" || ending == ".binpb") {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

class BadInputTest : public WeftTest {
 protected:
  // Nobody but the asker is connected, nothing runs, and `condition`, asked while the asker is
  // connected, holds.
  v1::ServerStatus AwaitIdle(const std::function<bool()>& condition) {
    return AwaitStatus([&condition](const v1::ServerStatus& now) {
      return now.sessions() == 1 && now.jobs_running() == 0 && now.jobs_queued() == 0 &&
             condition();
    });
  }
};

// In parts: each file starts two programs, which takes a second under a sanitizer.
constexpr size_t kParts = 6;

class BadJobsTest : public BadInputTest, public ::testing::WithParamInterface<size_t> {};

INSTANTIATE_TEST_SUITE_P(Parts, BadJobsTest, ::testing::Range(size_t{0}, kParts));

TEST_P(BadJobsTest, EachIsRefusedWithOneMessageAndLeavesNothingBehind) {
  const std::vector<std::string> files = BadJobs();
  ASSERT_GT(files.size(), 50u);
  StartDaemon();
  ASSERT_EQ(RunCanary(), 0);  // its prepared graph stays in the cache
  const int executor_pid = ExecutorPid();
  std::optional<testing::LeakBaseline> daemon_fds;
  std::optional<testing::LeakBaseline> executor_fds;
  const v1::ServerStatus before = AwaitIdle([&] {
    daemon_fds = testing::LeakBaseline::Take(daemon_->pid());
    executor_fds = testing::LeakBaseline::Take(executor_pid);
    return true;
  });

  for (size_t i = GetParam(); i < files.size(); i += kParts) {
    const std::string& file = files[i];
    SCOPED_TRACE(file);
    const ProgramResult run = Weft({"run", file});
    EXPECT_EQ(run.exit_code, kBadInput) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_TRUE(absl::StartsWith(run.err, "weft run: ")) << run.err;
    EXPECT_LT(run.err.size(), 2000u) << run.err;
    const ProgramResult canary = RunJob(testing::CanaryJobText());
    ASSERT_EQ(canary.exit_code, 0) << canary.err;
  }

  // The socket of a session is closed a moment after the session has ended.
  const v1::ServerStatus after =
      AwaitIdle([&] { return daemon_fds->Leaked().empty() && executor_fds->Leaked().empty(); });
  EXPECT_EQ(after.buffers(), before.buffers());
  EXPECT_EQ(after.buffer_bytes(), before.buffer_bytes());
  EXPECT_EQ(after.prepared_graphs(), before.prepared_graphs());
  EXPECT_EQ(after.devices(0).free_memory_bytes(), before.devices(0).free_memory_bytes());
  EXPECT_EQ(after.devices(0).executor_pid(), before.devices(0).executor_pid());
  EXPECT_THAT(daemon_fds->Leaked(), IsEmpty());
  EXPECT_THAT(executor_fds->Leaked(), IsEmpty());
}

TEST_F(BadInputTest, FaultsArriveOverTheApiAsFieldViolations) {
  StartDaemon();
  v1::Job job = testing::CanaryJob();
  job.mutable_nodes(0)->mutable_fill()->mutable_dst()->set_buffer("nobody");
  job.mutable_nodes(1)->mutable_kernel()->set_kernel("scael");
  const absl::Status status = Connect().Run(job).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  std::vector<std::string> fields;
  for (const FieldViolation& violation : ViolationsOf(status)) fields.push_back(violation.field);
  EXPECT_THAT(fields, ::testing::IsSupersetOf({::testing::StartsWith("nodes[0].fill.dst"),
                                               ::testing::StartsWith("nodes[1].kernel")}));
}

TEST_F(BadInputTest, AFileThatIsNotThereAndAnUnknownCommandAreBadInput) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"run", "/nowhere/job.textproto"}, {"rum"}, {"run"}, {}}) {
    std::vector<std::string> all = {testing::ProgramFolder() + "/weft"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const ProgramResult run = RunProgram(all);
    EXPECT_EQ(run.exit_code, kBadInput) << run.err;
    EXPECT_NE(run.err, "");
  }
}

}  // namespace
}  // namespace weft::e2e
