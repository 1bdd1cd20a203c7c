// Order and memory of nodes that touch rows, and of pinned and managed buffers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "graph/ir/use_rows.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/plan/plan_job.h"

namespace weft::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::PlannedJob;
using testing::PlanText;
using testing::StatusIs;

// All orders between lanes, those that others imply included.
PlanOptions Wide() {
  PlanOptions options;
  options.passes = *PassSwitches::Parse("-reduce_edges");
  return options;
}

NodeIndex Find(const PlannedJob& job, const std::string& name) {
  for (uint32_t i = 0; i < job.graph.node_count(); ++i) {
    if (job.graph.nodes[i].name == name) return NodeIndex(i);
  }
  ADD_FAILURE() << "no node " << name;
  return NodeIndex(0);
}

// Whether the plan has `before` end before `after` starts: by lanes and edges, step by step.
bool IsOrdered(const PlannedJob& job, const std::string& before, const std::string& after) {
  const NodeIndex wanted = Find(job, before);
  std::vector<NodeIndex> left = {Find(job, after)};
  std::vector<bool> seen(job.graph.node_count(), false);
  while (!left.empty()) {
    const PlannedNode& node = job.plan.node(left.back());
    left.pop_back();
    std::vector<NodeIndex> earlier(job.plan.WaitsOf(node).begin(), job.plan.WaitsOf(node).end());
    if (const auto in_lane = job.plan.BeforeInLane(node)) earlier.push_back(*in_lane);
    for (const NodeIndex n : earlier) {
      if (n == wanted) return true;
      if (!seen[n.value()]) left.push_back(n);
      seen[n.value()] = true;
    }
  }
  return false;
}

// A buffer of 4 rows of 10 bytes.
std::string Rows(const std::string& nodes) {
  return absl::StrCat("buffers { name: 'a' shape: 40 } buffers { name: 'b' shape: 40 } ", nodes);
}

// Fills so many columns from `column` on in every row.
std::string FillColumns(const std::string& name, int column, int width) {
  return absl::Substitute(
      "nodes { name: '$0' fill { dst { buffer: 'a' offset_bytes: $1 } width_bytes: $2 rows: 4 "
      "pitch_bytes: 10 } } ",
      name, column, width);
}

TEST(MemoryNodeOrderTest, DisjointBlocksOfColumnsRunSideBySide) {
  ASSERT_OK_AND_ASSIGN(
      const PlannedJob job,
      PlanText(Rows(FillColumns("left", 0, 5) + FillColumns("right", 5, 5)), Wide()));
  EXPECT_EQ(job.plan.lane_count(), 2u);
  EXPECT_THAT(job.plan.waits, IsEmpty());
}

TEST(MemoryNodeOrderTest, BlocksThatShareAColumnAreOrdered) {
  ASSERT_OK_AND_ASSIGN(
      const PlannedJob job,
      PlanText(Rows(FillColumns("left", 0, 6) + FillColumns("right", 5, 5)), Wide()));
  EXPECT_TRUE(IsOrdered(job, "left", "right"));
}

TEST(MemoryNodeOrderTest, AReaderOfAllWaitsForEveryBlock) {
  ASSERT_OK_AND_ASSIGN(
      const PlannedJob job,
      PlanText(Rows(FillColumns("left", 0, 5) + FillColumns("right", 5, 5) +
                    "nodes { name: 'read' copy { src { buffer: 'a' } dst { buffer: 'b' } } }"),
               Wide()));
  EXPECT_TRUE(IsOrdered(job, "left", "read"));
  EXPECT_TRUE(IsOrdered(job, "right", "read"));
}

TEST(MemoryNodeOrderTest, AWriteOfRowsDoesNotHideWhatLiesBetween) {
  ASSERT_OK_AND_ASSIGN(
      const PlannedJob job,
      PlanText(Rows(FillColumns("left", 0, 5) + FillColumns("right", 5, 5) +
                    FillColumns("left_again", 0, 5) +
                    "nodes { name: 'read' copy { src { buffer: 'a' offset_bytes: 5 size_bytes: 5 } "
                    "dst { buffer: 'b' size_bytes: 5 } } }"),
               Wide()));
  EXPECT_TRUE(IsOrdered(job, "right", "read"));
  EXPECT_FALSE(IsOrdered(job, "left_again", "read"));
}

