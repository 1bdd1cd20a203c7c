#include "server/daemon/listener.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "transport/peer_identity.h"

namespace weft::daemon {
namespace {

// Tokens of the epoll set: session ids start at 1, so these two name no session.
constexpr uint64_t kListening = 0;
constexpr uint64_t kStop = ~uint64_t{0};
constexpr int kEventsAtOnce = 64;

}  // namespace

absl::StatusOr<std::unique_ptr<Listener>> Listener::Start(int socket, SessionRegistry& sessions,
                                                          HandOver hand_over, OnEnd on_end) {
  std::unique_ptr<Listener> listener(
      new Listener(socket, sessions, std::move(hand_over), std::move(on_end)));
  WEFT_RETURN_IF_ERROR(listener->SetUp());
  listener->thread_ = std::thread([l = listener.get()] { l->Run(); });
  return listener;
}

absl::Status Listener::SetUp() {
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_.valid()) return ErrnoError(errno, "epoll_create1", "");
  WEFT_ASSIGN_OR_RETURN(stop_, UniqueFd::Eventfd());
  WEFT_ASSIGN_OR_RETURN(spare_, stop_.Duplicate());
  WEFT_RETURN_IF_ERROR(Watch(socket_, EPOLLIN, kListening));
  return Watch(stop_.get(), EPOLLIN, kStop);
}

absl::Status Listener::Watch(int fd, uint32_t events, uint64_t token) {
  epoll_event event = {};
  event.events = events;
  event.data.u64 = token;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return ErrnoError(errno, "epoll_ctl", absl::StrCat(fd));
  }
  return absl::OkStatus();
}

void Listener::Stop() {
  ::eventfd_write(stop_.get(), 1);
  if (thread_.joinable()) thread_.join();
}

void Listener::Run() {
  epoll_event events[kEventsAtOnce];
  for (;;) {
    const int count = ::epoll_wait(epoll_.get(), events, kEventsAtOnce, -1);
    bool accept = false;
    for (int i = 0; i < count; ++i) {
      const uint64_t token = events[i].data.u64;
      if (token == kStop) return;
      if (token == kListening) {
        accept = true;
      } else {
        End(SessionId(token));
      }
    }
    // After the ends: a number that gRPC has closed may come again with the next connection.
    if (accept) AcceptAll();
  }
}

void Listener::AcceptAll() {
  for (;;) {
    UniqueFd connection(::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (connection.valid()) {
      Admit(std::move(connection));
    } else if (errno == EMFILE || errno == ENFILE) {
      if (!DropOne()) return;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;  // EAGAIN: no more
    }
  }
}

// Without a free descriptor the connection would stay in the queue, and epoll would report it for
// ever.
bool Listener::DropOne() {
  spare_.reset();
  const bool refused = UniqueFd(::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC)).valid();
  if (absl::StatusOr<UniqueFd> spare = stop_.Duplicate(); spare.ok()) spare_ = *std::move(spare);
  if (refused) log::Error("out of file descriptors: a connection was refused");
  return refused;
}

void Listener::Admit(UniqueFd connection) {
  absl::StatusOr<transport::PeerIdentity> peer = transport::PeerIdentityOf(connection.get());
  absl::StatusOr<UniqueFd> duplicate = connection.Duplicate();
  absl::StatusOr<SessionId> session = !peer.ok() ? absl::StatusOr<SessionId>(peer.status())
                                      : !duplicate.ok()
                                          ? absl::StatusOr<SessionId>(duplicate.status())
                                          : sessions_.Open(connection.get(), *peer);
  if (!session.ok()) {
    log::Warning("connection refused", {{"error", std::string(session.status().message())}});
    return;
  }
  // EPOLLHUP is always reported; EPOLLRDHUP is the peer's end alone.
  const absl::Status watched = Watch(duplicate->get(), EPOLLRDHUP, session->value());
  if (!watched.ok()) {
    log::Error("connection refused", {{"error", std::string(watched.message())}});
    sessions_.End(*session);
    return;
  }
  log::Debug("session begins", {{"session", absl::StrCat(session->value())},
                                {"uid", absl::StrCat(peer->uid)},
                                {"pid", absl::StrCat(peer->pid)}});
  duplicates_.emplace(*session, *std::move(duplicate));
  hand_over_(connection.release());
}

void Listener::End(SessionId session) {
  // epoll forgets a descriptor by itself only when the last one of its socket is closed, and gRPC
  // may still have its own.
  const auto it = duplicates_.find(session);
  if (it == duplicates_.end()) return;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, it->second.get(), nullptr);
  duplicates_.erase(it);
  sessions_.End(session);
  log::Debug("session ends", {{"session", absl::StrCat(session.value())}});
  on_end_(session);
}

}  // namespace weft::daemon
