// A range of bytes [offset, offset + size), safe against overflow: no member adds offset and size
// unchecked.
#pragma once

#include <cstdint>
#include <limits>

namespace weft {

struct ByteRange {
  uint64_t offset = 0;
  uint64_t size = 0;

  // True when offset + size does not overflow.
  constexpr bool valid() const { return size <= std::numeric_limits<uint64_t>::max() - offset; }
  // True when the whole range lies inside an object of `total` bytes.
  constexpr bool within(uint64_t total) const { return size <= total && offset <= total - size; }
  // One past the last byte. REQUIRES: valid().
  constexpr uint64_t end() const { return offset + size; }
  constexpr bool empty() const { return size == 0; }
  // True when both share at least one byte; an empty range shares none. REQUIRES: both valid().
  constexpr bool overlaps(const ByteRange& other) const {
    return !empty() && !other.empty() && offset < other.end() && other.offset < end();
  }
  // True when every byte of `other` is in this range; an empty range is contained in all. REQUIRES:
  // both valid().
  constexpr bool contains(const ByteRange& other) const {
    return other.empty() || (offset <= other.offset && other.end() <= end());
  }
  friend constexpr bool operator==(const ByteRange&, const ByteRange&) = default;
};

// `value` rounded up to a multiple of `alignment`.
// REQUIRES: alignment is a power of two and value <= 2^64 - alignment.
constexpr uint64_t AlignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

}  // namespace weft
