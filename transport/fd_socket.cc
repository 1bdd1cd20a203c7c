#include "transport/fd_socket.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "base/status_macros.h"

namespace weft::transport {
namespace {

constexpr uint32_t kWireMagic = 0x31444657;  // "WFD1" in memory order

// In front of every body. Both ends are on one machine: native byte order.
struct WireHeader {
  uint32_t magic;
  uint32_t kind;
  uint64_t tag;
  uint32_t body_bytes;
  uint32_t fd_count;
};
static_assert(sizeof(WireHeader) == 24);

// Ancillary data for kMaxFds descriptors and one more header, aligned as CMSG_* wants it.
union ControlBuffer {
  cmsghdr align;
  char bytes[CMSG_SPACE(kMaxFds * sizeof(int))];
};

void PutFds(absl::Span<const int> fds, ControlBuffer& control, msghdr& message) {
  if (fds.empty()) return;
  message.msg_control = control.bytes;
  message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
  std::memcpy(CMSG_DATA(header), fds.data(), fds.size() * sizeof(int));
}

// Takes ownership of every descriptor in the ancillary data, wanted or not.
std::vector<UniqueFd> TakeFds(msghdr& message) {
  std::vector<UniqueFd> fds;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      fds.emplace_back(fd);
    }
  }
  return fds;
}

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("malformed message on an fd socket: ", what, "; it was dropped"));
}

absl::Status PeerGone() {
  return absl::UnavailableError("the other end of the fd socket is closed");
}

absl::Status CheckPacket(const msghdr& message, size_t received, const WireHeader& header,
                         size_t fd_count) {
  if ((message.msg_flags & MSG_TRUNC) != 0) return Malformed("longer than a body may be");
  if (received < sizeof header) return Malformed("shorter than its header");
  if (header.magic != kWireMagic) return Malformed("wrong magic");
  if (header.body_bytes != received - sizeof header) return Malformed("wrong body size");
  if (header.fd_count > kMaxFds) return Malformed("more descriptors than allowed");
  // Linux sets MSG_CTRUNC also where the receiver's table of descriptors is full.
  const bool cut = (message.msg_flags & MSG_CTRUNC) != 0;
  if (cut ? header.fd_count <= fd_count : header.fd_count != fd_count) {
    return Malformed("wrong number of descriptors");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status FdSocket::Send(const FdMessage& message, absl::Span<const int> fds) const {
  if (message.body.size() > kMaxBodyBytes || fds.size() > kMaxFds) {
    return absl::InvalidArgumentError(
        absl::StrCat("message of ", message.body.size(), " bytes and ", fds.size(),
                     " descriptors for an fd socket; at most ", kMaxBodyBytes, " and ", kMaxFds));
  }
  WireHeader header{kWireMagic, message.kind, message.tag,
                    static_cast<uint32_t>(message.body.size()), static_cast<uint32_t>(fds.size())};
  std::array<iovec, 2> parts{
      {{&header, sizeof header}, {const_cast<char*>(message.body.data()), message.body.size()}}};
  msghdr packet{};
  packet.msg_iov = parts.data();
  packet.msg_iovlen = parts.size();
  ControlBuffer control{};
  PutFds(fds, control, packet);
  for (;;) {
    if (::sendmsg(socket_.get(), &packet, MSG_NOSIGNAL) >= 0) return absl::OkStatus();
    if (errno == EINTR) continue;
    if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN) return PeerGone();
    return ErrnoError(errno, "sendmsg", "fd socket");
  }
}

absl::StatusOr<FdMessage> FdSocket::Receive() const {
  WireHeader header{};
  FdMessage result;
  result.body.resize(kMaxBodyBytes);
  std::array<iovec, 2> parts{{{&header, sizeof header}, {result.body.data(), result.body.size()}}};
  ControlBuffer control{};
  msghdr packet{};
  packet.msg_iov = parts.data();
  packet.msg_iovlen = parts.size();
  packet.msg_control = control.bytes;
  packet.msg_controllen = sizeof control.bytes;
  ssize_t received = -1;
  do {
    received = ::recvmsg(socket_.get(), &packet, MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  if (received < 0) {
    if (errno == ECONNRESET) return PeerGone();
    return ErrnoError(errno, "recvmsg", "fd socket");
  }
  result.fds = TakeFds(packet);
  // A packet of no bytes looks like the end of the connection; no honest peer sends one.
  if (received == 0) return PeerGone();
  WEFT_RETURN_IF_ERROR(
      CheckPacket(packet, static_cast<size_t>(received), header, result.fds.size()));
  result.kind = header.kind;
  result.tag = header.tag;
  result.fds_lost = result.fds.size() < header.fd_count;
  result.body.resize(header.body_bytes);
  result.body.shrink_to_fit();
  return result;
}

void FdSocket::Shutdown() const { ::shutdown(socket_.get(), SHUT_RDWR); }

}  // namespace weft::transport
