#include "client/cli/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <memory>

#include "absl/synchronization/notification.h"
#include "client/cli/exit_codes.h"
#include "tests/testing/status_matchers.h"

namespace weft::cli {
namespace {

// Signals go to the process, so each test gets one of its own.
class InterruptDeathTest : public ::testing::Test {
 protected:
  InterruptDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(InterruptDeathTest, TheFirstSignalCallsTheActionAndTheSecondEndsTheProgram) {
  const auto interrupt_twice = [] {
    const auto watcher = InterruptWatcher::Create();
    absl::Notification called;
    (*watcher)->OnInterrupt([&called] { called.Notify(); });
    kill(getpid(), SIGINT);
    called.WaitForNotification();
    if (!(*watcher)->interrupted()) _exit(1);
    kill(getpid(), SIGTERM);
    absl::Notification never;
    never.WaitForNotification();
  };
  EXPECT_EXIT(interrupt_twice(),
              ::testing::ExitedWithCode(static_cast<int>(ExitCode::kInterrupted)), "");
}

TEST_F(InterruptDeathTest, AnActionThatComesAfterTheSignalIsCalledAtOnce) {
  const auto interrupt_first = [] {
    const auto watcher = InterruptWatcher::Create();
    kill(getpid(), SIGINT);
    absl::Notification called;
    (*watcher)->OnInterrupt([&called] { called.Notify(); });
    called.WaitForNotification();
    _exit(7);
  };
  EXPECT_EXIT(interrupt_first(), ::testing::ExitedWithCode(7), "");
}

TEST_F(InterruptDeathTest, SignalsHaveTheirUsualEffectAfterwards) {
  const auto interrupt_after = [] {
    InterruptWatcher::Create().IgnoreError();
    kill(getpid(), SIGTERM);
    absl::Notification never;
    never.WaitForNotification();
  };
  EXPECT_EXIT(interrupt_after(), ::testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace weft::cli
