#include "cuda/host/value_waits.h"

#include <optional>
#include <utility>

namespace weft::hostcuda {

bool ValueCondition::HoldsFor(uint64_t word) const {
  switch (flags) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      return static_cast<int64_t>(word - value) >= 0;  // cyclic, as the API says
    case CU_STREAM_WAIT_VALUE_EQ:
      return word == value;
    case CU_STREAM_WAIT_VALUE_AND:
      return (word & value) != 0;
    default:  // CU_STREAM_WAIT_VALUE_NOR; the entry point lets no other flag through
      return ~(word | value) != 0;
  }
}

void ValueWaits::Add(const ValueCondition& condition, Callback callback) {
  MutexLock lock(mu_);
  entries_.push_back(Entry{condition, std::move(callback)});
  pending_.store(entries_.size(), std::memory_order_release);
}

void ValueWaits::Clear() {
  std::vector<Entry> dropped;  // dies after the lock is released
  MutexLock lock(mu_);
  dropped.swap(entries_);
  pending_.store(0, std::memory_order_release);
}

bool ValueWaits::Look() {
  std::vector<std::pair<Callback, bool>> over;
  {
    MutexLock lock(mu_);
    size_t kept = 0;
    for (size_t i = 0; i < entries_.size(); ++i) {
      const std::optional<uint64_t> word = regions_.Load64(entries_[i].condition.address);
      if (word.has_value() && !entries_[i].condition.HoldsFor(*word)) {
        if (kept != i) entries_[kept] = std::move(entries_[i]);
        ++kept;
      } else {
        over.emplace_back(std::move(entries_[i].callback), word.has_value());
      }
    }
    entries_.resize(kept);
    pending_.store(kept, std::memory_order_release);
  }
  for (const auto& [callback, holds] : over) callback(holds);
  return !over.empty();
}

}  // namespace weft::hostcuda
