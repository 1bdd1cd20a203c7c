#include "graph/build/stream_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "cuda/driver.h"
#include "cuda/status.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/build/test_device.h"
#include "tests/unit/build/test_graph.h"

namespace weft::build {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::StatusIs;

// In place of functions of the driver.
struct RecordFault {
  decltype(cuda::Driver::cuEventRecord) real = nullptr;
  int fails_in = 0;  // calls, the failing one included
};
RecordFault& FaultOfRecord() {
  static RecordFault fault;
  return fault;
}
CUresult CUDAAPI RecordThatFails(CUevent event, CUstream stream) {
  RecordFault& fault = FaultOfRecord();
  return --fault.fails_in == 0 ? CUDA_ERROR_OUT_OF_MEMORY : fault.real(event, stream);
}
CUresult CUDAAPI SynchronizeThatFails(CUstream) { return CUDA_ERROR_LAUNCH_FAILED; }

class StreamRunnerTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(device_, TestDevice::Create()); }

  std::unique_ptr<StreamRunner> Make(TestGraph& graph, const Bindings& bindings, Timing timing) {
    auto runner = StreamRunner::Create(device_->Input(graph, bindings), timing);
    EXPECT_OK(runner);
    return runner.ok() ? *std::move(runner) : nullptr;
  }

  // Three lanes, of which the two behind the first are late.
  Bindings MakeLateLanes(TestGraph& graph) {
    const BufferIndex x = graph.Shared(1), y = graph.Shared(1);
    graph.Empty(0);
    graph.Kernel("slow_affine", x, 0, 7, 1);
    graph.Kernel("slow_affine", y, 0, 8, 2);
    return device_->Bind(graph);
  }
  // Run's `call`-th mark of an event fails: the first is that of the start, the next are the joins.
  void FailRecord(int call) {
    cuda::Driver& driver = device_->driver();
    FaultOfRecord() = {std::exchange(driver.cuEventRecord, &RecordThatFails), call};
  }
  void MendRecord() { device_->driver().cuEventRecord = FaultOfRecord().real; }

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

TEST_F(StreamRunnerTest, WorkBehindARunWaitsForEveryLaneAlsoWhenOneCannotBeJoined) {
  for (const int call : {2, 3}) {
    TestGraph graph;
    const Bindings bindings = MakeLateLanes(graph);
    const auto runner = Make(graph, bindings, Timing::kNone);
    FailRecord(call);
    EXPECT_THAT(runner->Run(device_->stream()), StatusIs(absl::StatusCode::kResourceExhausted));
    ASSERT_OK(device_->stream().Synchronize());
    EXPECT_THAT(device_->Read(bindings.buffers[0], 1), testing::IsOkAndHolds(ElementsAre(7)));
    EXPECT_THAT(device_->Read(bindings.buffers[1], 1), testing::IsOkAndHolds(ElementsAre(8)));
    MendRecord();
  }
}

TEST_F(StreamRunnerTest, ALaneThatCannotBeWaitedForIsTheErrorThatIsReported) {
  TestGraph graph;
  const Bindings bindings = MakeLateLanes(graph);
  const auto runner = Make(graph, bindings, Timing::kNone);
  FailRecord(2);
  const auto real_synchronize =
      std::exchange(device_->driver().cuStreamSynchronize, &SynchronizeThatFails);
  EXPECT_TRUE(cuda::IsContextFatal(runner->Run(device_->stream())));
  device_->driver().cuStreamSynchronize = real_synchronize;
  MendRecord();
  ASSERT_OK(device_->context().Synchronize());  // before the memory goes
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
