// The prepared graphs of this executor, by id.
#pragma once

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/byte_range.h"
#include "base/ids.h"

namespace weft::executor {

class PreparedGraph;

// Thread safety: all members may be called from any thread.
// Cost: Find, on the launch path, is an uncontended lock and a look-up: below 0.1 µs.
class GraphStore {
 public:
  // ALREADY_EXISTS (id).
  absl::Status Add(const std::shared_ptr<PreparedGraph>& graph);
  // Null when there is none.
  std::shared_ptr<PreparedGraph> Find(GraphId id) const;
  // Takes a graph out and retires it. NOT_FOUND; FAILED_PRECONDITION while it is in flight.
  absl::StatusOr<std::shared_ptr<PreparedGraph>> Remove(GraphId id);
  // Retires every graph that uses a byte of `range`: a later launch of it is refused instead of
  // faulting on memory that is no longer there. FAILED_PRECONDITION when one of them is in flight.
  absl::Status RetireUsersOf(const ByteRange& range);

 private:
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<GraphId, std::shared_ptr<PreparedGraph>> graphs_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace weft::executor
