#include "server/daemon/job_order.h"

#include <algorithm>
#include <utility>

namespace weft::daemon {

JobOrder::UnitId JobOrder::Add(absl::Span<const BufferUse> uses, Ready on_ready) {
  absl::MutexLock lock(&mutex_);
  const UnitId id(++last_id_);
  Unit unit;
  unit.on_ready = std::move(on_ready);
  for (const BufferUse& use : uses) {
    if (unit.buffers.empty() || unit.buffers.back() != use.buffer) {
      unit.buffers.push_back(use.buffer);
      ++buffers_[use.buffer].units;
    }
    Record(id, use, unit);
  }
  units_.emplace(id, std::move(unit));
  return id;
}

void JobOrder::Open(UnitId id) {
  Ready ready;
  {
    absl::MutexLock lock(&mutex_);
    const auto it = units_.find(id);
    if (it == units_.end() || it->second.ended) return;
    it->second.open = true;
    if (it->second.waits_for > 0) return;
    ready = std::move(it->second.on_ready);
  }
  std::move(ready)();
}

void JobOrder::Record(UnitId id, const BufferUse& use, Unit& unit) {
  Buffer& buffer = buffers_[use.buffer];
  // Both callbacks run here and now, under the lock; the analysis does not see that.
  const auto wait_for = [&](UnitId earlier, plan::Hazard) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const auto it = units_.find(earlier);
    if (it == units_.end()) return;  // over
    std::vector<UnitId>& followers = it->second.followers;
    // Units are added one at a time, so a repeated report of one pair finds itself at the end.
    if (!followers.empty() && followers.back() == id) return;
    followers.push_back(id);
    ++unit.waits_for;
  };
  const auto is_over = [&](UnitId other) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return other != id && !units_.contains(other);
  };
  buffer.history.Record(use.range, use.access, id, wait_for);
  if (buffer.history.size() < buffer.sweep_at) return;
  buffer.history.RemoveIf(is_over);
  buffer.sweep_at = std::max(kFirstSweep, 2 * buffer.history.size());
}

void JobOrder::End(UnitId id) {
  std::vector<Ready> ready;
  {
    absl::MutexLock lock(&mutex_);
    std::vector<UnitId> ending = {id};
    while (!ending.empty()) {
      const auto it = units_.find(ending.back());
      ending.pop_back();
      if (it == units_.end()) continue;
      it->second.ended = true;
      it->second.on_ready = nullptr;
      if (it->second.waits_for > 0) continue;  // keeps its place
      const Unit unit = std::move(it->second);
      units_.erase(it);
      LeaveBuffers(unit);
      for (UnitId follower : unit.followers) {
        Unit& next = units_.find(follower)->second;
        if (--next.waits_for > 0) continue;
        if (next.ended) {
          ending.push_back(follower);
        } else if (next.open) {
          ready.push_back(std::move(next.on_ready));
        }
      }
    }
  }
  for (Ready& callback : ready) std::move(callback)();
}

void JobOrder::LeaveBuffers(const Unit& unit) {
  for (BufferId id : unit.buffers) {
    const auto it = buffers_.find(id);
    if (--it->second.units == 0) buffers_.erase(it);
  }
}

size_t JobOrder::unit_count() const {
  absl::MutexLock lock(&mutex_);
  return units_.size();
}

}  // namespace weft::daemon
