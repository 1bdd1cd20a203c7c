// Handles that can be checked: what the library hands out as CUstream, CUevent, … is not a pointer
// but a number that names a slot, the slot's generation and the kind of object. A stale, foreign or
// made-up handle is found to be one, and never followed.
//
// Layout of a handle, high to low: kind (8 bits) | generation (24) | slot + 1 (32). The kind is
// never 0, so that no handle equals the special stream handles 0, 1 and 2. A stale handle could be
// taken for a live one only after its slot was reused 2^24 times.
//
// Thread safety: all members may be called from any thread. Objects are shared, because a worker
// may still use one whose handle another thread destroys.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cuda/host/mutex.h"

namespace weft::hostcuda {

// Values are arbitrary but distinct; they stand in the handles.
enum class HandleKind : uint8_t {
  kContext = 0x51,
  kStream,
  kEvent,
  kModule,
  kFunction,
  kAllocation,
  kGraph,
  kGraphNode,
  kGraphExec,
  kCondition,
};

template <typename T>
class HandleTable {
 public:
  // Generations start behind `epoch`, so that tables made one after the other in a process do not
  // accept each other's handles.
  HandleTable(HandleKind kind, uint32_t epoch) : kind_(kind), first_generation_(epoch) {}

  // REQUIRES: object is not null.
  uint64_t Insert(std::shared_ptr<T> object) {
    MutexLock lock(mu_);
    uint32_t index;
    if (free_.empty()) {
      index = static_cast<uint32_t>(slots_.size());
      slots_.push_back(Slot{first_generation_ & kGenerationMask, nullptr});
    } else {
      index = free_.back();
      free_.pop_back();
    }
    slots_[index].object = std::move(object);
    return Encode(index, slots_[index].generation);
  }

  // The object, or null when the handle names none.
  std::shared_ptr<T> Find(uint64_t handle) const {
    MutexLock lock(mu_);
    const Slot* slot = Resolve(handle);
    return slot == nullptr ? nullptr : slot->object;
  }

  // Ends the handle; its object, or null when it names none.
  std::shared_ptr<T> Remove(uint64_t handle) {
    MutexLock lock(mu_);
    if (Resolve(handle) == nullptr) return nullptr;
    return Vacate(IndexOf(handle));
  }

  // Ends the handles of all objects for which `predicate` holds, and returns them, so that they die
  // in the caller's hands and not under the lock.
  template <typename Predicate>
  std::vector<std::shared_ptr<T>> RemoveIf(Predicate predicate) {
    std::vector<std::shared_ptr<T>> removed;
    MutexLock lock(mu_);
    for (uint32_t index = 0; index < slots_.size(); ++index) {
      if (slots_[index].object != nullptr && predicate(*slots_[index].object)) {
        removed.push_back(Vacate(index));
      }
    }
    return removed;
  }

 private:
  struct Slot {
    uint32_t generation;
    std::shared_ptr<T> object;
  };
  static constexpr uint32_t kGenerationMask = (1u << 24) - 1;

  static uint32_t IndexOf(uint64_t handle) { return static_cast<uint32_t>(handle) - 1; }
  uint64_t Encode(uint32_t index, uint32_t generation) const {
    return uint64_t{static_cast<uint8_t>(kind_)} << 56 | uint64_t{generation} << 32 |
           (uint64_t{index} + 1);
  }
  const Slot* Resolve(uint64_t handle) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const uint32_t index = IndexOf(handle);  // slot number 0 wraps to 2^32 - 1, which is never used
    if (index >= slots_.size()) return nullptr;
    const Slot& slot = slots_[index];
    return slot.object != nullptr && Encode(index, slot.generation) == handle ? &slot : nullptr;
  }
  std::shared_ptr<T> Vacate(uint32_t index) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    Slot& slot = slots_[index];
    slot.generation = (slot.generation + 1) & kGenerationMask;
    free_.push_back(index);
    return std::exchange(slot.object, nullptr);
  }

  const HandleKind kind_;
  const uint32_t first_generation_;
  mutable Mutex mu_;
  std::vector<Slot> slots_ ABSL_GUARDED_BY(mu_);
  std::vector<uint32_t> free_ ABSL_GUARDED_BY(mu_);
};

}  // namespace weft::hostcuda
