#include "graph/ir/runs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace weft::ir {
namespace {

constexpr uint64_t kHuge = uint64_t{1} << 40;

TEST(RunsTest, ExtentReachesFromTheFirstByteToTheLast) {
  EXPECT_EQ(ExtentOf({16, 1, 16}), 16);
  EXPECT_EQ(ExtentOf({16, 3, 64}), 2 * 64 + 16);
  EXPECT_EQ(ExtentOf({16, 3, 64, 2, 1000}), 1000 + 2 * 64 + 16);
}

TEST(RunsTest, ExtentThatOverflowsIsNone) {
  EXPECT_EQ(ExtentOf({1, kHuge, kHuge}), std::nullopt);
  EXPECT_EQ(ExtentOf({1, 1, 1, kHuge, kHuge}), std::nullopt);
  EXPECT_EQ(ExtentOf({UINT64_MAX, 2, 1}), std::nullopt);
  EXPECT_EQ(ExtentOf({UINT64_MAX - 1, 2, 1}), UINT64_MAX);
}

TEST(RunsTest, SliceThatOverflowsIsNone) {
  CopyBox box = {.width_bytes = 1, .rows = 1, .slices = 2};
  box.src_pitch_bytes = kHuge;
  box.src_slice_rows = kHuge;
  box.dst_pitch_bytes = 1;
  EXPECT_EQ(SourceRuns(box), std::nullopt);
  EXPECT_NE(DestinationRuns(box), std::nullopt);
}

TEST(RunsTest, BoxWithoutGapsIsOneRun) {
  const CopyBox touching = {.width_bytes = 8,
                            .rows = 3,
                            .slices = 2,
                            .src_pitch_bytes = 8,
                            .dst_pitch_bytes = 8,
                            .src_slice_rows = 3,
                            .dst_slice_rows = 3};
  EXPECT_TRUE(IsOneRun(touching));
  CopyBox apart = touching;
  apart.dst_pitch_bytes = 9;
  EXPECT_FALSE(IsOneRun(apart));
  apart = touching;
  apart.src_slice_rows = 4;
  EXPECT_FALSE(IsOneRun(apart));
}

TEST(RunsTest, OneRowInEachOfSeveralSlicesKeepsItsPitch) {
  EXPECT_FALSE(IsOneRun(
      {.width_bytes = 8, .rows = 1, .slices = 2, .src_pitch_bytes = 16, .dst_pitch_bytes = 8}));
}

// Against a loop over bytes.
TEST(RunsTest, MeetingIsExact) {
  std::mt19937 random(1);
  const auto pick = [&random](uint64_t low, uint64_t high) {
    return std::uniform_int_distribution<uint64_t>(low, high)(random);
  };
  for (int i = 0; i < 3000; ++i) {
    Runs runs;
    runs.width_bytes = pick(1, 5);
    runs.pitch_bytes = runs.width_bytes + pick(0, 6);
    runs.rows = pick(1, 4);
    runs.slices = pick(1, 4);
    runs.slice_bytes = runs.rows * runs.pitch_bytes + pick(0, 9);
    const uint64_t extent = *ExtentOf(runs);
    std::vector<bool> used(extent, false);
    for (uint64_t s = 0; s < runs.slices; ++s) {
      for (uint64_t r = 0; r < runs.rows; ++r) {
        for (uint64_t x = 0; x < runs.width_bytes; ++x) {
          used[s * runs.slice_bytes + r * runs.pitch_bytes + x] = true;
        }
      }
    }
    const uint64_t distance = pick(0, extent + 3);
    bool meets = false;
    for (uint64_t byte = distance; byte < extent; ++byte) {
      meets = meets || (used[byte] && used[byte - distance]);
    }
    ASSERT_EQ(MeetsItself(runs, distance), meets)
        << runs.width_bytes << " " << runs.rows << "x" << runs.pitch_bytes << " " << runs.slices
        << "x" << runs.slice_bytes << " moved by " << distance;
  }
}

}  // namespace
}  // namespace weft::ir
