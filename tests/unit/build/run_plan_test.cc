// What holds for a plan however it is run: as a CUDA graph and over streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "graph/build/executable.h"
#include "graph/build/stream_runner.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/build/test_device.h"
#include "tests/unit/build/test_graph.h"

namespace weft::build {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::StatusIs;

enum class Way { kGraph, kStreams, kTimedStreams };

class RunPlanTest : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(device_, TestDevice::Create()); }

  // Builds the plan, runs it and waits.
  absl::Status Run(TestGraph& graph, const Bindings& bindings) {
    const BuildInput input = device_->Input(graph, bindings);
    if (GetParam() == Way::kGraph) {
      WEFT_ASSIGN_OR_RETURN(const auto executable, Executable::Create(input));
      WEFT_RETURN_IF_ERROR(executable->Launch(device_->stream()));
      return device_->stream().Synchronize();
    }
    const Timing timing = GetParam() == Way::kStreams ? Timing::kNone : Timing::kPerNode;
    WEFT_ASSIGN_OR_RETURN(const auto runner, StreamRunner::Create(input, timing));
    WEFT_RETURN_IF_ERROR(runner->Run(device_->stream()));
    return device_->stream().Synchronize();
  }

  std::unique_ptr<TestDevice> device_;
};

TEST_P(RunPlanTest, NodesOfALaneRunInOrder) {
  TestGraph graph;
  const BufferIndex x = graph.Shared(4);
  graph.Fill(x, 1, 4, 0);
  graph.Kernel("slow_affine", x, 1, 2, 0);
  graph.Kernel("affine", x, 10, 0, 0);
  const Bindings bindings = device_->Bind(graph);
  ASSERT_OK(Run(graph, bindings));
  EXPECT_THAT(device_->Read(bindings.buffers[0], 4),
              testing::IsOkAndHolds(ElementsAre(30, 30, 30, 30)));
}

TEST_P(RunPlanTest, ACopyWithALaunchIsItsKernels) {
  TestGraph graph;
  const BufferIndex x = graph.Shared(3);
  const BufferIndex y = graph.Shared(3);
  graph.Kernel("slow_affine", x, 10, 1, 0);
  graph.CopyByKernel(graph.Copy(x, y, 0));
  graph.Kernel("affine", x, 0, 0, 0);
  const Bindings bindings = device_->Bind(graph);
  ASSERT_OK(device_->Write(bindings.buffers[0], {1, 2, 3}));
  ASSERT_OK(Run(graph, bindings));
  EXPECT_THAT(device_->Read(bindings.buffers[1], 3),
              testing::IsOkAndHolds(ElementsAre(11, 21, 31)));
}

TEST_P(RunPlanTest, ALibraryCallRunsInItsPlace) {
  TestGraph graph;
  const BufferIndex x = graph.Shared(1);
  const NodeIndex slow = graph.Kernel("slow_affine", x, 1, 1, 0);
  const NodeIndex call = graph.Library(x, 10, 5, 1, {slow});
  graph.Kernel("affine", x, 2, 0, 0, {call});
  const Bindings bindings = device_->Bind(graph);
  ASSERT_OK(device_->Write(bindings.buffers[0], {1}));
  ASSERT_OK(Run(graph, bindings));
  EXPECT_EQ(device_->resolver().enqueued(), 1);
  EXPECT_THAT(device_->Read(bindings.buffers[0], 1), testing::IsOkAndHolds(ElementsAre(50)));
}

TEST_P(RunPlanTest, RowsAreFilledAndTheGapsStay) {
  TestGraph graph;
  const BufferIndex x = graph.Shared(8);
  graph.FillRows(x, 9, 2, 2, 4, 0);
  const Bindings bindings = device_->Bind(graph);
  ASSERT_OK(device_->Write(bindings.buffers[0], {1, 2, 3, 4, 5, 6, 7, 8}));
  ASSERT_OK(Run(graph, bindings));
  EXPECT_THAT(device_->Read(bindings.buffers[0], 8),
              testing::IsOkAndHolds(ElementsAre(9, 9, 3, 4, 9, 9, 7, 8)));
}

