// A set of bytes of one buffer, as ranges.
//
// Thread safety: values. Cost: O(log r) for each range, r the ranges in the set.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "base/byte_range.h"

namespace weft::ir {

class ByteSet {
 public:
  void Add(ByteRange range);
  bool empty() const { return ranges_.empty(); }

  // The first part of `range` that is not in the set; empty when all is.
  ByteRange FirstGap(ByteRange range) const;

  // visit(ByteRange) for each part of `range` that is not in the set, in order.
  template <typename Visit>
  void ForEachGap(ByteRange range, Visit&& visit) const {
    for (ByteRange gap = FirstGap(range); !gap.empty();) {
      visit(gap);
      gap = FirstGap({gap.end(), range.end() - gap.end()});
    }
  }
  // visit(ByteRange) for each range of the set, in order: none of them touch.
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    for (const auto& [begin, end] : ranges_) visit(ByteRange{begin, end - begin});
  }

  // The bytes that are in both.
  ByteSet Common(const ByteSet& other) const;

 private:
  std::map<uint64_t, uint64_t> ranges_;  // begin → end; disjoint, and none touch
};

}  // namespace weft::ir
