// Changing an instantiated graph: one node's parameters, and all of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "cuda/graph.h"
#include "cuda/status.h"
#include "tests/conformance/conformance_test.h"

namespace weft::conformance {
namespace {

using ::testing::ElementsAre;
using testing::StatusIs;

class GraphUpdateConformance : public KernelTest {
 protected:
  static cuda::MemsetNode Fill(CUdeviceptr address, uint32_t value) {
    return {address, {.value = value, .element_size = 4}, 1};
  }
  absl::Status LaunchAndWait(cuda::GraphExec& exec) const {
    const cuda::Stream stream = MakeStream();
    WEFT_RETURN_IF_ERROR(exec.Launch(stream.ref()));
    return stream.ref().Synchronize();
  }
  // A graph with one node that appends `value` to the log.
  absl::StatusOr<cuda::Graph> AppendGraph(CUdeviceptr log, uint32_t value) const {
    WEFT_ASSIGN_OR_RETURN(cuda::Graph graph, cuda::Graph::Create(context()));
    WEFT_RETURN_IF_ERROR(AddRun(graph, {}, "append", log, value).status());
    return graph;
  }
};

TEST_F(GraphUpdateConformance, KernelTakesNewParameters) {
  const DeviceBuffer log = MakeBuffer();
  ASSERT_OK_AND_ASSIGN(cuda::Graph graph, cuda::Graph::Create(context()));
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef node,
                       AddRun(graph, {}, "append", log.address(), uint32_t{1}));
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, graph.Instantiate());
  ASSERT_OK(LaunchAndWait(exec));
  KernelCall call(Kernel("append"), {}, {}, log.address(), uint32_t{2});
  ASSERT_OK(exec.UpdateKernel(node, call.launch()));
  ASSERT_OK(LaunchAndWait(exec));
  ASSERT_OK(LaunchAndWait(exec));
  EXPECT_THAT(ReadLog(log.address()), ElementsAre(1, 2, 2));
}

TEST_F(GraphUpdateConformance, KernelTakesANewShape) {
  const DeviceBuffer out = MakeBuffer();
  ASSERT_OK_AND_ASSIGN(cuda::Graph graph, cuda::Graph::Create(context()));
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef node, AddRun(graph, {}, "launch_shape", out.address()));
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, graph.Instantiate());
  KernelCall call(Kernel("launch_shape"), {4, 1, 1}, {32, 1, 1}, out.address());
  ASSERT_OK(exec.UpdateKernel(node, call.launch()));
  ASSERT_OK(LaunchAndWait(exec));
  EXPECT_THAT(Read<uint32_t>(out.address(), 8), ElementsAre(4, 1, 1, 32, 1, 1, 0, 128));
}

TEST_F(GraphUpdateConformance, CopyTakesNewAddressesAndSize) {
  const DeviceBuffer memory = MakeBuffer();
  ASSERT_OK(Write(memory.address(), std::vector<uint32_t>{1, 2, 3, 4}));
  ASSERT_OK_AND_ASSIGN(cuda::Graph graph, cuda::Graph::Create(context()));
  ASSERT_OK_AND_ASSIGN(
      const cuda::NodeRef node,
      graph.AddMemcpy(
          {.destination = memory.address(64), .source = memory.address(), .size_bytes = 4}, {}));
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, graph.Instantiate());
  ASSERT_OK(exec.UpdateMemcpy(
      node, {.destination = memory.address(128), .source = memory.address(4), .size_bytes = 12}));
  ASSERT_OK(LaunchAndWait(exec));
  EXPECT_EQ(ReadOne<uint32_t>(memory.address(64)), 0u);
  EXPECT_THAT(Read<uint32_t>(memory.address(128), 4), ElementsAre(2, 3, 4, 0));
}

