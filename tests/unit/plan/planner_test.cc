#include "graph/plan/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "graph/plan/render.h"
#include "graph/plan/verify_plan.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/plan/plan_job.h"

namespace weft::plan {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::PlannedJob;
using testing::PlanText;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

// Two independent chains from one producer, joined at the end, over 1 KiB buffers.
constexpr absl::string_view kDiamond = R"(
  buffers { name: "a" shape: 1024 } buffers { name: "b" shape: 1024 }
  buffers { name: "c" shape: 1024 } buffers { name: "d" shape: 1024 }
  nodes { name: "top" kernel { kernel: "produce" args { name: "dst" view { buffer: "a" } } } }
  nodes { name: "left" kernel { kernel: "map" args { name: "src" view { buffer: "a" } }
                                args { name: "dst" view { buffer: "b" } } } }
  nodes { name: "right" kernel { kernel: "map" args { name: "src" view { buffer: "a" } }
                                 args { name: "dst" view { buffer: "c" } } } }
  nodes { name: "join" kernel { kernel: "zip" args { name: "a" view { buffer: "b" } }
      args { name: "b" view { buffer: "c" } } args { name: "dst" view { buffer: "d" } } } })";

PlanOptions WithPasses(absl::string_view text) {
  PlanOptions options;
  options.passes = *PassSwitches::Parse(text);
  return options;
}

TEST(PassSwitchesTest, NamesWithMinusAreOffOthersAreOn) {
  const PassSwitches switches = *PassSwitches::Parse("-assign_lanes, -reduce_edges");
  EXPECT_FALSE(switches.IsOn("assign_lanes"));
  EXPECT_TRUE(switches.IsOn("place_scratch"));
  EXPECT_EQ(switches.ToString(), "-assign_lanes,-reduce_edges");
}

TEST(PassSwitchesTest, NamesWithoutMinusAreTheOnlyOnesOn) {
  const PassSwitches switches = *PassSwitches::Parse("place_scratch");
  EXPECT_TRUE(switches.IsOn("place_scratch"));
  EXPECT_FALSE(switches.IsOn("assign_lanes"));
  EXPECT_EQ(PassSwitches::Parse("")->ToString(), "");
  EXPECT_EQ(PassSwitches::Parse("all,-place_scratch")->ToString(), "-place_scratch");
  EXPECT_FALSE(PassSwitches::Parse("none")->IsOn("place_scratch"));
}

TEST(PassSwitchesTest, TextOfSwitchesReadsBackAsTheSame) {
  const std::string text = PassSwitches::Parse("reduce_edges")->ToString();
  EXPECT_EQ(PassSwitches::Parse(text)->ToString(), text);
}

TEST(PassSwitchesTest, UnknownNameIsAnErrorWithTheNearest) {
  EXPECT_THAT(PassSwitches::Parse("-asign_lanes"),
              StatusIs(kInvalid, HasSubstr("Did you mean \"assign_lanes\"?")));
  EXPECT_THAT(PassSwitches::Parse("-infer_dependencies"), StatusIs(kInvalid));
}

TEST(PlannerTest, WithoutLanesEverythingIsInOne) {
  ASSERT_OK_AND_ASSIGN(PlannedJob job, PlanText(kDiamond, WithPasses("-assign_lanes")));
  EXPECT_EQ(job.plan.lane_count(), 1);
  EXPECT_THAT(job.plan.waits, IsEmpty());
}

TEST(PlannerTest, WithoutReductionEveryDependencyBetweenLanesIsAnEventEdge) {
  const std::string text = absl::StrCat(
      kDiamond,
      "nodes { name: \"last\" after: [\"top\", \"left\", \"right\", \"join\"] empty {} }");
  ASSERT_OK_AND_ASSIGN(PlannedJob reduced, PlanText(text));
  ASSERT_OK_AND_ASSIGN(PlannedJob all, PlanText(text, WithPasses("-reduce_edges")));
  EXPECT_EQ(reduced.plan.counts.transitive, 3);
  EXPECT_EQ(all.plan.counts.transitive, 0);
  EXPECT_GT(all.plan.waits.size(), reduced.plan.waits.size());
}

