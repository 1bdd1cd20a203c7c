// Accepts connections on the Unix socket, finds out who is there, and hands them to gRPC.
//
// gRPC owns a connection's descriptor from then on. This keeps a duplicate, which refers to the
// same socket whatever number gRPC's descriptor had and whoever gets that number next; when either
// side shuts the socket down (gRPC does, before it closes), the duplicate says so, and the session
// ends.
//
// Thread safety: Stop from any thread; the rest is the listener's own thread's.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "base/unique_fd.h"
#include "server/daemon/session_registry.h"

namespace weft::daemon {

class Listener {
 public:
  // Gives a connected, non-blocking socket to the server, which closes it.
  using HandOver = std::function<void(int fd)>;
  using OnEnd = std::function<void(SessionId)>;

  // Listens on `socket` (borrowed; it must outlive this) on a thread of its own. `on_end` is called
  // on it after a session has ended in the registry.
  static absl::StatusOr<std::unique_ptr<Listener>> Start(int socket, SessionRegistry& sessions,
                                                         HandOver hand_over, OnEnd on_end);
  ~Listener() { Stop(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Accepts nothing any more, and sees no end of a session; a second call does nothing.
  void Stop();

 private:
  Listener(int socket, SessionRegistry& sessions, HandOver hand_over, OnEnd on_end)
      : socket_(socket),
        sessions_(sessions),
        hand_over_(std::move(hand_over)),
        on_end_(std::move(on_end)) {}

  absl::Status SetUp();
  absl::Status Watch(int fd, uint32_t events, uint64_t token);
  void Run();
  void AcceptAll();
  void Admit(UniqueFd connection);
  void End(SessionId session);
  bool DropOne();  // false: there was none

  const int socket_;
  SessionRegistry& sessions_;
  const HandOver hand_over_;
  const OnEnd on_end_;
  UniqueFd epoll_;
  UniqueFd stop_;   // eventfd
  UniqueFd spare_;  // given up to refuse a connection when descriptors run out
  absl::flat_hash_map<SessionId, UniqueFd> duplicates_;
  std::thread thread_;
};

}  // namespace weft::daemon
