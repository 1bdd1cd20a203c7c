#include "transport/fd_socket.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/testing/leak_baseline.h"
#include "tests/testing/status_matchers.h"
#include "transport/peer_identity.h"

namespace weft::transport {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using weft::testing::LeakBaseline;
using weft::testing::StatusIs;

// The header of fd_socket.cc, written out: a peer that lies needs no library.
struct RawHeader {
  uint32_t magic = 0x31444657;
  uint32_t kind = 1;
  uint64_t tag = 2;
  uint32_t body_bytes = 0;
  uint32_t fd_count = 0;
};

class FdSocketTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(auto pair, UniqueFd::SocketPair(SOCK_SEQPACKET));
    raw_ = pair.first.get();
    a_.emplace(std::move(pair.first));
    b_.emplace(std::move(pair.second));
  }

  // Sends `bytes` with copies of `fds` as one packet, past FdSocket::Send.
  void SendRaw(const std::string& bytes, const std::vector<int>& fds = {}) const {
    iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    msghdr packet{};
    packet.msg_iov = &part;
    packet.msg_iovlen = 1;
    std::vector<char> control(CMSG_SPACE(fds.size() * sizeof(int)));
    if (!fds.empty()) {
      packet.msg_control = control.data();
      packet.msg_controllen = control.size();
      cmsghdr* header = CMSG_FIRSTHDR(&packet);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
      std::memcpy(CMSG_DATA(header), fds.data(), fds.size() * sizeof(int));
    }
    ASSERT_EQ(::sendmsg(raw_, &packet, MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  static std::string Bytes(const RawHeader& header, const std::string& body = "") {
    return std::string(reinterpret_cast<const char*>(&header), sizeof header) + body;
  }
  // That the socket still works.
  void ExpectNextMessageArrives() const {
    ASSERT_OK(a_->Send({.kind = 9, .tag = 9}));
    ASSERT_OK_AND_ASSIGN(const FdMessage message, b_->Receive());
    EXPECT_EQ(message.kind, 9u);
  }

  int raw_ = -1;
  std::optional<FdSocket> a_;
  std::optional<FdSocket> b_;
};

TEST_F(FdSocketTest, MessageArrivesWithBodyAndDescriptors) {
  ASSERT_OK_AND_ASSIGN(const UniqueFd memory, UniqueFd::Memfd("x", 10, UniqueFd::Seal::kNone));
  ASSERT_EQ(::pwrite(memory.get(), "hello", 5, 0), 5);
  const std::vector<int> fds = {memory.get(), memory.get()};
  ASSERT_OK(a_->Send({.kind = 7, .tag = 42, .body = "body"}, fds));
  ASSERT_OK_AND_ASSIGN(const FdMessage message, b_->Receive());
  EXPECT_EQ(message.kind, 7u);
  EXPECT_EQ(message.tag, 42u);
  EXPECT_EQ(message.body, "body");
  ASSERT_EQ(message.fds.size(), 2u);
  char text[5];
  ASSERT_EQ(::pread(message.fds[1].get(), text, 5, 0), 5);
  EXPECT_EQ(std::string(text, 5), "hello");
  EXPECT_NE(::fcntl(message.fds[0].get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(FdSocketTest, LargestBodyArrivesWholeAndALargerOneIsRefused) {
  const std::string body(kMaxBodyBytes, 'x');
  ASSERT_OK(a_->Send({.body = body}));
  ASSERT_OK_AND_ASSIGN(const FdMessage message, b_->Receive());
  EXPECT_EQ(message.body, body);
  EXPECT_THAT(a_->Send({.body = body + "x"}), StatusIs(absl::StatusCode::kInvalidArgument));
  const std::vector<int> fds(kMaxFds + 1, a_->fd());
  EXPECT_THAT(a_->Send({}, fds), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(FdSocketTest, ClosedPeerIsUnavailable) {
  b_.reset();
  EXPECT_THAT(a_->Send({}), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(a_->Receive(), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(FdSocketTest, ShutdownEndsABlockedReceive) {
  std::thread reader(
      [this] { EXPECT_THAT(b_->Receive(), StatusIs(absl::StatusCode::kUnavailable)); });
  b_->Shutdown();
  reader.join();
}

TEST_F(FdSocketTest, DescriptorsOfARefusedMessageAreClosed) {
  const LeakBaseline before = LeakBaseline::Take();
  SendRaw(Bytes({.fd_count = 1}), {raw_, raw_});  // more than announced
  EXPECT_THAT(b_->Receive(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("number")));
  SendRaw(Bytes({.fd_count = 2}), {raw_});  // fewer
  EXPECT_THAT(b_->Receive(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("number")));
  SendRaw(Bytes({.fd_count = 100}), std::vector<int>(100, raw_));  // than there is room for
  EXPECT_THAT(b_->Receive(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more")));
  EXPECT_THAT(before.Leaked(), IsEmpty());
  ExpectNextMessageArrives();
}

TEST_F(FdSocketTest, MalformedPacketsAreDropped) {
  SendRaw("short", {raw_});
  EXPECT_THAT(b_->Receive(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("shorter")));
  SendRaw(Bytes({.magic = 1}));
  EXPECT_THAT(b_->Receive(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("magic")));
  SendRaw(Bytes({.body_bytes = 5}, "four"));
  EXPECT_THAT(b_->Receive(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("body")));
  SendRaw(Bytes({.body_bytes = kMaxBodyBytes + 1}, std::string(kMaxBodyBytes + 1, 'x')));
  EXPECT_THAT(b_->Receive(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("longer")));
  ExpectNextMessageArrives();
}

TEST_F(FdSocketTest, AtTheLimitOfDescriptorsTheMessageComesWithoutThem) {
  ASSERT_OK(a_->Send({.kind = 7, .tag = 8}, {raw_}));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const UniqueFd next(::dup(raw_));  // the lowest free number
  rlimit full = before;
  full.rlim_cur = static_cast<rlim_t>(next.get());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &full), 0);
  const absl::StatusOr<FdMessage> message = b_->Receive();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_OK(message);
  EXPECT_EQ(message->kind, 7u);
  EXPECT_EQ(message->tag, 8u);
  EXPECT_TRUE(message->fds_lost);
  EXPECT_THAT(message->fds, IsEmpty());
  ExpectNextMessageArrives();
}

TEST_F(FdSocketTest, DestroyedMessageClosesItsDescriptors) {
  const LeakBaseline before = LeakBaseline::Take();
  const std::vector<int> fds(kMaxFds, raw_);
  ASSERT_OK(a_->Send({}, fds));
  ASSERT_OK(b_->Receive());
  EXPECT_THAT(before.Leaked(), IsEmpty());
}

TEST_F(FdSocketTest, PeerIdentityIsThisProcess) {
  ASSERT_OK_AND_ASSIGN(const PeerIdentity peer, PeerIdentityOf(a_->fd()));
  EXPECT_EQ(peer, (PeerIdentity{::getuid(), ::getgid(), ::getpid()}));
}

TEST(PeerIdentityTest, OtherDescriptorsHaveNone) {
  ASSERT_OK_AND_ASSIGN(const UniqueFd eventfd, UniqueFd::Eventfd());
  EXPECT_FALSE(PeerIdentityOf(eventfd.get()).ok());
  const UniqueFd inet(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_THAT(PeerIdentityOf(inet.get()), StatusIs(absl::StatusCode::kInvalidArgument));
  const UniqueFd unconnected(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_FALSE(PeerIdentityOf(unconnected.get()).ok());
}

}  // namespace
}  // namespace weft::transport
