// Plans that are cut where no CUDA graph can hold a node.
#include "graph/build/segment_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/status_macros.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/build/test_device.h"
#include "tests/unit/build/test_graph.h"

namespace weft::build {
namespace {

using ::testing::ElementsAre;
using testing::IsOkAndHolds;
using Kind = plan::Segment::Kind;

class SegmentRunnerTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(device_, TestDevice::Create()); }

  // A kernel on lanes 0 and 1 each, a library call behind both, a kernel behind it.
  void MakeCutGraph() {
    x_ = graph_.Shared(1);
    y_ = graph_.Shared(1);
    const NodeIndex first = graph_.Kernel("slow_affine", x_, 2, 0, 0);
    const NodeIndex beside = graph_.Kernel("slow_affine", y_, 3, 0, 1);
    const NodeIndex call = graph_.Library(x_, 10, 5, 0, {beside});
    const NodeIndex last = graph_.Kernel("affine", x_, 1, 1, 1, {call});
    graph_.Cut({{Kind::kNodes, {first, beside}}, {Kind::kIssued, {call}}, {Kind::kNodes, {last}}});
  }
  absl::Status RunOnce(SegmentRunner& runner) {
    WEFT_RETURN_IF_ERROR(runner.Begin(device_->stream()));
    for (uint32_t s = 0; s < runner.table().entries.size(); ++s) {
      WEFT_RETURN_IF_ERROR(runner.Launch(s, device_->stream()));
    }
    return device_->stream().Synchronize();
  }

  std::unique_ptr<TestDevice> device_;
  TestGraph graph_;
  BufferIndex x_;
  BufferIndex y_;
};

TEST_F(SegmentRunnerTest, ACallBetweenGraphsSeesWhatIsBeforeItAndIsSeenBehindIt) {
  MakeCutGraph();
  const Bindings bindings = device_->Bind(graph_);
  ASSERT_OK(device_->Write(bindings.buffers[0], {1}));
  ASSERT_OK(device_->Write(bindings.buffers[1], {1}));
  ASSERT_OK_AND_ASSIGN(const auto runner,
                       SegmentRunner::Create(device_->Input(graph_, bindings), Timing::kNone));
  ASSERT_OK(RunOnce(*runner));
  EXPECT_THAT(device_->Read(bindings.buffers[0], 1), IsOkAndHolds(ElementsAre(26)));
  EXPECT_THAT(device_->Read(bindings.buffers[1], 1), IsOkAndHolds(ElementsAre(3)));
}

TEST_F(SegmentRunnerTest, RunsAgainAndMakesTheCallAnew) {
  MakeCutGraph();
  const Bindings bindings = device_->Bind(graph_);
  ASSERT_OK(device_->Write(bindings.buffers[0], {0}));
  ASSERT_OK_AND_ASSIGN(const auto runner,
                       SegmentRunner::Create(device_->Input(graph_, bindings), Timing::kNone));
  ASSERT_OK(RunOnce(*runner));
  ASSERT_OK(RunOnce(*runner));
  EXPECT_EQ(device_->resolver().enqueued(), 2);
  EXPECT_THAT(device_->Read(bindings.buffers[0], 1), IsOkAndHolds(ElementsAre(126)));
}

}  // namespace
}  // namespace weft::build
