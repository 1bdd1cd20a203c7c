// File descriptors over a connected SOCK_SEQPACKET Unix socket (SCM_RIGHTS), each message with a
// small header.
//
//   auto pair = UniqueFd::SocketPair(SOCK_SEQPACKET);
//   FdSocket a(std::move(pair->first)), b(std::move(pair->second));
//   a.Send({.kind = 7, .tag = 42, .body = "text"}, {memfd.get()});
//   FdMessage message = *b.Receive();   // owns its fds from the moment that the kernel made them
//
// On the wire a message is one packet: struct WireHeader (fd_socket.cc), then the body; descriptors
// ride beside it. The peer is not trusted: a packet that is too short, too long, of another magic,
// or that carries more or fewer descriptors than its header says is an error, and every descriptor
// that came with it is closed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/unique_fd.h"

namespace weft::transport {

// One packet must hold header and body; Linux's default socket buffer (208 KiB) holds three such
// packets.
inline constexpr size_t kMaxBodyBytes = size_t{64} << 10;
// Far below the kernel's SCM_MAX_FD (253); the largest message of Weft carries two.
inline constexpr size_t kMaxFds = 8;

struct FdMessage {
  uint32_t kind = 0;  // what the message means; numbers belong to the two programs that speak
  uint64_t tag = 0;   // which object it is about
  std::string body;   // at most kMaxBodyBytes
  std::vector<UniqueFd> fds;  // received ones only; Send takes borrowed descriptors apart
  // The sender gave more descriptors than `fds` has: this process is at its limit of open ones.
  bool fds_lost = false;
};

// One end of the connection. Owns the socket.
// Thread safety: Send and Shutdown may be called from any thread (a packet is sent whole), Receive
// from one thread at a time.
class FdSocket {
 public:
  // REQUIRES: `socket` is a connected SOCK_SEQPACKET Unix socket.
  explicit FdSocket(UniqueFd socket) : socket_(std::move(socket)) {}

  // Sends kind, tag and body of `message` (its fds are ignored) with copies of `fds`, which stay
  // the caller's. Blocks while the peer's queue is full. INVALID_ARGUMENT: body or fds over the
  // limit. UNAVAILABLE: the peer is gone.
  absl::Status Send(const FdMessage& message, absl::Span<const int> fds = {}) const;

  // The next message; blocks. UNAVAILABLE: the peer has closed (or Shutdown was called); no message
  // will come. INVALID_ARGUMENT: a malformed packet; it was dropped with all its descriptors, and
  // the socket is still usable. Where this process cannot hold another descriptor the message comes
  // with those that it could, and fds_lost.
  absl::StatusOr<FdMessage> Receive() const;

  // Ends both directions: a blocked Receive of either end answers UNAVAILABLE. The descriptor stays
  // open.
  void Shutdown() const;

  int fd() const { return socket_.get(); }

 private:
  UniqueFd socket_;
};

}  // namespace weft::transport
