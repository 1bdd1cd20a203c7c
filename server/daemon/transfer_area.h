// The memory through which bytes of buffers go to and from an executor: a memfd cut into slots of
// one chunk each. Transfers take a slot, or wait for one.
//
// Thread safety: all members may be called from any thread; callbacks run without a lock held.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/daemon/executor_client.h"
#include "transport/shared_memory.h"

namespace weft::daemon {

class TransferArea {
 public:
  // Slots enough to keep copies and messages overlapped; pages are taken when first touched.
  static constexpr uint32_t kSlots = 16;
  static constexpr uint64_t kBytes = kSlots * kMaxTransferBytes;

  using Acquired = absl::AnyInvocable<void(uint32_t slot) &&>;

  // REQUIRES: `memory` has kBytes.
  explicit TransferArea(transport::SharedMemory memory);

  // Calls `acquired` with a slot, perhaps before this returns. It is given back with Release.
  void Acquire(Acquired acquired);
  void Release(uint32_t slot);

  static uint64_t OffsetOf(uint32_t slot) { return slot * kMaxTransferBytes; }
  std::byte* DataOf(uint32_t slot) const { return memory_.data() + OffsetOf(slot); }

 private:
  const transport::SharedMemory memory_;
  absl::Mutex mutex_;
  std::vector<uint32_t> free_ ABSL_GUARDED_BY(mutex_);
  std::deque<Acquired> waiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace weft::daemon
