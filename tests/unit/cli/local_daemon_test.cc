#include "client/cli/local_daemon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>

#include "tests/testing/leak_baseline.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using weft::testing::StatusIs;

// Scripts that pass for weftd.
class LocalDaemonTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<LocalDaemon>> Start(const std::string& script) {
    const std::string program = dir_.WriteFile("weftd", "#!/bin/sh\n" + script);
    fs::permissions(program, fs::perms::owner_all);
    return LocalDaemon::Start({.program = program, .driver = "cpu"});
  }

  weft::testing::TempDir dir_;
};

TEST_F(LocalDaemonTest, ServesUntilItsHandleGoesAndLeavesNothing) {
  const auto before = weft::testing::LeakBaseline::Take();
  std::string socket;
  pid_t pid = -1;
  {
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LocalDaemon> daemon,
                         Start("trap 'exit 0' TERM\necho \"$@\" > " + dir_.File("args") +
                               "\necho ready >&3\nexec 3>&-\nwhile :; do sleep 0.01; done\n"));
    socket = daemon->socket();
    pid = daemon->pid();
    EXPECT_EQ(kill(pid, 0), 0);
    EXPECT_THAT(weft::testing::ReadFile(dir_.File("args")),
                AllOf(HasSubstr("--socket=" + socket), HasSubstr("--driver=cpu"),
                      HasSubstr("--ready-fd=3"), HasSubstr("--exit-with-parent")));
  }
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
  EXPECT_FALSE(fs::exists(fs::path(socket).parent_path()));
  EXPECT_THAT(before.Leaked(), IsEmpty());
}

TEST_F(LocalDaemonTest, OneThatEndsBeforeItIsReadyIsQuoted) {
  EXPECT_THAT(Start("echo 'no device is here' >&2\nexit 1\n"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("no device is here")));
}

TEST_F(LocalDaemonTest, AMissingProgramIsNamed) {
  EXPECT_THAT(LocalDaemon::Start({.program = dir_.File("none"), .driver = "auto"}),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr(dir_.File("none"))));
}

}  // namespace
}  // namespace weft::cli
