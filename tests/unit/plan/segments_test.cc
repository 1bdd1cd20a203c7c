// Where plans are cut, and what each segment comes after.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/plan/render.h"
#include "graph/plan/verify_plan.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/plan/plan_job.h"

namespace weft::plan {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::PlannedJob;
using testing::PlanText;
using ::testing::SizeIs;
using testing::StatusIs;
using ::testing::UnorderedElementsAre;

// Semaphores in the words of "s", two buffers, and the given nodes.
std::string SemaphoreJob(const std::string& nodes) {
  return absl::StrCat(
      "buffers { name: 's' shared: 's' data_type: DATA_TYPE_U8 shape: 64 } buffers { name: 'x' "
      "shape: 8 } buffers { name: "
      "'y' shape: 8 "
      "} ",
      nodes);
}

std::string Node(const std::string& name, const std::string& after, const std::string& kind) {
  std::string text = absl::StrCat("nodes { name: '", name, "' ");
  if (!after.empty()) absl::StrAppend(&text, "after: [", after, "] ");
  return absl::StrCat(text, kind, " } ");
}

std::string Semaphore(const std::string& kind, int word, int value) {
  return absl::StrCat(kind, " { semaphore { buffer: 's' size_bytes: 8 offset_bytes: ", 8 * word,
                      " } value: ", value, " }");
}

class Segments {
 public:
  explicit Segments(const PlannedJob& job) : job_(job) {}

  uint32_t Of(const std::string& name) const {
    for (uint32_t i = 0; i < job_.graph.node_count(); ++i) {
      if (job_.graph.nodes[i].name == name) return job_.plan.nodes[i].segment;
    }
    ADD_FAILURE() << "no node " << name;
    return 0;
  }
  const Segment& segment(const std::string& name) const { return job_.plan.segments[Of(name)]; }
  // Whether the start of what `late` is in needs `early` over, by way of any segments.
  bool IsBehind(const std::string& late, const std::string& early) const {
    std::vector<uint32_t> left = {Of(late)};
    std::set<uint32_t> seen;
    while (!left.empty()) {
      const uint32_t at = left.back();
      left.pop_back();
      if (at == Of(early)) return true;
      for (const uint32_t before : job_.plan.AfterOf(job_.plan.segments[at])) {
        if (seen.insert(before).second) left.push_back(before);
      }
    }
    return false;
  }

