// Descriptors that an executor has sent, until whoever asked for them takes them. A descriptor and
// the reply that announces it come by different ways and in either order.
//
// Thread safety: all members may be called from any thread; callbacks run without a lock held.
#pragma once

#include <cstdint>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/unique_fd.h"
#include "transport/executor_messages.h"

namespace weft::daemon {

class FdInbox {
 public:
  using Taken = absl::AnyInvocable<void(absl::StatusOr<UniqueFd>) &&>;

  // A descriptor, or why it could not be taken over.
  void Put(transport::ExecutorMessage kind, uint64_t tag, absl::StatusOr<UniqueFd> fd);
  // Calls `taken` when the descriptor is there (perhaps before this returns), or with the status of
  // Close. REQUIRES: asked once for each kind and tag.
  void Take(transport::ExecutorMessage kind, uint64_t tag, Taken taken);
  // Nothing more will come: `why` answers those who wait, and later ones.
  void Close(const absl::Status& why);

 private:
  using Key = std::pair<transport::ExecutorMessage, uint64_t>;

  absl::Mutex mutex_;
  absl::flat_hash_map<Key, absl::StatusOr<UniqueFd>> arrived_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Key, Taken> waiting_ ABSL_GUARDED_BY(mutex_);
  absl::Status closed_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace weft::daemon
