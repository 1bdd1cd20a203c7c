#include "graph/ir/byte_set.h"

#include <algorithm>
#include <iterator>

namespace weft::ir {

void ByteSet::Add(ByteRange range) {
  if (range.empty()) return;
  uint64_t begin = range.offset;
  uint64_t end = range.end();
  auto it = ranges_.upper_bound(begin);
  if (it != ranges_.begin() && std::prev(it)->second >= begin) --it;
  while (it != ranges_.end() && it->first <= end) {
    begin = std::min(begin, it->first);
    end = std::max(end, it->second);
    it = ranges_.erase(it);
  }
  ranges_.emplace_hint(it, begin, end);
}

ByteRange ByteSet::FirstGap(ByteRange range) const {
  uint64_t begin = range.offset;
  auto it = ranges_.upper_bound(begin);
  if (it != ranges_.begin() && std::prev(it)->second > begin) begin = std::prev(it)->second;
  if (begin >= range.end()) return {};
  const uint64_t end = it == ranges_.end() ? range.end() : std::min(it->first, range.end());
  return {begin, end - begin};
}

ByteSet ByteSet::Common(const ByteSet& other) const {
  ByteSet common;
  auto a = ranges_.begin();
  auto b = other.ranges_.begin();
  while (a != ranges_.end() && b != other.ranges_.end()) {
    const uint64_t begin = std::max(a->first, b->first);
    const uint64_t end = std::min(a->second, b->second);
    if (begin < end) common.ranges_.emplace_hint(common.ranges_.end(), begin, end);
    (a->second < b->second ? a : b)++;
  }
  return common;
}

}  // namespace weft::ir