TEST_P(RunPlanTest, BoxesAreCopied) {
  TestGraph graph;
  const BufferIndex x = graph.Shared(8), y = graph.Shared(4);
  graph.CopyBox(x, y, 2, 2, 4, 0);
  const Bindings bindings = device_->Bind(graph);
  ASSERT_OK(device_->Write(bindings.buffers[0], {1, 2, 3, 4, 5, 6, 7, 8}));
  ASSERT_OK(Run(graph, bindings));
  EXPECT_THAT(device_->Read(bindings.buffers[1], 4),
              testing::IsOkAndHolds(ElementsAre(1, 2, 5, 6)));
}

TEST_P(RunPlanTest, KernelsAndCopiesReachPinnedAndManagedBuffers) {
  TestGraph graph;
  const BufferIndex x = graph.Pinned(2), y = graph.Managed(2), z = graph.Shared(2);
  graph.Advise(y, 0);
  graph.Fill(x, 1, 4, 0);
  graph.Kernel("affine", x, 2, 3, 0);
  graph.Copy(x, y, 0);
  graph.Kernel("affine", y, 10, 0, 0);
  graph.Copy(y, z, 0);
  const Bindings bindings = device_->Bind(graph);
  ASSERT_OK(GiveAdvice(device_->Input(graph, bindings)));
  ASSERT_OK(Run(graph, bindings));
  EXPECT_THAT(device_->Read(bindings.buffers[2], 2), testing::IsOkAndHolds(ElementsAre(50, 50)));
}

// No graph has a node for one: the planner gives such jobs to streams.
TEST_P(RunPlanTest, APrefetchRunsInStreams) {
  if (GetParam() == Way::kGraph) GTEST_SKIP() << "prefetches are never planned into graphs";
  TestGraph graph;
  const BufferIndex x = graph.Managed(2);
  graph.Fill(x, 1, 4, 0);
  graph.Prefetch(x, 0);
  const Bindings bindings = device_->Bind(graph);
  EXPECT_OK(Run(graph, bindings));
}

TEST_P(RunPlanTest, AnEventEdgeOrdersTwoLanes) {
  TestGraph graph;
  const BufferIndex x = graph.Shared(2);
  const BufferIndex y = graph.Shared(2);
  const NodeIndex slow = graph.Kernel("slow_affine", x, 1, 7, 0);
  graph.Copy(x, y, 1, {slow});
  const Bindings bindings = device_->Bind(graph);
  ASSERT_OK(device_->Write(bindings.buffers[0], {1, 2}));
  ASSERT_OK(Run(graph, bindings));
  EXPECT_THAT(device_->Read(bindings.buffers[1], 2), testing::IsOkAndHolds(ElementsAre(8, 9)));
}

TEST_P(RunPlanTest, LanesWithoutAnEdgeRunAtTheSameTime) {
  TestGraph graph;
  const BufferIndex counter = graph.Shared(1);
  for (uint32_t lane = 0; lane < 3; ++lane) graph.Kernel("meet", counter, 3, 0, lane);
  const Bindings bindings = device_->Bind(graph);
  ASSERT_OK(device_->Write(bindings.buffers[0], {0}));
  ASSERT_OK(Run(graph, bindings));
  EXPECT_THAT(device_->Read(bindings.buffers[0], 1), testing::IsOkAndHolds(ElementsAre(3)));
}

TEST_P(RunPlanTest, PhasesOfAKernelRunOneAfterAnother) {
  TestGraph graph;
  const BufferIndex x = graph.Shared(1);
  const BufferIndex y = graph.Shared(1);
  const NodeIndex kernel = graph.Kernel("slow_affine", x, 3, 1, 0, {}, /*phases=*/4);
  graph.Copy(x, y, 1, {kernel});  // waits for the last phase
  const Bindings bindings = device_->Bind(graph);
  ASSERT_OK(device_->Write(bindings.buffers[0], {0}));
  ASSERT_OK(Run(graph, bindings));
  EXPECT_THAT(device_->Read(bindings.buffers[1], 1), testing::IsOkAndHolds(ElementsAre(40)));
}

