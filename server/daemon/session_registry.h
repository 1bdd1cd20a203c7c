// The connections that are open, and who is behind each.
//
// A gRPC call knows its connection as "fd:<number>" (ServerContext::peer), the descriptor that was
// handed to gRPC. Numbers are used again, but never while a call that names one is alive: gRPC
// closes a connection's descriptor only after the last call on it is gone. So at every moment a
// number names at most one connection that calls can come from, the one opened last with it.
//
// Thread safety: all members may be called from any thread.
#pragma once

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "base/ids.h"
#include "server/daemon/caller.h"
#include "transport/peer_identity.h"

namespace weft::daemon {

class SessionRegistry {
 public:
  explicit SessionRegistry(uint32_t max_sessions) : max_sessions_(max_sessions) {}

  // A new connection on descriptor `fd`. RESOURCE_EXHAUSTED when there are max_sessions already.
  absl::StatusOr<SessionId> Open(int fd, const transport::PeerIdentity& peer);
  // Its end. A second call does nothing.
  void End(SessionId session);

  // The caller behind ServerContext::peer(). UNAUTHENTICATED for any other peer; CANCELLED when
  // its connection has ended.
  absl::StatusOr<Caller> Find(absl::string_view peer) const;
  // False once End was called. What is made for a session must be given back by whoever finds it
  // closed after the making.
  bool IsOpen(SessionId session) const;
  size_t size() const;

 private:
  const uint32_t max_sessions_;
  mutable absl::Mutex mutex_;
  SessionId last_ ABSL_GUARDED_BY(mutex_){0};
  absl::flat_hash_map<int, Caller> by_fd_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<SessionId, int> fds_ ABSL_GUARDED_BY(mutex_);  // of the open ones
};

}  // namespace weft::daemon