TEST_F(GraphUpdateConformance, CopyFromTheHostTakesANewSource) {
  const DeviceBuffer memory = MakeBuffer();
  PinnedPage page(context());
  page.words()[0] = 1;
  page.words()[1] = 2;
  ASSERT_OK_AND_ASSIGN(cuda::Graph graph, cuda::Graph::Create(context()));
  ASSERT_OK_AND_ASSIGN(
      const cuda::NodeRef node,
      graph.AddMemcpy({.destination = memory.address(), .source = page.address(), .size_bytes = 8},
                      {}));
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, graph.Instantiate());
  ASSERT_OK(exec.UpdateMemcpy(
      node, {.destination = memory.address(64), .source = page.address() + 8, .size_bytes = 8}));
  ASSERT_OK(LaunchAndWait(exec));
  EXPECT_EQ(ReadOne<uint64_t>(memory.address()), 0u);
  EXPECT_EQ(ReadOne<uint64_t>(memory.address(64)), 2u);
}

TEST_F(GraphUpdateConformance, FillTakesNewAddressAndValue) {
  const DeviceBuffer memory = MakeBuffer();
  ASSERT_OK_AND_ASSIGN(cuda::Graph graph, cuda::Graph::Create(context()));
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef node, graph.AddMemset(Fill(memory.address(), 1), {}));
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, graph.Instantiate());
  ASSERT_OK(exec.UpdateMemset(node, Fill(memory.address(4), 2)));
  ASSERT_OK(LaunchAndWait(exec));
  EXPECT_THAT(Read<uint32_t>(memory.address(), 2), ElementsAre(0, 2));
}

TEST_F(GraphUpdateConformance, EnqueuedLaunchKeepsItsParameters) {
  const DeviceBuffer log = MakeBuffer();
  ASSERT_OK_AND_ASSIGN(cuda::Graph graph, cuda::Graph::Create(context()));
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef node,
                       AddRun(graph, {}, "append", log.address(), uint32_t{1}));
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, graph.Instantiate());
  const cuda::Stream stream = MakeStream();
  Gate gate(context());
  ASSERT_OK(gate.Hold(stream.ref()));
  ASSERT_OK(exec.Launch(stream.ref()));
  KernelCall call(Kernel("append"), {}, {}, log.address(), uint32_t{2});
  ASSERT_OK(exec.UpdateKernel(node, call.launch()));
  ASSERT_OK(exec.Launch(stream.ref()));
  gate.Open();
  ASSERT_OK(stream.ref().Synchronize());
  EXPECT_THAT(ReadLog(log.address()), ElementsAre(1, 2));
}

TEST_F(GraphUpdateConformance, WholeGraphOfTheSameShapeIsTaken) {
  const DeviceBuffer log = MakeBuffer();
  ASSERT_OK_AND_ASSIGN(const cuda::Graph first, AppendGraph(log.address(), 1));
  ASSERT_OK_AND_ASSIGN(const cuda::Graph second, AppendGraph(log.address(), 2));
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, first.Instantiate());
  ASSERT_OK(exec.Update(second));
  ASSERT_OK(LaunchAndWait(exec));
  EXPECT_THAT(ReadLog(log.address()), ElementsAre(2));
}

TEST_F(GraphUpdateConformance, WholeGraphOfAnotherShapeIsRefused) {
  const DeviceBuffer log = MakeBuffer();
  ASSERT_OK_AND_ASSIGN(const cuda::Graph first, AppendGraph(log.address(), 1));
  ASSERT_OK_AND_ASSIGN(cuda::Graph second, AppendGraph(log.address(), 2));
  ASSERT_OK(AddRun(second, {}, "append", log.address(), uint32_t{3}));
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, first.Instantiate());
  EXPECT_THAT(exec.Update(second), StatusIs(absl::StatusCode::kFailedPrecondition));
  ASSERT_OK(LaunchAndWait(exec));
  EXPECT_THAT(ReadLog(log.address()), ElementsAre(1)) << "the executable must stay as it was";
}

TEST_F(GraphUpdateConformance, NodeOfAnotherKindIsRefused) {
  const DeviceBuffer memory = MakeBuffer();
  ASSERT_OK_AND_ASSIGN(cuda::Graph graph, cuda::Graph::Create(context()));
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef node, graph.AddEmpty({}));
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, graph.Instantiate());
  EXPECT_THAT(exec.UpdateMemset(node, Fill(memory.address(), 1)),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace weft::conformance
