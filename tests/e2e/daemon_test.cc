// weftd as a process: its socket, its end, its settings, and what it is linked with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/e2e/run_program.h"
#include "tests/e2e/weft_fixture.h"
#include "tests/testing/status_matchers.h"

namespace weft::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class DaemonTest : public WeftTest {
 protected:
  // A weftd that is expected to end by itself.
  static ProgramResult Weftd(const std::string& socket) {
    return RunProgram({testing::ProgramFolder() + "/weftd", "--driver=cpu", "--socket=" + socket});
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat file = {};
    return ::stat(path.c_str(), &file) == 0 ? file.st_mode & 07777 : 0;
  }
};

TEST_F(DaemonTest, ASecondOneOnTheSameSocketIsRefusedAndTheFirstGoesOn) {
  StartDaemon();
  const ProgramResult second = Weftd(socket());
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_THAT(second.err, HasSubstr(absl::StrCat(daemon_->pid())));
  EXPECT_EQ(RunCanary(), 0);
}

TEST_F(DaemonTest, TheSocketOfAKilledOneIsCleaned) {
  const std::string path = dir_.File("weftd.sock");
  StartDaemon({}, path);
  daemon_->Signal(SIGKILL);
  EXPECT_EQ(daemon_->Wait(), 128 + SIGKILL);
  ASSERT_EQ(::access(path.c_str(), F_OK), 0);  // left behind
  StartDaemon({}, path);
  EXPECT_EQ(RunCanary(), 0);
}

TEST_F(DaemonTest, AFileThatIsNotItsOwnIsKept) {
  const std::string path = dir_.WriteFile("weftd.sock", "precious");
  const ProgramResult refused = Weftd(path);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr(path));
  EXPECT_EQ(testing::ReadFile(path), "precious");
}

TEST_F(DaemonTest, TheSocketIsForItsUserAloneUnlessSetOtherwise) {
  StartDaemon();
  EXPECT_EQ(ModeOf(socket()), 0600u);
  StartDaemon({"--socket-mode=0660"});
  EXPECT_EQ(ModeOf(socket()), 0660u);
}

TEST_F(DaemonTest, OnSigtermItFinishesItsJobsAndTakesNoNewOnes) {
  StartDaemon();
  const client::Client client = Connect();
  ASSERT_OK_AND_ASSIGN(const client::Job running, client.Submit(ParseJob(SpinJob(400'000'000))));
  AwaitStatus([](const v1::ServerStatus& now) { return now.jobs_running() == 1; });
  daemon_->Signal(SIGTERM);
  AwaitStatus([](const v1::ServerStatus& now) { return now.draining(); });
  v1::SubmitRequest late;
  *late.mutable_job() = testing::CanaryJob();
  EXPECT_THAT(client.connection().Submit(late), testing::StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_OK(running.Wait());
  EXPECT_EQ(daemon_->Wait(), 0);
  EXPECT_NE(::access(socket().c_str(), F_OK), 0);
}

TEST_F(DaemonTest, ItEndsAfterItsGraceTimeWhateverRuns) {
  StartDaemon({"--drain-grace-ms=100"});
  ASSERT_OK(Connect().Submit(ParseJob(SpinJob(10'000'000'000))));
  AwaitStatus([](const v1::ServerStatus& now) { return now.jobs_running() == 1; });
  const absl::Time start = absl::Now();
  daemon_->Signal(SIGTERM);
  EXPECT_EQ(daemon_->Wait(), 0);
  EXPECT_LT(absl::Now() - start, absl::Seconds(8));
}

TEST_F(DaemonTest, WhatItPrintsAsItsSettingsIsAFileThatSetsThem) {
  const ProgramResult printed = RunProgram(
      {testing::ProgramFolder() + "/weftd", "--print-config", "--max-nodes=77", "--driver=cpu"});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  const std::string file = dir_.WriteFile("weftd.textproto", printed.out);
  const ProgramResult again =
      RunProgram({testing::ProgramFolder() + "/weftd", "--print-config", "--config=" + file});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.out, printed.out);
  EXPECT_THAT(again.out, HasSubstr("max_nodes: 77"));
}

TEST_F(DaemonTest, AWrongSettingIsNamed) {
  const ProgramResult refused =
      RunProgram({testing::ProgramFolder() + "/weftd", "--max-nodes=99999999"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--max-nodes"));
}

TEST_F(DaemonTest, NeitherItNorItsClientIsLinkedWithCuda) {
  for (const char* program : {"/weftd", "/weft"}) {
    const ProgramResult libraries =
        RunProgram({"/usr/bin/ldd", testing::ProgramFolder() + program});
    ASSERT_EQ(libraries.exit_code, 0) << libraries.err;
    EXPECT_THAT(libraries.out, Not(HasSubstr("cuda")));
    EXPECT_THAT(libraries.out, Not(HasSubstr("not found")));
  }
}

TEST_F(DaemonTest, ItServesWithoutLibcuda) {
  StartDaemon();
  const std::string maps = testing::ReadFile(absl::StrCat("/proc/", daemon_->pid(), "/maps")) +
                           testing::ReadFile(absl::StrCat("/proc/", ExecutorPid(), "/maps"));
  EXPECT_THAT(maps, Not(HasSubstr("libcuda.so")));
  EXPECT_EQ(RunCanary(), 0);
}

TEST_F(DaemonTest, WithoutAServerTheClientSaysWhatToDo) {
  const ProgramResult run = RunProgram(
      {testing::ProgramFolder() + "/weft", "--socket=" + dir_.File("none.sock"), "status"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("weftd"));
}

}  // namespace
}  // namespace weft::e2e
