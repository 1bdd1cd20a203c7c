// SocketFile, Listener and ExecutorProcess: what touches the operating system.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "server/daemon/executor_process.h"
#include "server/daemon/listener.h"
#include "server/daemon/sd_notify.h"
#include "server/daemon/socket_file.h"
#include "tests/testing/leak_baseline.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"
#include "transport/fd_socket.h"

namespace weft::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using weft::testing::LeakBaseline;
using weft::testing::StatusIs;
using weft::testing::TempDir;

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  return address;
}

UniqueFd Connect(const std::string& path) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = AddressOf(path);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fd.reset();
  }
  return fd;
}

bool Exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

mode_t ModeOf(const std::string& path) {
  struct stat info = {};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

// A socket file on which nobody listens, as a killed program leaves it.
void LeaveDeadSocket(const std::string& path) {
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = AddressOf(path);
  ASSERT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
}

class SocketFileTest : public ::testing::Test {
 protected:
  TempDir dir_;
  const std::string path_ = dir_.File("run/weftd.sock");
};

TEST_F(SocketFileTest, ListensWithItsModeAndCleansUp) {
  const LeakBaseline before = LeakBaseline::Take();
  {
    const mode_t old_mask = ::umask(0077);
    ASSERT_OK_AND_ASSIGN(const auto file, SocketFile::Listen(path_, 0660));
    ::umask(old_mask);
    EXPECT_EQ(ModeOf(path_), 0660u);
    EXPECT_EQ(ModeOf(dir_.File("run")), 0700u);
    EXPECT_TRUE(Connect(path_).valid());
  }
  EXPECT_FALSE(Exists(path_));
  EXPECT_FALSE(Exists(path_ + ".lock"));
  EXPECT_THAT(before.Leaked(), IsEmpty());
}

TEST_F(SocketFileTest, TheModeDoesNotDependOnALaxUmask) {
  const mode_t old_mask = ::umask(0);
  ASSERT_OK_AND_ASSIGN(const auto file, SocketFile::Listen(path_, 0600));
  ::umask(old_mask);
  EXPECT_EQ(ModeOf(path_), 0600u);
}

TEST_F(SocketFileTest, ASecondDaemonIsRefusedAndToldThePidOfTheFirst) {
  ASSERT_OK_AND_ASSIGN(const auto first, SocketFile::Listen(path_, 0600));
  EXPECT_THAT(SocketFile::Listen(path_, 0600),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr(absl::StrCat("(pid ", ::getpid(), ")"))));
  EXPECT_TRUE(Connect(path_).valid());  // the first goes on
}

TEST_F(SocketFileTest, TheSocketOfAKilledDaemonIsReplaced) {
  ASSERT_EQ(::mkdir(dir_.File("run").c_str(), 0700), 0);
  LeaveDeadSocket(path_);
  dir_.WriteFile("run/weftd.sock.lock", "1\n");
  EXPECT_OK(SocketFile::Listen(path_, 0600));
}

TEST_F(SocketFileTest, ADeadSocketThatNoDaemonHasLeftIsNotTouched) {
  ASSERT_EQ(::mkdir(dir_.File("run").c_str(), 0700), 0);
  LeaveDeadSocket(path_);
  EXPECT_THAT(SocketFile::Listen(path_, 0600), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_TRUE(Exists(path_));
  EXPECT_FALSE(Exists(path_ + ".lock"));
}

TEST_F(SocketFileTest, AFileThatIsNoSocketIsNotTouched) {
  ASSERT_EQ(::mkdir(dir_.File("run").c_str(), 0700), 0);
  dir_.WriteFile("run/weftd.sock", "precious");
  dir_.WriteFile("run/weftd.sock.lock", "1\n");
  EXPECT_THAT(SocketFile::Listen(path_, 0600),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("is not a socket")));
  EXPECT_EQ(weft::testing::ReadFile(path_), "precious");
}

