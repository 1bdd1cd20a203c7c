// How far a launch of a cut plan has come: which of its segments may start, which waits may begin.
//
//   nodes:  ──Take, when all before are taken or over──▶ on the device ──Ended──▶ ended
//   waits:  ──TakeWait, when all before have ended─────▶ pending ───────Reached──▶ over
//
// Pure: it calls nobody. Thread safety: none; of the launch loop's thread. Cost: linear in segments
// and what comes behind them, over the whole launch.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "graph/build/segment_table.h"

namespace weft::executor {

class SegmentProgress {
 public:
  // `table` outlives it.
  explicit SegmentProgress(const build::SegmentTable& table);

  // A segment of nodes that may start: the caller puts it into the launch's stream.
  std::optional<uint32_t> Take();
  // What was taken so far has ended on the device.
  void Ended();
  // A wait that may begin: the caller looks at its word.
  std::optional<uint32_t> TakeWait();
  // The value of a wait that was taken is there.
  void Reached(uint32_t wait);

  // A wait was taken that is not over.
  bool IsWaiting() const { return pending_ > 0; }
  // All segments are taken and all waits over; what was taken may still run.
  bool IsAllTaken() const { return left_ == 0; }

 private:
  void Count(uint32_t segment);

  const build::SegmentTable& table_;
  std::vector<uint32_t> missing_;  // by segment: of those before it, how many it still misses
  std::deque<uint32_t> nodes_;     // that may start
  std::deque<uint32_t> waits_;     // that may begin
  std::vector<uint32_t> running_;  // taken since the last Ended
  size_t pending_ = 0;             // waits taken, not over
  size_t left_ = 0;                // segments not taken, waits not over
};

}  // namespace weft::executor
