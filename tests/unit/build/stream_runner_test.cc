#include "graph/build/stream_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/testing/status_matchers.h"
#include "tests/unit/build/test_device.h"
#include "tests/unit/build/test_graph.h"

namespace weft::build {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class StreamRunnerTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(device_, TestDevice::Create()); }

  std::unique_ptr<StreamRunner> Make(TestGraph& graph, const Bindings& bindings, Timing timing) {
    auto runner = StreamRunner::Create(device_->Input(graph, bindings), timing);
    EXPECT_OK(runner);
    return runner.ok() ? *std::move(runner) : nullptr;
  }

  std::unique_ptr<TestDevice> device_;
};

TEST_F(StreamRunnerTest, RunsQueuedBehindEachOtherDoNotMix) {
  TestGraph graph;
  const BufferIndex x = graph.Shared(1);
  const NodeIndex first = graph.Kernel("affine", x, 2, 0, 0);
  const NodeIndex second = graph.Kernel("slow_affine", x, 1, 1, 1, {first});
  graph.Kernel("affine", x, 1, 1, 0, {second});
  const Bindings bindings = device_->Bind(graph);
  ASSERT_OK(device_->Write(bindings.buffers[0], {0}));
  const auto runner = Make(graph, bindings, Timing::kNone);
  for (int i = 0; i < 4; ++i) ASSERT_OK(runner->Run(device_->stream()));
  ASSERT_OK(device_->stream().Synchronize());
  EXPECT_THAT(device_->Read(bindings.buffers[0], 1), testing::IsOkAndHolds(ElementsAre(30)));
}

TEST_F(StreamRunnerTest, ATimelineFollowsTheOrderAndNamesLanes) {
  TestGraph graph;
  const BufferIndex x = graph.Shared(1);
  const NodeIndex first = graph.Kernel("slow_affine", x, 1, 1, 0);
  graph.Kernel("slow_affine", x, 1, 1, 1, {first});
  graph.Empty(0);
  const Bindings bindings = device_->Bind(graph);
  const auto runner = Make(graph, bindings, Timing::kPerNode);
  ASSERT_OK(runner->Run(device_->stream()));
  ASSERT_OK(device_->stream().Synchronize());
  ASSERT_OK_AND_ASSIGN(const std::vector<NodeSpan> spans, runner->Timeline());
  ASSERT_THAT(spans, SizeIs(3));
  EXPECT_EQ(spans[1].node, NodeIndex(1));
  EXPECT_EQ(spans[1].lane, LaneId(1));
  EXPECT_GE(spans[0].end_ns, spans[0].start_ns + 4'000'000);  // slow_affine takes 5 ms
  EXPECT_GE(spans[1].start_ns, spans[0].end_ns);
  EXPECT_GE(spans[2].start_ns, spans[0].end_ns);
}

TEST_F(StreamRunnerTest, WithoutTimingThereIsNoTimeline) {
  TestGraph graph;
  graph.Empty(0);
  const Bindings bindings = device_->Bind(graph);
  const auto runner = Make(graph, bindings, Timing::kNone);
  ASSERT_OK(runner->Run(device_->stream()));
  EXPECT_THAT(runner->Timeline(), testing::IsOkAndHolds(IsEmpty()));
}

TEST_F(StreamRunnerTest, AnEmptyPlanRuns) {
  TestGraph graph;
  const Bindings bindings = device_->Bind(graph);
  const auto runner = Make(graph, bindings, Timing::kPerNode);
  ASSERT_OK(runner->Run(device_->stream()));
  ASSERT_OK(device_->stream().Synchronize());
  EXPECT_THAT(runner->Timeline(), testing::IsOkAndHolds(IsEmpty()));
}

}  // namespace
}  // namespace weft::build
