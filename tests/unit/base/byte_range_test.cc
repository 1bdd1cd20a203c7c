#include "base/byte_range.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace weft {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

TEST(ByteRangeTest, WithinAcceptsTheWholeObjectAndItsEmptyEnd) {
  EXPECT_TRUE((ByteRange{0, 16}).within(16));
  EXPECT_TRUE((ByteRange{16, 0}).within(16));
}

TEST(ByteRangeTest, WithinRefusesOneByteTooMany) {
  EXPECT_FALSE((ByteRange{1, 16}).within(16));
  EXPECT_FALSE((ByteRange{17, 0}).within(16));
}

TEST(ByteRangeTest, WithinRefusesSumsThatOverflow) {
  EXPECT_FALSE((ByteRange{kMax, 2}).within(16));
  EXPECT_FALSE((ByteRange{2, kMax}).within(kMax));
  EXPECT_FALSE((ByteRange{kMax, kMax}).within(kMax));
}

TEST(ByteRangeTest, ValidTellsAnOverflowingEnd) {
  EXPECT_TRUE((ByteRange{kMax, 0}).valid());
  EXPECT_TRUE((ByteRange{kMax - 1, 1}).valid());
  EXPECT_FALSE((ByteRange{kMax, 1}).valid());
}

TEST(ByteRangeTest, NeighboursDoNotOverlap) {
  EXPECT_FALSE((ByteRange{0, 8}).overlaps({8, 8}));
  EXPECT_FALSE((ByteRange{8, 8}).overlaps({0, 8}));
  EXPECT_TRUE((ByteRange{0, 9}).overlaps({8, 8}));
}

TEST(ByteRangeTest, EmptyRangesOverlapNothing) {
  EXPECT_FALSE((ByteRange{4, 0}).overlaps({0, 8}));
  EXPECT_FALSE((ByteRange{0, 8}).overlaps({4, 0}));
}

TEST(ByteRangeTest, ContainsItselfPartsAndEmptyRanges) {
  constexpr ByteRange range{4, 8};
  EXPECT_TRUE(range.contains(range));
  EXPECT_TRUE(range.contains({5, 1}));
  EXPECT_TRUE(range.contains({100, 0}));
  EXPECT_FALSE(range.contains({3, 2}));
  EXPECT_FALSE(range.contains({11, 2}));
}

TEST(AlignUpTest, RoundsToTheNextMultiple) {
  EXPECT_EQ(AlignUp(0, 256), 0u);
  EXPECT_EQ(AlignUp(1, 256), 256u);
  EXPECT_EQ(AlignUp(256, 256), 256u);
  EXPECT_EQ(AlignUp(257, 256), 512u);
}

}  // namespace
}  // namespace weft