TEST(MemoryNodeOrderTest, ABoxWaitsForTheWriterOfItsRows) {
  ASSERT_OK_AND_ASSIGN(
      const PlannedJob job,
      PlanText(Rows(FillColumns("left", 0, 5) + FillColumns("right", 5, 5) +
                    "nodes { name: 'cut' copy { src { buffer: 'a' offset_bytes: 5 } "
                    "dst { buffer: 'b' } box { width_bytes: 5 rows: 4 src_pitch_bytes: 10 } } }"),
               Wide()));
  EXPECT_TRUE(IsOrdered(job, "right", "cut"));
  EXPECT_FALSE(IsOrdered(job, "left", "cut"));
}

TEST(MemoryNodeOrderTest, MoreRowsThanAreLookedAtAreOrderedByWhatTheyReachOver) {
  const auto fill = [](const char* name, int offset) {
    return absl::Substitute(
        "nodes { name: '$0' fill { dst { buffer: 'a' offset_bytes: $1 } width_bytes: 1 rows: $2 "
        "pitch_bytes: 2 } } ",
        name, offset, ir::kMaxOrderedRows);
  };
  ASSERT_OK_AND_ASSIGN(const PlannedJob job,
                       PlanText(absl::StrCat("buffers { name: 'a' shape: ", 2 * ir::kMaxOrderedRows,
                                             " } ", fill("even", 0), fill("odd", 1)),
                                Wide()));
  EXPECT_TRUE(IsOrdered(job, "even", "odd"));
}