 private:
  const PlannedJob& job_;
};

TEST(SegmentsTest, APlanWithoutWaitsIsNotCut) {
  ASSERT_OK_AND_ASSIGN(const PlannedJob job,
                       PlanText(SemaphoreJob(Node("signal", "", Semaphore("signal", 0, 1)) +
                                             Node("fill", "", "fill { dst { buffer: 'x' } }"))));
  EXPECT_THAT(job.plan.segments, IsEmpty());
  EXPECT_THAT(RenderText(job.graph, job.plan), Not(HasSubstr("segments")));
}

TEST(SegmentsTest, OneBranchOfADiamondWaits) {
  ASSERT_OK_AND_ASSIGN(
      const PlannedJob job,
      PlanText(SemaphoreJob(Node("top", "", "empty {}") +
                            Node("wait", "'top'", Semaphore("wait", 0, 1)) +
                            Node("left", "'wait'", "fill { dst { buffer: 'x' } }") +
                            Node("right", "'top'", "fill { dst { buffer: 'y' } }") +
                            Node("join", "'left', 'right'", "empty {}"))));
  const Segments segments(job);
  EXPECT_THAT(job.plan.segments, SizeIs(3));
  EXPECT_EQ(segments.Of("top"), segments.Of("right"));
  EXPECT_EQ(segments.Of("left"), segments.Of("join"));
  EXPECT_EQ(segments.segment("wait").kind, Segment::Kind::kWait);
  EXPECT_THAT(job.plan.AfterOf(segments.segment("wait")), ElementsAre(segments.Of("top")));
  EXPECT_THAT(job.plan.AfterOf(segments.segment("join")),
              UnorderedElementsAre(segments.Of("top"), segments.Of("wait")));
}

// Whichever is reached first, what comes behind it alone may start.
TEST(SegmentsTest, IndependentWaitsHoldBackTheirOwn) {
  ASSERT_OK_AND_ASSIGN(
      const PlannedJob job,
      PlanText(SemaphoreJob(Node("a", "", Semaphore("wait", 0, 1)) +
                            Node("behind_a", "'a'", "fill { dst { buffer: 'x' } }") +
                            Node("b", "", Semaphore("wait", 1, 1)) +
                            Node("c", "'b'", Semaphore("signal", 2, 1)))));
  const Segments segments(job);
  EXPECT_FALSE(segments.IsBehind("c", "a"));
  EXPECT_FALSE(segments.IsBehind("behind_a", "b"));
  EXPECT_TRUE(segments.IsBehind("behind_a", "a"));
  EXPECT_TRUE(segments.IsBehind("c", "b"));
}

// Order within a lane is order, although no data asks for it.
TEST(SegmentsTest, AWaitHoldsBackItsLane) {
  PlanOptions one_lane;
  one_lane.max_lanes = 1;
  ASSERT_OK_AND_ASSIGN(const PlannedJob job,
                       PlanText(SemaphoreJob(Node("first", "", "fill { dst { buffer: 'x' } }") +
                                             Node("wait", "", Semaphore("wait", 0, 1)) +
                                             Node("last", "", "fill { dst { buffer: 'y' } }")),
                                one_lane));
  const Segments segments(job);
  EXPECT_TRUE(segments.IsBehind("wait", "first"));
  EXPECT_TRUE(segments.IsBehind("last", "wait"));
}

TEST(SegmentsTest, AWaitForTheJobsOwnSignalIsOverByThen) {
  const std::string pair = Node("signal", "", Semaphore("signal", 0, 4)) +
                           Node("wait", "", Semaphore("wait", 0, 4)) +
                           Node("last", "'wait'", "fill { dst { buffer: 'x' } }");
  ASSERT_OK_AND_ASSIGN(const PlannedJob job, PlanText(SemaphoreJob(pair)));
  EXPECT_THAT(job.plan.segments, IsEmpty());
  EXPECT_TRUE(job.plan.nodes[1].is_no_op);
  // What writes the semaphore outside of the pair takes no value back.
  const std::string reset = Node("reset", "", "fill { dst { buffer: 's' } }");
  const std::string end = Node("end", "", "fill { dst { buffer: 's' } }");
  ASSERT_OK_AND_ASSIGN(const PlannedJob between, PlanText(SemaphoreJob(reset + pair + end)));
  EXPECT_THAT(between.plan.segments, IsEmpty());
}

TEST(SegmentsTest, AValueThatIsTakenBackIsWaitedFor) {
  const std::string signal = Node("signal", "", Semaphore("signal", 0, 4));
  const std::string reset = Node("reset", "", "fill { dst { buffer: 's' } }");
  const std::string wait = Node("wait", "", Semaphore("wait", 0, 4));
  ASSERT_OK_AND_ASSIGN(const PlannedJob job, PlanText(SemaphoreJob(signal + reset + wait)));
  EXPECT_THAT(job.plan.segments, SizeIs(2));
  EXPECT_TRUE(Segments(job).IsBehind("wait", "reset"));
  // With `after` alone for order, nobody knows when the semaphore is written.
  ASSERT_OK_AND_ASSIGN(
      const PlannedJob any_time,
      PlanText(SemaphoreJob(reset + signal + wait + "options { ordering: ORDERING_EXPLICIT }")));
  EXPECT_FALSE(any_time.plan.segments.empty());
}

TEST(SegmentsTest, ThousandsOfWaitsArePlannedInLinearTimeAndSpace) {
  std::string nodes;
  for (int i = 0; i < 5000; ++i) {
    absl::StrAppend(&nodes,
                    Node(absl::StrCat("w", i), i == 0 ? "" : absl::StrCat("'n", i - 1, "'"),
                         Semaphore("wait", i % 8, i + 1)),
                    Node(absl::StrCat("n", i), absl::StrCat("'w", i, "'"), "empty {}"));
  }
  ASSERT_OK_AND_ASSIGN(const PlannedJob job, PlanText(SemaphoreJob(nodes)));
  EXPECT_THAT(job.plan.segments, SizeIs(10000));
  EXPECT_EQ(job.plan.segment_after.size(), 9999u);
}

TEST(SegmentsTest, TextAndPictureShowThem) {
  ASSERT_OK_AND_ASSIGN(const PlannedJob job,
                       PlanText(SemaphoreJob(Node("wait", "", Semaphore("wait", 0, 1)) +
                                             Node("last", "'wait'", "empty {}"))));
  EXPECT_THAT(
      RenderText(job.graph, job.plan),
      AllOf(HasSubstr("segments: 2;"), HasSubstr("0: wait; a wait, which the host sees to\n"),
            HasSubstr("1: last; a graph; after 0\n")));
  EXPECT_THAT(RenderDot(job.graph, job.plan), HasSubstr("last\\nempty\\nsegment 1"));
}

class SegmentFaultTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(job_,
                         PlanText(SemaphoreJob(Node("first", "", "empty {}") +
                                               Node("wait", "'first'", Semaphore("wait", 0, 1)) +
                                               Node("last", "'wait'", "empty {}"))));
    ASSERT_THAT(job_.plan.segments, SizeIs(3));
  }
  absl::Status Verified() const { return VerifyPlan(job_.graph, job_.plan); }

  PlannedJob job_;
};

TEST_F(SegmentFaultTest, AMissingOrderIsFound) {
  ASSERT_OK(Verified());
  job_.plan.segments[2].after.count = 0;
  EXPECT_THAT(Verified(), StatusIs(absl::StatusCode::kInternal, HasSubstr("does not come after")));
}

TEST_F(SegmentFaultTest, AWaitInAGraphIsFound) {
  job_.plan.segments[1].kind = Segment::Kind::kNodes;
  EXPECT_THAT(Verified(), StatusIs(absl::StatusCode::kInternal, HasSubstr("is no segment")));
  job_.plan.segments.clear();
  EXPECT_THAT(Verified(), StatusIs(absl::StatusCode::kInternal, HasSubstr("is no segment")));
}

TEST_F(SegmentFaultTest, ANodeHeldBackWithoutCauseIsFound) {
  std::swap(job_.plan.segment_nodes[0], job_.plan.segment_nodes[2]);
  job_.plan.nodes[0].segment = 2;
  job_.plan.nodes[2].segment = 0;
  EXPECT_THAT(Verified(), StatusIs(absl::StatusCode::kInternal));
}

TEST_F(SegmentFaultTest, AWaitThatIsLeftOutIsFound) {
  job_.plan.nodes[1].is_no_op = true;
  EXPECT_THAT(Verified(),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("does not wait for its value")));
}

}  // namespace
}  // namespace weft::plan