TEST(PlannerTest, WithoutScratchPlacementNoBytesAreShared) {
  ASSERT_OK_AND_ASSIGN(PlannedJob job, PlanText(kDiamond, WithPasses("-place_scratch")));
  EXPECT_EQ(job.plan.scratch.size_bytes, 4096);
  ASSERT_OK_AND_ASSIGN(PlannedJob shared, PlanText(kDiamond));
  EXPECT_EQ(shared.plan.scratch.size_bytes, 3072);
  EXPECT_EQ(shared.plan.scratch.largest_live_bytes, 3072);
  EXPECT_EQ(shared.plan.scratch.unshared_bytes, 4096);
}

TEST(PlannerTest, PassesAreReportedAndCanBeLookedAt) {
  PlanOptions options = WithPasses("-choose_launch");
  std::vector<std::string> dumped;
  options.dump_after = [&dumped](absl::string_view pass, const Plan&) {
    dumped.emplace_back(pass);
  };
  ASSERT_OK_AND_ASSIGN(PlannedJob job, PlanText(kDiamond, options));
  EXPECT_THAT(dumped,
              ElementsAre("lower_nodes", "infer_dependencies", "reduce_edges", "assign_lanes",
                          "place_scratch", "choose_launch", "cut_segments"));
  ASSERT_EQ(job.plan.passes.size(), 7);
  EXPECT_EQ(job.plan.passes[3].outcome, PassReport::Outcome::kRan);
  EXPECT_EQ(job.plan.passes[5].outcome, PassReport::Outcome::kSwitchedOff);
  EXPECT_THAT(RenderPasses(job.plan), HasSubstr("switched off"));
}

TEST(PlannerTest, LanesAreBoundedByOptionsJobAndDevice) {
  std::string wide;
  for (int i = 0; i < 20; ++i) {
    absl::StrAppend(&wide, "buffers { name: \"b", i, "\" } nodes { fill { dst { buffer: \"b", i,
                    "\" } } }");
  }
  EXPECT_EQ(PlanText(wide)->plan.lane_count(), 8);
  PlanOptions three;
  three.max_lanes = 3;
  EXPECT_EQ(PlanText(wide, three)->plan.lane_count(), 3);
  EXPECT_EQ(PlanText(absl::StrCat(wide, "options { max_lanes: 2 }"), three)->plan.lane_count(), 2);
}

TEST(PlannerTest, CycleOfDataAndAfterIsNamedInOrder) {
  EXPECT_THAT(PlanText(R"(buffers { name: "x" shape: 4 }
      nodes { name: "first" after: "last" fill { dst { buffer: "x" } } }
      nodes { name: "last" download { src { buffer: "x" } } })"),
              StatusIs(kInvalid, AllOf(HasSubstr("nodes[0].after"),
                                       HasSubstr("first -data-> last -after-> first"))));
}

TEST(PlannerTest, AfterMayNameALaterNode) {
  ASSERT_OK_AND_ASSIGN(PlannedJob job, PlanText("nodes { name: \"a\" after: \"b\" empty {} }"
                                                "nodes { name: \"b\" empty {} }"));
  EXPECT_THAT(job.plan.order, ElementsAre(NodeIndex(1), NodeIndex(0)));
  EXPECT_EQ(job.plan.lane_count(), 1);
}

