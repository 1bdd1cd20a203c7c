#include "server/executor/segment_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/executor/test_loop.h"

namespace weft::executor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<uint32_t> TakeAll(SegmentProgress& progress) {
  std::vector<uint32_t> taken;
  while (const std::optional<uint32_t> segment = progress.Take()) taken.push_back(*segment);
  return taken;
}
std::vector<uint32_t> TakeWaits(SegmentProgress& progress) {
  std::vector<uint32_t> taken;
  while (const std::optional<uint32_t> wait = progress.TakeWait()) taken.push_back(*wait);
  return taken;
}

TEST(SegmentProgressTest, NodesStartBehindNodesThatHaveStarted) {
  const build::SegmentTable table = TableOf().Nodes().Nodes({0}).Nodes({0, 1}).Make();
  SegmentProgress progress(table);
  EXPECT_THAT(TakeAll(progress), ElementsAre(0, 1, 2));
  EXPECT_TRUE(progress.IsAllTaken());
}

TEST(SegmentProgressTest, AWaitBeginsWhenTheNodesBeforeItHaveEnded) {
  const build::SegmentTable table = TableOf().Nodes().Wait(8, 1, {0}).Nodes({1}).Make();
  SegmentProgress progress(table);
  EXPECT_THAT(TakeAll(progress), ElementsAre(0));
  EXPECT_THAT(TakeWaits(progress), IsEmpty());
  progress.Ended();
  EXPECT_THAT(TakeWaits(progress), ElementsAre(1));
  EXPECT_THAT(TakeAll(progress), IsEmpty());
  EXPECT_TRUE(progress.IsWaiting());
  progress.Reached(1);
  EXPECT_FALSE(progress.IsWaiting());
  EXPECT_THAT(TakeAll(progress), ElementsAre(2));
  EXPECT_TRUE(progress.IsAllTaken());
}

TEST(SegmentProgressTest, WaitsAreOverInAnyOrder) {
  const build::SegmentTable table =
      TableOf().Wait(8, 1).Wait(16, 1).Nodes({0}).Nodes({1}).Nodes({2, 3}).Make();
  SegmentProgress progress(table);
  EXPECT_THAT(TakeWaits(progress), ElementsAre(0, 1));
  progress.Reached(1);
  EXPECT_THAT(TakeAll(progress), ElementsAre(3));
  progress.Ended();
  EXPECT_FALSE(progress.IsAllTaken());
  progress.Reached(0);
  EXPECT_THAT(TakeAll(progress), ElementsAre(2, 4));
  EXPECT_TRUE(progress.IsAllTaken());
}

TEST(SegmentProgressTest, AWaitMayBeLast) {
  const build::SegmentTable table = TableOf().Wait(8, 1).Make();
  SegmentProgress progress(table);
  EXPECT_THAT(TakeWaits(progress), ElementsAre(0));
  EXPECT_FALSE(progress.IsAllTaken());
  progress.Reached(0);
  EXPECT_TRUE(progress.IsAllTaken());
}

}  // namespace
}  // namespace weft::executor