TEST(MemoryNodeOrderTest, PinnedBuffersThatAreNeverLiveTogetherShareBytes) {
  ASSERT_OK_AND_ASSIGN(const PlannedJob job, PlanText(R"(
      buffers { name: 'p' shape: 1000 pinned {} } buffers { name: 's' shape: 1000 }
      buffers { name: 'q' shape: 1000 pinned {} }
      nodes { fill { dst { buffer: 'p' } } }
      nodes { copy { src { buffer: 'p' } dst { buffer: 's' } } }
      nodes { copy { src { buffer: 's' } dst { buffer: 'q' } } })"));
  EXPECT_EQ(job.plan.pinned_bytes, 1024u);
  EXPECT_EQ(job.plan.scratch.size_bytes, 1024u);
  EXPECT_EQ(job.plan.scratch.buffer_offsets[0], job.plan.scratch.buffer_offsets[2]);
}

TEST(MemoryNodeOrderTest, PinnedBuffersThatAreLiveTogetherLieApart) {
  ASSERT_OK_AND_ASSIGN(const PlannedJob job, PlanText(R"(
      buffers { name: 'p' shape: 1000 pinned {} } buffers { name: 'q' shape: 1000 pinned {} }
      nodes { fill { dst { buffer: 'p' } } }
      nodes { copy { src { buffer: 'p' } dst { buffer: 'q' } } })"));
  EXPECT_EQ(job.plan.pinned_bytes, 2048u);
  EXPECT_EQ(job.plan.scratch.size_bytes, 0u);
}

TEST(MemoryNodeOrderTest, ManagedBuffersNeverShareAPage) {
  ASSERT_OK_AND_ASSIGN(const PlannedJob job, PlanText(R"(
      buffers { name: 'm' shape: 1000 managed {} } buffers { name: 's' shape: 1000 }
      buffers { name: 'n' shape: 1000 managed {} } buffers { name: 'unused' shape: 1000 managed {} }
      nodes { fill { dst { buffer: 'm' } } }
      nodes { copy { src { buffer: 'm' } dst { buffer: 's' } } }
      nodes { copy { src { buffer: 's' } dst { buffer: 'n' } } })"));
  EXPECT_EQ(job.plan.managed_bytes, 2 * kManagedAlignment);
  EXPECT_EQ(job.plan.scratch.buffer_offsets[0], 0u);
  EXPECT_EQ(job.plan.scratch.buffer_offsets[2], kManagedAlignment);
  EXPECT_EQ(job.plan.scratch.buffer_offsets[3], std::nullopt);
}

TEST(MemoryNodeOrderTest, ManagedBuffersLargerThanTheDeviceAreRefused) {
  EXPECT_THAT(PlanText(R"(buffers { name: 'm' shape: 1099511627776 managed {} }
                          nodes { fill { dst { buffer: 'm' } } })"),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("1099511627776")));
}

TEST(MemoryNodeOrderTest, APrefetchRunsTheJobThroughStreams) {
  const char* const managed =
      "buffers { name: 'm' shape: 8 managed {} } nodes { name: 'set' fill { "
      "dst { buffer: 'm' } } } ";
  ASSERT_OK_AND_ASSIGN(const PlannedJob without, PlanText(managed));
  EXPECT_EQ(without.plan.launch.mode, LaunchMode::kGraph);
  ASSERT_OK_AND_ASSIGN(
      const PlannedJob with,
      PlanText(absl::StrCat(managed, "nodes { name: 'move' prefetch { view { buffer: 'm' } } }")));
  EXPECT_EQ(with.plan.launch.mode, LaunchMode::kStreams);
  EXPECT_THAT(with.plan.launch.reason, HasSubstr("move"));
}

TEST(MemoryNodeOrderTest, APrefetchInALongJobCutsItsGraph) {
  std::string text = "buffers { name: 'm' shape: 8 managed {} } ";
  for (int i = 0; i < 8; ++i) absl::StrAppend(&text, "nodes { fill { dst { buffer: 'm' } } } ");
  absl::StrAppend(&text, "nodes { name: 'move' prefetch { view { buffer: 'm' } } }");
  ASSERT_OK_AND_ASSIGN(const PlannedJob job, PlanText(text));
  EXPECT_EQ(job.plan.launch.mode, LaunchMode::kGraph);
  EXPECT_THAT(job.plan.launch.reason, HasSubstr("it is cut where"));
  ASSERT_EQ(job.plan.segments.size(), 2u);
  EXPECT_EQ(job.plan.segments[1].kind, Segment::Kind::kIssued);
}

TEST(MemoryNodeOrderTest, APrefetchOfNothingLeavesTheJobAGraph) {
  ASSERT_OK_AND_ASSIGN(const PlannedJob job, PlanText(R"(
      buffers { name: 'm' shape: 0 managed {} } nodes { prefetch { view { buffer: 'm' } } })"));
  EXPECT_EQ(job.plan.launch.mode, LaunchMode::kGraph);
}

TEST(MemoryNodeOrderTest, AdviceLeavesTheJobAGraphAndHasNoOrder) {
  ASSERT_OK_AND_ASSIGN(const PlannedJob job, PlanText(R"(
      buffers { name: 'm' shape: 8 managed {} } nodes { name: 'set' fill { dst { buffer: 'm' } } }
      nodes { name: 'say' advise { view { buffer: 'm' } advice: ADVICE_READ_MOSTLY } })"));
  EXPECT_EQ(job.plan.launch.mode, LaunchMode::kGraph);
  EXPECT_FALSE(IsOrdered(job, "set", "say"));
}

TEST(MemoryNodeOrderTest, APrefetchIsOrderedAsAWrite) {
  ASSERT_OK_AND_ASSIGN(const PlannedJob job, PlanText(R"(
      buffers { name: 'm' shape: 8 managed {} } buffers { name: 's' shape: 8 }
      nodes { name: 'set' fill { dst { buffer: 'm' } } }
      nodes { name: 'move' prefetch { view { buffer: 'm' } to: LOCATION_HOST } }
      nodes { name: 'read' copy { src { buffer: 'm' } dst { buffer: 's' } } })"));
  EXPECT_TRUE(IsOrdered(job, "set", "move"));
  EXPECT_TRUE(IsOrdered(job, "move", "read"));
}

}  // namespace
}  // namespace weft::plan
