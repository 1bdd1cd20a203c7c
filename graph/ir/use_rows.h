// Bytes that a use of rows touches, without those between the rows.
//
// Thread safety: one thread. Cost: O(1) for what is not a box.
#pragma once

#include <cstdint>

#include "base/byte_range.h"
#include "graph/ir/graph.h"

namespace weft::ir {

// Looks at rows one by one as long as a job has few of them. The same graph, limit and sequence of
// calls give the same answers everywhere.
class UseRows {
 public:
  // `max_rows`: of all uses that Take is asked for. The graph must outlive it.
  UseRows(const Graph& graph, uint64_t max_rows) : graph_(graph), rows_left_(max_rows) {}

  // True when the use has rows with gaps between them that may be looked at; those then count.
  bool Take(const Use& use) {
    if (use.runs == Use::kAllBytes) return false;
    const Runs& runs = graph_.runs[use.runs];
    const uint64_t rows = RowsOfSlice(runs) * runs.slices;  // no more than bytes in the buffer
    if (rows > rows_left_) return false;
    rows_left_ -= rows;
    return true;
  }

  // visit(range) for every row, until it returns false. REQUIRES: use.runs is not kAllBytes.
  template <typename Visit>
  void ForEach(const Use& use, Visit&& visit) const {
    const Runs& runs = graph_.runs[use.runs];
    const uint64_t rows = RowsOfSlice(runs);
    const uint64_t width = runs.width_bytes * (runs.rows / rows);
    for (uint64_t s = 0; s < runs.slices; ++s) {
      const uint64_t slice = use.range.offset + s * runs.slice_bytes;
      for (uint64_t r = 0; r < rows; ++r) {
        if (!visit(ByteRange{slice + r * runs.pitch_bytes, width})) return;
      }
    }
  }

 private:
  // Ranges without a gap that the rows make of a slice: 1 where they follow each other.
  static uint64_t RowsOfSlice(const Runs& runs) {
    return runs.pitch_bytes == runs.width_bytes ? 1 : runs.rows;
  }

  const Graph& graph_;
  uint64_t rows_left_;
};

// Rows that the order of nodes looks at in a job: bounds its time and memory. Boxes beyond are ordered by all that they reach over.
inline constexpr uint64_t kMaxOrderedRows = uint64_t{1} << 16;

// The bytes by which nodes are ordered, for the uses of a graph in program order.
class OrderedRanges {
 public:
  explicit OrderedRanges(const Graph& graph) : rows_(graph, kMaxOrderedRows) {}

  // visit(range) for disjoint ranges; once for each use, in program order.
  template <typename Visit>
  void ForEach(const Use& use, Visit&& visit) {
    if (!rows_.Take(use)) {
      visit(use.range);
      return;
    }
    rows_.ForEach(use, [&visit](ByteRange row) {
      visit(row);
      return true;
    });
  }

 private:
  UseRows rows_;
};

}  // namespace weft::ir
