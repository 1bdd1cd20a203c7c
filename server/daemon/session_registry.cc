#include "server/daemon/session_registry.h"

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "server/daemon/errors.h"

namespace weft::daemon {

absl::StatusOr<SessionId> SessionRegistry::Open(int fd, const transport::PeerIdentity& peer) {
  absl::MutexLock lock(&mutex_);
  if (fds_.size() >= max_sessions_) {
    return TooManySessionsError(max_sessions_);
  }
  const SessionId session(last_.value() + 1);
  last_ = session;
  const auto old = by_fd_.find(fd);
  // The number was used by a connection whose end was not told yet; it has ended all the same.
  if (old != by_fd_.end()) fds_.erase(old->second.session);
  by_fd_[fd] = Caller{.uid = peer.uid, .pid = peer.pid, .session = session};
  fds_[session] = fd;
  return session;
}

void SessionRegistry::End(SessionId session) {
  absl::MutexLock lock(&mutex_);
  const auto it = fds_.find(session);
  if (it == fds_.end()) return;
  by_fd_.erase(it->second);
  fds_.erase(it);
}

absl::StatusOr<Caller> SessionRegistry::Find(absl::string_view peer) const {
  int fd = 0;
  if (!absl::ConsumePrefix(&peer, "fd:") || !absl::SimpleAtoi(peer, &fd)) {
    return UnknownCallerError();
  }
  absl::MutexLock lock(&mutex_);
  const auto it = by_fd_.find(fd);
  if (it == by_fd_.end()) return SessionEndedError();
  return it->second;
}

bool SessionRegistry::IsOpen(SessionId session) const {
  absl::MutexLock lock(&mutex_);
  return fds_.contains(session);
}

size_t SessionRegistry::size() const {
  absl::MutexLock lock(&mutex_);
  return fds_.size();
}

}  // namespace weft::daemon
