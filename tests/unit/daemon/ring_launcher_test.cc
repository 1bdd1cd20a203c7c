#include "server/daemon/ring_launcher.h"

#include <fcntl.h>

#include <memory>
#include <utility>

#include "absl/synchronization/notification.h"
#include "tests/testing/status_matchers.h"
#include "transport/ring_server.h"

namespace weft::daemon {
namespace {

class RingLauncherTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto client = *transport::RingClient::Create({.capacity = 4, .spin = absl::ZeroDuration()});
    server_ = *transport::RingServer::Attach(UniqueFd(::fcntl(client->fd(), F_DUPFD_CLOEXEC, 0)));
    launcher_ = std::make_unique<RingLauncher>(std::move(client));
  }

  std::unique_ptr<transport::RingServer> server_;
  std::unique_ptr<RingLauncher> launcher_;
};

TEST_F(RingLauncherTest, ANoticeIsToldToThoseLaunchesInFlightThatWantIt) {
  absl::Notification told, silent_ended, ended;
  const auto on_notice =
      std::make_shared<const ExecutorClient::LaunchNotice>([&told] { told.Notify(); });
  ASSERT_OK(
      launcher_->Launch(GraphId(1), {.done = [&](const LaunchResult&) { silent_ended.Notify(); }}));
  ASSERT_OK(launcher_->Launch(
      GraphId(2), {.done = [&](const LaunchResult&) { ended.Notify(); }, .on_notice = on_notice}));
  const uint64_t first = server_->Take()->sequence;
  const uint64_t second = server_->Take()->sequence;
  server_->notice().Give();
  told.WaitForNotification();
  EXPECT_FALSE(ended.HasBeenNotified());
  server_->Complete(second, absl::StatusCode::kOk);
  ended.WaitForNotification();
  server_->notice().Give();  // `told` would be notified twice: its launch is over
  server_->Complete(first, absl::StatusCode::kOk);
  silent_ended.WaitForNotification();
}

}  // namespace
}  // namespace weft::daemon
