// Order between jobs, and between jobs and transfers of buffers: what touches common bytes of a
// buffer runs in the order of acceptance, unless both only read.
//
// A unit is a job or a transfer: Add gives it its place, Open lets it start, End ends it. It is
// ready when it is open and every earlier unit that it conflicts with has ended. A unit may end
// while it still waits (a cancelled job); it then keeps its place for those behind it until what it
// waits for has ended too, because they wait for it alone. (B overwrites what A writes, C reads it:
// C waits for B only. B cancelled must not free C before A.)
//
// Thread safety: all members may be called from any thread. Callbacks run without a lock held.
// Cost: O(log s + conflicts) for each range, s the ranges known of a buffer.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "base/byte_range.h"
#include "base/ids.h"
#include "graph/plan/access_history.h"
#include "kernels/schema.h"

namespace weft::daemon {

// Bytes of a buffer that a unit reads or writes.
struct BufferUse {
  BufferId buffer;
  ByteRange range;
  kernels::Access access = kernels::Access::kRead;
  friend bool operator==(const BufferUse&, const BufferUse&) = default;
};

class JobOrder {
 public:
  using UnitId = StrongId<struct UnitTag, uint64_t>;
  using Ready = absl::AnyInvocable<void() &&>;

  // A unit behind all earlier ones. REQUIRES: uses of one buffer stand together. `on_ready` is called once when it may start, unless it ends
  // before.
  UnitId Add(absl::Span<const BufferUse> uses, Ready on_ready);
  // Lets the unit start: calls its on_ready before returning when there is nothing to wait for.
  void Open(UnitId id);
  // The unit is over, whether it ran or not. Calls on_ready of those that waited for it alone.
  void End(UnitId id);

  size_t unit_count() const;  // added and not over, those that only keep a place included

 private:
  struct Unit {
    std::vector<BufferId> buffers;  // without duplicates
    std::vector<UnitId> followers;  // without duplicates
    Ready on_ready;
    uint32_t waits_for = 0;  // earlier units
    bool open = false;
    bool ended = false;
  };
  struct Buffer {
    plan::AccessHistory<UnitId> history;
    uint32_t units = 0;
    size_t sweep_at = kFirstSweep;  // size of the history at which ended units are dropped
  };
  // Small enough that a history stays in a few cache lines, large enough that sweeps are rare.
  static constexpr size_t kFirstSweep = 64;

  void Record(UnitId id, const BufferUse& use, Unit& unit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void LeaveBuffers(const Unit& unit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  absl::flat_hash_map<UnitId, Unit> units_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<BufferId, Buffer> buffers_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_id_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace weft::daemon