TEST_P(RunPlanTest, ANodeOnZeroBytesKeepsTheOrder) {
  TestGraph graph;
  const BufferIndex x = graph.Shared(1);
  const BufferIndex y = graph.Shared(1);
  const NodeIndex slow = graph.Kernel("slow_affine", x, 1, 5, 0);
  const NodeIndex nothing = graph.NoOp(1, {slow});
  const NodeIndex empty = graph.Empty(2, {nothing});
  graph.Copy(x, y, 3, {empty});
  const Bindings bindings = device_->Bind(graph);
  ASSERT_OK(device_->Write(bindings.buffers[0], {0}));
  ASSERT_OK(Run(graph, bindings));
  EXPECT_THAT(device_->Read(bindings.buffers[1], 1), testing::IsOkAndHolds(ElementsAre(5)));
}

TEST_P(RunPlanTest, UploadsAndDownloadsUseTheirPlaceInTheStagingArea) {
  TestGraph graph;
  const BufferIndex a = graph.Scratch(3);
  const BufferIndex b = graph.Scratch(3);
  const NodeIndex upload_a = graph.Upload(a, 0);
  const NodeIndex upload_b = graph.Upload(b, 1);
  graph.Kernel("affine", a, -1, 0, 0);
  const NodeIndex download_a = graph.Download(a, 0);
  const NodeIndex download_b = graph.Download(b, 1);
  const Bindings bindings = device_->Bind(graph);
  const std::vector<int32_t> bytes_a = {1, 2, 3}, bytes_b = {4, 5, 6};
  std::memcpy(device_->StagingAt(graph.StagingOffset(upload_a)), bytes_a.data(), 12);
  std::memcpy(device_->StagingAt(graph.StagingOffset(upload_b)), bytes_b.data(), 12);
  ASSERT_OK(Run(graph, bindings));
  std::vector<int32_t> out_a(3), out_b(3);
  std::memcpy(out_a.data(), device_->StagingAt(graph.StagingOffset(download_a)), 12);
  std::memcpy(out_b.data(), device_->StagingAt(graph.StagingOffset(download_b)), 12);
  EXPECT_THAT(out_a, ElementsAre(-1, -2, -3));
  EXPECT_THAT(out_b, ElementsAre(4, 5, 6));
}

// What a host output tells, and whether its bytes are there by then.
struct Told {
  const int32_t* bytes = nullptr;
  std::vector<int32_t> seen;
};

TEST_P(RunPlanTest, AHostOutputIsToldBehindItsCopy) {
  TestGraph graph;
  const BufferIndex x = graph.Shared(1);
  graph.Fill(x, 7, 4, 0);
  const NodeIndex output = graph.HostOutput(x, 0);
  graph.Fill(x, 9, 4, 1, {output});
  Bindings bindings = device_->Bind(graph);
  Told told{.bytes = static_cast<const int32_t*>(device_->StagingAt(graph.StagingOffset(output)))};
  const auto tell = [](void* data) {
    auto* const to = static_cast<Told*>(data);
    to->seen.push_back(*to->bytes);
  };
  bindings.output_ready = {{tell, &told}};
  ASSERT_OK(Run(graph, bindings));
  ASSERT_OK(Run(graph, bindings));
  EXPECT_THAT(told.seen, ElementsAre(7, 7));
  EXPECT_THAT(device_->Read(bindings.buffers[0], 1), testing::IsOkAndHolds(ElementsAre(9)));
}

