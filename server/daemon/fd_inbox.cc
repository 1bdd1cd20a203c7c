#include "server/daemon/fd_inbox.h"

namespace weft::daemon {

void FdInbox::Put(transport::ExecutorMessage kind, uint64_t tag, absl::StatusOr<UniqueFd> fd) {
  Taken taken;
  {
    absl::MutexLock lock(&mutex_);
    const auto it = waiting_.find(Key(kind, tag));
    if (it == waiting_.end()) {
      if (closed_.ok()) arrived_.insert_or_assign(Key(kind, tag), std::move(fd));
      return;
    }
    taken = std::move(it->second);
    waiting_.erase(it);
  }
  std::move(taken)(std::move(fd));
}

void FdInbox::Take(transport::ExecutorMessage kind, uint64_t tag, Taken taken) {
  absl::StatusOr<UniqueFd> result;
  {
    absl::MutexLock lock(&mutex_);
    const auto it = arrived_.find(Key(kind, tag));
    if (it != arrived_.end()) {
      result = std::move(it->second);
      arrived_.erase(it);
    } else if (!closed_.ok()) {
      result = closed_;
    } else {
      waiting_[Key(kind, tag)] = std::move(taken);
      return;
    }
  }
  std::move(taken)(std::move(result));
}

void FdInbox::Close(const absl::Status& why) {
  absl::flat_hash_map<Key, absl::StatusOr<UniqueFd>> arrived;
  absl::flat_hash_map<Key, Taken> waiting;
  {
    absl::MutexLock lock(&mutex_);
    closed_ = why;
    arrived.swap(arrived_);
    waiting.swap(waiting_);
  }
  for (auto& [key, taken] : waiting) std::move(taken)(why);
}

}  // namespace weft::daemon