TEST(PlannerTest, ScratchBeyondTheDeviceIsRefusedWithTheFigures) {
  EXPECT_THAT(PlanText(R"(buffers { name: "x" shape: 1099511627776 }
                          nodes { fill { dst { buffer: "x" } } })"),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("1099511627776 bytes"), HasSubstr("25769803776"))));
}

TEST(PlannerTest, SamePlanEveryTime) {
  const PlannedJob one = *PlanText(kDiamond);
  const PlannedJob two = *PlanText(kDiamond);
  EXPECT_EQ(RenderText(one.graph, one.plan), RenderText(two.graph, two.plan));
}

TEST(PlannerTest, OnceRunsThroughStreamsAndRepeatedAsAGraph) {
  PlanOptions once;
  once.use = Use::kOnce;
  EXPECT_EQ(PlanText(kDiamond, once)->plan.launch.mode, LaunchMode::kStreams);
  EXPECT_EQ(PlanText(kDiamond)->plan.launch.mode, LaunchMode::kGraph);
}

TEST(RenderDotTest, HasAClusterALaneAndDashedEventEdges) {
  const PlannedJob job = *PlanText(kDiamond);
  const std::string dot = RenderDot(job.graph, job.plan);
  EXPECT_THAT(dot, AllOf(HasSubstr("subgraph cluster_lane1"), HasSubstr("n0 -> n2 -> n3;"),
                         HasSubstr("n0 -> n1 [style=dashed")));
}

TEST(RenderTextTest, NodesBeyondTheLimitAreCounted) {
  const PlannedJob job = *PlanText(kDiamond);
  EXPECT_THAT(RenderText(job.graph, job.plan, {.max_nodes = 2}),
              HasSubstr("  and 1 more node\nlane 1\n"));
}

class VerifyPlanTest : public ::testing::Test {
 protected:
  absl::Status Verify() const { return VerifyPlan(job_.graph, job_.plan); }
  PlannedJob job_ = *PlanText(kDiamond);
};

TEST_F(VerifyPlanTest, AcceptsWhatThePlannerMakes) { EXPECT_OK(Verify()); }

TEST_F(VerifyPlanTest, FindsAMissingEventEdge) {
  job_.plan.nodes[1].waits.count = 0;
  job_.plan.nodes[0].has_waiters = false;
  EXPECT_THAT(Verify(), StatusIs(absl::StatusCode::kInternal, HasSubstr("\"left\" uses bytes")));
}

TEST_F(VerifyPlanTest, FindsSharedBytesThatAreStillInUse) {
  job_.plan.scratch.buffer_offsets[1] = job_.plan.scratch.buffer_offsets[2];
  EXPECT_THAT(Verify(), StatusIs(absl::StatusCode::kInternal, HasSubstr("still in use")));
}

TEST_F(VerifyPlanTest, FindsBytesOutsideTheArea) {
  job_.plan.scratch.size_bytes = 1024;
  EXPECT_THAT(Verify(), StatusIs(absl::StatusCode::kInternal, HasSubstr("outside its area")));
}

TEST_F(VerifyPlanTest, FindsAReadyWordThatIsMissingOrMisplaced) {
  job_ = *PlanText(R"(buffers { name: 'x' shape: 10 } nodes { fill { dst { buffer: 'x' } } }
      nodes { name: 'early' download { src { buffer: 'x' } delivery: DELIVERY_WHEN_READY } }
      nodes { name: 'late' download { src { buffer: 'x' } } })");
  const ByteRange placed = job_.plan.nodes[1].ready;
  EXPECT_EQ(placed, (ByteRange{12, kReadyWordBytes}));
  EXPECT_OK(Verify());
  for (const ByteRange& wrong : {ByteRange{}, ByteRange{8, 4}, ByteRange{13, 4}, ByteRange{12, 8},
                                 ByteRange{260, 4}, ByteRange{job_.plan.staging_bytes, 4}}) {
    job_.plan.nodes[1].ready = wrong;
    EXPECT_THAT(Verify(), StatusIs(absl::StatusCode::kInternal)) << wrong.offset;
  }
  job_.plan.nodes[1].ready = placed;
  job_.plan.nodes[2].ready = {300, 4};
  EXPECT_THAT(Verify(), StatusIs(absl::StatusCode::kInternal, HasSubstr("for no output")));
}

TEST_F(VerifyPlanTest, FindsAnOrderThatRunsBackwards) {
  std::swap(job_.plan.order[0], job_.plan.order[1]);
  EXPECT_THAT(Verify(), StatusIs(absl::StatusCode::kInternal, HasSubstr("is issued before")));
}

TEST_F(VerifyPlanTest, FindsANodeInTwoPlaces) {
  job_.plan.lane_nodes[0] = job_.plan.lane_nodes[1];
  EXPECT_THAT(Verify(), StatusIs(absl::StatusCode::kInternal));
}

}  // namespace
}  // namespace weft::plan