TEST_F(SocketFileTest, ASocketOnWhichAnotherProgramListensIsNotTouched) {
  ASSERT_EQ(::mkdir(dir_.File("run").c_str(), 0700), 0);
  const UniqueFd other(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = AddressOf(path_);
  ASSERT_EQ(::bind(other.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(other.get(), 1), 0);
  dir_.WriteFile("run/weftd.sock.lock", "1\n");
  EXPECT_THAT(SocketFile::Listen(path_, 0600),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("another program")));
}

class ListenerTest : public ::testing::Test {
 protected:
  void Start(uint32_t max_sessions, int connections) {
    handed_over_ = std::make_unique<absl::BlockingCounter>(connections);
    sessions_ = std::make_unique<SessionRegistry>(max_sessions);
    socket_ = *SocketFile::Listen(path_, 0600);
    listener_ = *Listener::Start(
        socket_->fd(), *sessions_,
        [this](int fd) {
          held_.emplace_back(fd);  // as gRPC holds it
          handed_over_->DecrementCount();
        },
        [this](SessionId session) {
          ended_session_ = session;
          if (!ended_.HasBeenNotified()) ended_.Notify();
        });
  }

  TempDir dir_;
  const std::string path_ = dir_.File("s");
  std::unique_ptr<absl::BlockingCounter> handed_over_;
  std::unique_ptr<SessionRegistry> sessions_;
  std::unique_ptr<SocketFile> socket_;
  std::unique_ptr<Listener> listener_;
  std::vector<UniqueFd> held_;
  SessionId ended_session_;
  absl::Notification ended_;
};

TEST_F(ListenerTest, AConnectionIsASessionOfItsUserUntilItEnds) {
  Start(8, 1);
  UniqueFd client = Connect(path_);
  handed_over_->Wait();
  ASSERT_OK_AND_ASSIGN(const Caller caller, sessions_->Find(absl::StrCat("fd:", held_[0].get())));
  EXPECT_EQ(caller.uid, ::geteuid());
  EXPECT_EQ(caller.pid, ::getpid());
  client.reset();
  ended_.WaitForNotification();
  EXPECT_EQ(ended_session_, caller.session);
  EXPECT_FALSE(sessions_->IsOpen(caller.session));
}

TEST_F(ListenerTest, ASessionEndsWhenTheServerShutsItsSocketDown) {
  Start(8, 1);
  const UniqueFd client = Connect(path_);
  handed_over_->Wait();
  ::shutdown(held_[0].get(), SHUT_RDWR);  // what gRPC does before it closes
  ended_.WaitForNotification();
  EXPECT_EQ(sessions_->size(), 0u);
}

TEST_F(ListenerTest, AConnectionOverTheLimitIsClosed) {
  Start(1, 1);
  const UniqueFd first = Connect(path_);
  handed_over_->Wait();
  const UniqueFd second = Connect(path_);
  char byte = 0;
  EXPECT_EQ(::read(second.get(), &byte, 1), 0);  // end of file
  EXPECT_EQ(sessions_->size(), 1u);
}

ExecutorCommand Shell(const std::string& script) {
  ExecutorCommand command;
  command.program = "/bin/sh";
  // The shell takes --fd-socket=3 as its $0.
  command.arguments = {"-c", script};
  command.environment = {"WEFT_TEST=set"};
  return command;
}

TEST(ExecutorProcessTest, TheChildHasItsSocketAndNoOtherDescriptor) {
  const UniqueFd extra(::open("/dev/null", O_RDONLY));  // without close-on-exec
  ASSERT_OK_AND_ASSIGN(
      const auto process,
      ExecutorProcess::Spawn(Shell("test -S /proc/self/fd/3 && test \"$WEFT_TEST\" = set && "
                                   "test ! -e /proc/self/fd/4 && exit 7")));
  EXPECT_EQ(process->Reap(absl::Seconds(30)), "exit status 7");
}

TEST(ExecutorProcessTest, TheChildDoesNotInheritBlockedSignals) {
  sigset_t term;
  ::sigemptyset(&term);
  ::sigaddset(&term, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &term, nullptr);
  ASSERT_OK_AND_ASSIGN(const auto process, ExecutorProcess::Spawn(Shell("kill -TERM $$; exit 0")));
  ::pthread_sigmask(SIG_UNBLOCK, &term, nullptr);
  EXPECT_EQ(process->Reap(absl::Seconds(30)), "signal 15 (Terminated)");
}

TEST(ExecutorProcessTest, AChildThatDoesNotEndIsKilled) {
  ASSERT_OK_AND_ASSIGN(const auto process, ExecutorProcess::Spawn(Shell("sleep 600")));
  EXPECT_EQ(process->Reap(absl::ZeroDuration()), "signal 9 (Killed)");
}

TEST(ExecutorProcessTest, TheChildEndsWithTheProcessThatStartedIt) {
  ASSERT_OK_AND_ASSIGN(auto ends, UniqueFd::SocketPair(SOCK_STREAM));
  const pid_t parent = ::fork();
  if (parent == 0) {
    const auto process = ExecutorProcess::Spawn(Shell("exec sleep 600"));
    const pid_t pid = process.ok() ? (*process)->pid() : 0;
    char end = 0;
    // Ends as by kill -9, once the test watches the executor.
    if (::write(ends.first.get(), &pid, sizeof pid) == sizeof pid) {
      static_cast<void>(::read(ends.first.get(), &end, 1) == 1);
    }
    ::_exit(0);
  }
  pid_t pid = 0;
  ASSERT_EQ(::read(ends.second.get(), &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  ASSERT_OK_AND_ASSIGN(const UniqueFd executor, UniqueFd::Pidfd(pid));
  ASSERT_EQ(::write(ends.second.get(), "x", 1), 1);
  pollfd ended = {executor.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, 30'000), 1);
  ::waitpid(parent, nullptr, 0);
}

TEST(ExecutorProcessTest, NoProgramIsNotFound) {
  ExecutorCommand command;
  command.program = "/no/such/executor";
  EXPECT_THAT(ExecutorProcess::Spawn(command),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("--executor-program")));
}

TEST(SdNotifyTest, SendsTheStateToTheManagersSocket) {
  const TempDir dir;
  const std::string path = dir.File("notify");
  const UniqueFd manager(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = AddressOf(path);
  ASSERT_EQ(::bind(manager.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  NotifyServiceManager("READY=1");
  ::unsetenv("NOTIFY_SOCKET");
  NotifyServiceManager("STOPPING=1");  // without the variable: nothing
  char text[32] = {};
  EXPECT_EQ(::recv(manager.get(), text, sizeof text, MSG_DONTWAIT), 7);
  EXPECT_STREQ(text, "READY=1");
  EXPECT_EQ(::recv(manager.get(), text, sizeof text, MSG_DONTWAIT), -1);
}

}  // namespace
}  // namespace weft::daemon
