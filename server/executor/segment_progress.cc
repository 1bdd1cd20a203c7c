#include "server/executor/segment_progress.h"

namespace weft::executor {
namespace {

std::optional<uint32_t> TakeFirst(std::deque<uint32_t>& queue) {
  if (queue.empty()) return std::nullopt;
  const uint32_t first = queue.front();
  queue.pop_front();
  return first;
}

}  // namespace

SegmentProgress::SegmentProgress(const build::SegmentTable& table)
    : table_(table), left_(table.entries.size()) {
  missing_.reserve(table.entries.size());
  for (uint32_t s = 0; s < table.entries.size(); ++s) {
    missing_.push_back(table.entries[s].before);
    if (missing_[s] == 0) (table.entries[s].is_wait() ? waits_ : nodes_).push_back(s);
  }
}

// One of the segments before `segment` is missed no more.
void SegmentProgress::Count(uint32_t segment) {
  if (--missing_[segment] > 0) return;
  (table_.entries[segment].is_wait() ? waits_ : nodes_).push_back(segment);
}

std::optional<uint32_t> SegmentProgress::Take() {
  const std::optional<uint32_t> taken = TakeFirst(nodes_);
  if (!taken.has_value()) return taken;
  --left_;
  running_.push_back(*taken);
  // The stream keeps those behind it in order; a wait has to see it end.
  for (const uint32_t behind : table_.BehindOf(table_.entries[*taken])) {
    if (!table_.entries[behind].is_wait()) Count(behind);
  }
  return taken;
}

void SegmentProgress::Ended() {
  for (const uint32_t segment : running_) {
    for (const uint32_t behind : table_.BehindOf(table_.entries[segment])) {
      if (table_.entries[behind].is_wait()) Count(behind);
    }
  }
  running_.clear();
}

std::optional<uint32_t> SegmentProgress::TakeWait() {
  const std::optional<uint32_t> taken = TakeFirst(waits_);
  if (taken.has_value()) ++pending_;
  return taken;
}

void SegmentProgress::Reached(uint32_t wait) {
  --left_;
  --pending_;
  for (const uint32_t behind : table_.BehindOf(table_.entries[wait])) Count(behind);
}

}  // namespace weft::executor
