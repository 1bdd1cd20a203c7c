#include "graph/build/segment_table.h"

#include <variant>

#include "base/status_macros.h"

namespace weft::build {

absl::StatusOr<SegmentTable> MakeSegmentTable(const BuildInput& input) {
  const plan::Plan& plan = input.plan;
  SegmentTable table;
  table.entries.resize(plan.segments.size());
  table.behind.resize(plan.segment_after.size());
  for (const uint32_t before : plan.segment_after) ++table.entries[before].behind.count;
  uint32_t begin = 0;
  for (SegmentTable::Entry& entry : table.entries) {
    entry.behind.begin = begin;
    begin += entry.behind.count;
    entry.behind.count = 0;  // counted again below
  }
  for (uint32_t s = 0; s < table.entries.size(); ++s) {
    const plan::Segment& segment = plan.segments[s];
    SegmentTable::Entry& entry = table.entries[s];
    entry.kind = segment.kind;
    entry.before = segment.after.count;
    for (const uint32_t before : plan.AfterOf(segment)) {
      ir::Slice& behind = table.entries[before].behind;
      table.behind[behind.begin + behind.count++] = s;
    }
    if (!entry.is_wait()) continue;
    const ir::Node& node = input.graph.node(plan.NodesOf(segment).front());
    const auto& wait = std::get<ir::SemaphoreWaitOp>(node.op);
    WEFT_ASSIGN_OR_RETURN(entry.address, AddressOf(input, wait.semaphore));
    entry.value = wait.value;
  }
  return table;
}

}  // namespace weft::build
