// Streams that wait for a 64-bit word of memory to take a value.
//
// The word may be written by a kernel, by a host thread or by another process, none of which says
// so: it has to be looked at again and again, as a GPU does. Look() does it for all waits; who calls
// it, and when, is the worker pool's part.
//
// Thread safety: all members may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "cuda/host/cuda_api.h"
#include "cuda/host/mutex.h"
#include "cuda/host/region_map.h"

namespace weft::hostcuda {

// The comparison of cuStreamWaitValue64; its flag values.
struct ValueCondition {
  uint64_t address = 0;
  uint64_t value = 0;
  unsigned int flags = 0;

  // True when a word that reads `word` ends the wait.
  bool HoldsFor(uint64_t word) const;
};

class ValueWaits {
 public:
  // Called once: true when the condition holds, false when the word is mapped no more.
  using Callback = std::function<void(bool holds)>;

  explicit ValueWaits(const RegionMap& regions) : regions_(regions) {}

  void Add(const ValueCondition& condition, Callback callback);
  // Forgets all waits, without calling back.
  void Clear();
  // Looks at every word, and calls back for those whose wait is over. True when one was.
  bool Look();
  // Cheap; true while a wait is in the list.
  bool pending() const { return pending_.load(std::memory_order_acquire) > 0; }

 private:
  struct Entry {
    ValueCondition condition;
    Callback callback;
  };

  const RegionMap& regions_;
  Mutex mu_;
  std::vector<Entry> entries_ ABSL_GUARDED_BY(mu_);
  std::atomic<size_t> pending_{0};
};

}  // namespace weft::hostcuda