TEST_P(RunPlanTest, AHostOutputOfNoBytesIsTold) {
  TestGraph graph;
  const BufferIndex x = graph.Shared(1);
  ir::View none = graph.WholeOf(x);
  none.range.size = 0;
  graph.Node(ir::DownloadOp{none, 0, ir::Delivery::kWhenReady}, 0);
  Bindings bindings = device_->Bind(graph);
  int calls = 0;
  bindings.output_ready = {{[](void* count) { ++*static_cast<int*>(count); }, &calls}};
  ASSERT_OK(Run(graph, bindings));
  EXPECT_EQ(calls, 1);
}

TEST_P(RunPlanTest, FillsRepeatPatternsOfOneTwoAndFourBytes) {
  TestGraph graph;
  const BufferIndex bytes = graph.Shared(2), halves = graph.Shared(2), words = graph.Shared(2);
  graph.Fill(bytes, 0x12, 1, 0);
  graph.Fill(halves, 0x1234, 2, 1);
  graph.Fill(words, 0x12345678, 4, 0);
  const Bindings bindings = device_->Bind(graph);
  ASSERT_OK(Run(graph, bindings));
  EXPECT_THAT(device_->Read(bindings.buffers[0], 2), testing::IsOkAndHolds(Each(0x12121212)));
  EXPECT_THAT(device_->Read(bindings.buffers[1], 2), testing::IsOkAndHolds(Each(0x12341234)));
  EXPECT_THAT(device_->Read(bindings.buffers[2], 2), testing::IsOkAndHolds(Each(0x12345678)));
}

TEST_P(RunPlanTest, WorkBehindTheRunWaitsForEveryLane) {
  TestGraph graph;
  const BufferIndex x = graph.Shared(1);
  graph.Empty(0);
  graph.Kernel("slow_affine", x, 0, 9, 1);  // nothing in the plan waits for it
  const Bindings bindings = device_->Bind(graph);
  ASSERT_OK(device_->Write(bindings.buffers[0], {0}));
  ASSERT_OK(Run(graph, bindings));  // waits for the stream alone
  EXPECT_THAT(device_->Read(bindings.buffers[0], 1), testing::IsOkAndHolds(ElementsAre(9)));
}

TEST_P(RunPlanTest, AMissingKernelIsReportedWithItsNode) {
  TestGraph graph;
  const BufferIndex x = graph.Shared(1);
  graph.Empty(0);
  graph.Kernel("no_such_kernel", x, 1, 0, 0);
  EXPECT_THAT(Run(graph, device_->Bind(graph)),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("node \"kernel1\"")));
}

TEST_P(RunPlanTest, ALaunchThatTheDriverRefusesIsReportedWithItsNode) {
  TestGraph graph;
  const BufferIndex nothing = graph.Shared(0);
  graph.Kernel("affine", nothing, 1, 0, 0);  // a grid of zero blocks
  EXPECT_THAT(Run(graph, device_->Bind(graph)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("node \"kernel0\"")));
}

TEST_P(RunPlanTest, ALongChainNeedsNoStack) {
  TestGraph graph;
  const BufferIndex x = graph.Shared(1);
  graph.Kernel("affine", x, 0, 1, 0);
  constexpr int kLength = 2000;
  for (int i = 0; i < kLength; ++i) graph.Kernel("affine", x, 1, 1, 0);
  const Bindings bindings = device_->Bind(graph);
  ASSERT_OK(Run(graph, bindings));
  EXPECT_THAT(device_->Read(bindings.buffers[0], 1),
              testing::IsOkAndHolds(ElementsAre(kLength + 1)));
}

std::string WayName(const ::testing::TestParamInfo<Way>& way) {
  switch (way.param) {
    case Way::kGraph:
      return "Graph";
    case Way::kStreams:
      return "Streams";
    case Way::kTimedStreams:
      break;
  }
  return "TimedStreams";
}

INSTANTIATE_TEST_SUITE_P(Ways, RunPlanTest,
                         ::testing::Values(Way::kGraph, Way::kStreams, Way::kTimedStreams),
                         WayName);

}  // namespace
}  // namespace weft::build
