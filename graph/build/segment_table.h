// What the host needs to know of a cut plan to run it: its segments, what comes behind each, and the
// words that its waits wait for.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cuda/driver.h"
#include "graph/build/bindings.h"

namespace weft::build {

// Thread safety: a value.
struct SegmentTable {
  struct Entry {
    plan::Segment::Kind kind = plan::Segment::Kind::kNodes;
    uint32_t before = 0;      // how many segments it comes after
    ir::Slice behind;         // in SegmentTable::behind: those that come after it
    CUdeviceptr address = 0;  // of a wait: the 64-bit word,
    uint64_t value = 0;       // which ends it once it is at least this, both unsigned

    bool is_wait() const { return kind == plan::Segment::Kind::kWait; }
  };

  std::vector<Entry> entries;    // by segment (plan::Plan::segments)
  std::vector<uint32_t> behind;  // grouped by segment, ascending

  absl::Span<const uint32_t> BehindOf(const Entry& entry) const {
    return absl::MakeConstSpan(behind).subspan(entry.behind.begin, entry.behind.count);
  }
};

// Linear. Errors: those of AddressOf.
absl::StatusOr<SegmentTable> MakeSegmentTable(const BuildInput& input);

}  // namespace weft::build
