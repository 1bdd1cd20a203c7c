// Graphs: every kind of node, their order, launches.

#include "cuda/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "cuda/status.h"
#include "tests/conformance/conformance_test.h"

namespace weft::conformance {
namespace {

using ::testing::AnyOf;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::IsOk;
using testing::IsOkAndHolds;
using ::testing::Not;
using ::testing::SizeIs;
using testing::StatusIs;
using ::testing::UnorderedElementsAre;

class GraphConformance : public OneGraphTest {
 protected:
  // A node that appends `value` to the log.
  absl::StatusOr<cuda::NodeRef> AddAppend(uint32_t value, cuda::Dependencies dependencies) {
    return AddRun(*graph_, dependencies, "append", log(), value);
  }
  cuda::MemsetNode FillOfOneWord(CUdeviceptr address, uint32_t value) const {
    return {.destination = address,
            .pattern = {.value = value, .element_size = 4},
            .width = 1,
            .height = 1,
            .pitch_bytes = 0};
  }

  CUdeviceptr log() const { return memory_->address(1 << 20); }
  CUdeviceptr words() const { return memory_->address(); }
};

TEST_F(GraphConformance, EmptyGraphRuns) { EXPECT_OK(RunOnce()); }

TEST_F(GraphConformance, ChainRunsInOrder) {
  std::vector<cuda::NodeRef> last;
  std::vector<uint32_t> expected;
  for (uint32_t i = 0; i < 300; ++i) {
    ASSERT_OK_AND_ASSIGN(const cuda::NodeRef node, AddAppend(i, last));
    last = {node};
    expected.push_back(i);
  }
  ASSERT_OK(RunOnce());
  EXPECT_EQ(ReadLog(log()), expected);
}

TEST_F(GraphConformance, JoinRunsAfterAllItsBranches) {
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef root, AddAppend(1, {}));
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef slow,
                       AddRun(*graph_, {root}, "spin", uint64_t{3'000'000}));
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef left, AddAppend(2, {slow}));
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef right, AddAppend(3, {root}));
  ASSERT_OK(AddAppend(4, {left, right}));
  ASSERT_OK(RunOnce());
  // The branches may take any order between root and join.
  EXPECT_THAT(ReadLog(log()), AnyOf(ElementsAre(1, 3, 2, 4), ElementsAre(1, 2, 3, 4)));
}

// Each branch waits until it sees the other one running.
TEST_F(GraphConformance, BranchesRunAtTheSameTime) {
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef root, graph_->AddEmpty({}));
  for (const uint32_t self : {0u, 1u}) {
    ASSERT_OK(AddRun(*graph_, {root}, "rendezvous", words(), self, 1 - self, kMeetTimeoutNs,
                     words() + 64));
  }
  ASSERT_OK(RunOnce());
  EXPECT_THAT(Read<uint32_t>(words() + 64, 2), ElementsAre(1, 1));
}

TEST_F(GraphConformance, WideGraphRunsEveryBranch) {
  constexpr uint32_t kBranches = 200;
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef root, AddAppend(0, {}));
  std::vector<cuda::NodeRef> branches;
  for (uint32_t i = 1; i <= kBranches; ++i) {
    ASSERT_OK_AND_ASSIGN(const cuda::NodeRef node, AddAppend(i, {root}));
    branches.push_back(node);
  }
  ASSERT_OK(AddAppend(kBranches + 1, branches));
  ASSERT_OK(RunOnce());
  std::vector<uint32_t> log_seen = ReadLog(log());
  ASSERT_THAT(log_seen, SizeIs(kBranches + 2));
  EXPECT_EQ(log_seen.front(), 0u);
  EXPECT_EQ(log_seen.back(), kBranches + 1);
  std::sort(log_seen.begin(), log_seen.end());
  std::vector<uint32_t> expected(kBranches + 2);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(log_seen, expected);
}

TEST_F(GraphConformance, ParametersAreCopiedWhenANodeIsAdded) {
  CUdeviceptr address = log();
  uint32_t value = 5;
  void* params[] = {&address, &value};
  ASSERT_OK(graph_->AddKernel({.function = Kernel("append"),
                               .grid = {},
                               .block = {},
                               .dynamic_shared_bytes = 0,
                               .params = params},
                              {}));
  value = 6;
  address = 0;
  ASSERT_OK(RunOnce());
  EXPECT_THAT(ReadLog(log()), ElementsAre(5));
}

TEST_F(GraphConformance, CopiesInEveryDirection) {
  PinnedPage page(context());
  page.words()[0] = 31;
  std::vector<uint64_t> pageable = {0};
  constexpr size_t kBytes = sizeof(uint64_t);
  ASSERT_OK_AND_ASSIGN(
      const cuda::NodeRef up,
      graph_->AddMemcpy({.destination = words(), .source = page.address(), .size_bytes = kBytes},
                        {}));
  ASSERT_OK_AND_ASSIGN(
      const cuda::NodeRef across,
      graph_->AddMemcpy({.destination = words() + 4096, .source = words(), .size_bytes = kBytes},
                        {up}));
  ASSERT_OK(graph_->AddMemcpy(
      {.destination = page.address() + 8, .source = words() + 4096, .size_bytes = kBytes},
      {across}));
  ASSERT_OK(graph_->AddMemcpy({.destination = cuda::HostAddress(pageable.data()),
                               .source = words() + 4096,
                               .size_bytes = kBytes},
                              {across}));
  ASSERT_OK(RunOnce());
  EXPECT_EQ(page.words()[1], 31u);
  EXPECT_EQ(pageable[0], 31u);
}

TEST_F(GraphConformance, CopiesReadTheHostAtEveryLaunch) {
  PinnedPage page(context());
  ASSERT_OK(
      graph_->AddMemcpy({.destination = words(), .source = page.address(), .size_bytes = 8}, {}));
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, graph_->Instantiate());
  for (const uint64_t value : {1u, 2u}) {
    page.words()[0] = value;
    ASSERT_OK(exec.Launch(stream_->ref()));
    ASSERT_OK(stream_->ref().Synchronize());
    EXPECT_EQ(ReadOne<uint64_t>(words()), value);
  }
}

TEST_F(GraphConformance, FillsOneTwoAndFourByteElements) {
  const std::vector<cuda::MemsetNode> fills = {
      {words() + 1, {.value = 0xAB, .element_size = 1}, 2},
      {words() + 4, {.value = 0xBEEF, .element_size = 2}, 1},
      {words() + 8, {.value = 0x01020304, .element_size = 4}, 1},
  };
  for (const cuda::MemsetNode& fill : fills) ASSERT_OK(graph_->AddMemset(fill, {}));
  ASSERT_OK(RunOnce());
  EXPECT_THAT(Read<uint8_t>(words(), 13),
              ElementsAre(0, 0xAB, 0xAB, 0, 0xEF, 0xBE, 0, 0, 4, 3, 2, 1, 0));
}

TEST_F(GraphConformance, FillOfRowsLeavesTheGaps) {
  ASSERT_OK(graph_->AddMemset({.destination = words(),
                               .pattern = {.value = 0x0707, .element_size = 2},
                               .width = 2,
                               .height = 3,
                               .pitch_bytes = 512},
                              {}));
  ASSERT_OK(RunOnce());
  const auto bytes = Read<uint8_t>(words(), 3 * 512);
  for (size_t i = 0; i < bytes.size(); ++i) ASSERT_EQ(bytes[i], i % 512 < 4 ? 7 : 0) << i;
}

TEST_F(GraphConformance, ElementOfThreeBytesIsInvalid) {
  const auto node = graph_->AddMemset({words(), {.value = 1, .element_size = 3}, 1}, {});
  EXPECT_EQ(cuda::ResultOf(node.status()), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphConformance, DependencyOnAnotherGraphsNodeIsInvalid) {
  ASSERT_OK_AND_ASSIGN(cuda::Graph other, cuda::Graph::Create(context()));
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef foreign, other.AddEmpty({}));
  const auto node = graph_->AddEmpty({foreign});
  EXPECT_EQ(cuda::ResultOf(node.status()), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphConformance, HostNodeRunsBetweenItsNeighbours) {
  PinnedPage page(context());
  page.words()[0] = 100;
  const auto add_one = [](void* word) { *static_cast<uint64_t*>(word) += 1; };
  ASSERT_OK_AND_ASSIGN(
      const cuda::NodeRef before,
      graph_->AddMemcpy({.destination = words(), .source = page.address(), .size_bytes = 8}, {}));
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef host,
                       graph_->AddHost({.function = add_one, .user_data = page.words()}, {before}));
  ASSERT_OK(graph_->AddMemcpy(
      {.destination = words() + 8, .source = page.address(), .size_bytes = 8}, {host}));
  ASSERT_OK(RunOnce());
  EXPECT_THAT(Read<uint64_t>(words(), 2), ElementsAre(100, 101));
}

TEST_F(GraphConformance, ChildRunsWholeBetweenItsNeighbours) {
  ASSERT_OK_AND_ASSIGN(cuda::Graph child, cuda::Graph::Create(context()));
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef inner, AddRun(child, {}, "append", log(), uint32_t{2}));
  ASSERT_OK(AddRun(child, {inner}, "append", log(), uint32_t{3}));
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef first, AddAppend(1, {}));
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef middle, graph_->AddChild(child, {first}));
  ASSERT_OK(AddAppend(4, {middle}));
  // The child was copied: what happens to it now does not matter.
  ASSERT_OK(AddRun(child, {}, "append", log(), uint32_t{9}));
  ASSERT_OK(RunOnce());
  EXPECT_THAT(ReadLog(log()), ElementsAre(1, 2, 3, 4));
}

TEST_F(GraphConformance, EventRecordedInAGraphHoldsAnotherStream) {
  ASSERT_OK_AND_ASSIGN(const cuda::Event event,
                       cuda::Event::Create(context(), cuda::EventTiming::kDisabled));
  const cuda::Stream other = MakeStream();
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef spin, AddRun(*graph_, {}, "spin", uint64_t{3'000'000}));
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef first, AddAppend(1, {spin}));
  ASSERT_OK(graph_->AddEventRecord(event.ref(), {first}));
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, graph_->Instantiate());
  ASSERT_OK(exec.Launch(stream_->ref()));
  ASSERT_OK(other.ref().Wait(event.ref()));
  ASSERT_OK(Run(other.ref(), "append", log(), uint32_t{2}));
  ASSERT_OK(context().Synchronize());
  EXPECT_THAT(ReadLog(log()), ElementsAre(1, 2));
}

TEST_F(GraphConformance, EventWaitNodeWaitsForAnotherStream) {
  ASSERT_OK_AND_ASSIGN(const cuda::Event event,
                       cuda::Event::Create(context(), cuda::EventTiming::kDisabled));
  const cuda::Stream other = MakeStream();
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef wait, graph_->AddEventWait(event.ref(), {}));
  ASSERT_OK(AddAppend(2, {wait}));
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, graph_->Instantiate());
  Gate gate(context());
  ASSERT_OK(gate.Hold(other.ref()));
  ASSERT_OK(Run(other.ref(), "append", log(), uint32_t{1}));
  ASSERT_OK(other.ref().Record(event.ref()));
  ASSERT_OK(exec.Launch(stream_->ref()));
  EXPECT_THAT(stream_->ref().Query(), IsOkAndHolds(false));
  gate.Open();
  ASSERT_OK(stream_->ref().Synchronize());
  EXPECT_THAT(ReadLog(log()), ElementsAre(1, 2));
}

TEST_F(GraphConformance, LaunchKeepsItsPlaceInTheStream) {
  ASSERT_OK(AddAppend(2, {}));
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, graph_->Instantiate());
  ASSERT_OK(Run(stream_->ref(), "spin", uint64_t{2'000'000}));
  ASSERT_OK(Run(stream_->ref(), "append", log(), uint32_t{1}));
  ASSERT_OK(exec.Launch(stream_->ref()));
  ASSERT_OK(Run(stream_->ref(), "append", log(), uint32_t{3}));
  ASSERT_OK(stream_->ref().Synchronize());
  EXPECT_THAT(ReadLog(log()), ElementsAre(1, 2, 3));
}

// Two runs of "increment" at the same time would lose counts.
TEST_F(GraphConformance, LaunchesOfOneExecutableNeverOverlap) {
  ASSERT_OK(AddRun(*graph_, {}, "increment", words(), uint64_t{200'000}));
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, graph_->Instantiate());
  const cuda::Stream other = MakeStream();
  constexpr uint64_t kRounds = 10;
  for (uint64_t i = 0; i < kRounds; ++i) {
    ASSERT_OK(exec.Launch(stream_->ref()));
    ASSERT_OK(exec.Launch(other.ref()));
  }
  ASSERT_OK(context().Synchronize());
  EXPECT_EQ(ReadOne<uint64_t>(words()), 2 * kRounds);
}

TEST_F(GraphConformance, TwoExecutablesOfOneGraphAreIndependent) {
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef node, graph_->AddMemset(FillOfOneWord(words(), 1), {}));
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec first, graph_->Instantiate());
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec second, graph_->Instantiate());
  ASSERT_OK(second.UpdateMemset(node, FillOfOneWord(words() + 4, 2)));
  ASSERT_OK(first.Launch(stream_->ref()));
  ASSERT_OK(second.Launch(stream_->ref()));
  ASSERT_OK(stream_->ref().Synchronize());
  EXPECT_THAT(Read<uint32_t>(words(), 2), ElementsAre(1, 2));
}

TEST_F(GraphConformance, ExecutableOutlivesItsGraph) {
  ASSERT_OK(AddAppend(8, {}));
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, graph_->Instantiate());
  graph_.reset();
  ASSERT_OK(exec.Upload(stream_->ref()));
  ASSERT_OK(exec.Launch(stream_->ref()));
  ASSERT_OK(stream_->ref().Synchronize());
  EXPECT_THAT(ReadLog(log()), ElementsAre(8));
}

TEST_F(GraphConformance, DestroyedExecutableFinishesItsLaunch) {
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef spin, AddRun(*graph_, {}, "spin", uint64_t{3'000'000}));
  ASSERT_OK(AddAppend(6, {spin}));
  {
    ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, graph_->Instantiate());
    ASSERT_OK(exec.Launch(stream_->ref()));
  }
  ASSERT_OK(stream_->ref().Synchronize());
  EXPECT_THAT(ReadLog(log()), ElementsAre(6));
}

TEST_F(GraphConformance, NodesAddedAfterInstantiationAreNotRun) {
  ASSERT_OK(AddAppend(1, {}));
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, graph_->Instantiate());
  ASSERT_OK(AddAppend(2, {}));
  ASSERT_OK(exec.Launch(stream_->ref()));
  ASSERT_OK(stream_->ref().Synchronize());
  EXPECT_THAT(ReadLog(log()), ElementsAre(1));
}

TEST_F(GraphConformance, KernelsRunWithAPriorityOfTheirOwn) {
  ASSERT_OK_AND_ASSIGN(const cuda::PriorityRange range, cuda::StreamPriorityRange(context()));
  std::vector<cuda::NodeRef> nodes;
  for (uint32_t i = 0; i < 4; ++i) {
    KernelCall call(Kernel("append"), {1, 1, 1}, {1, 1, 1}, log(), i);
    call.launch().attributes.priority = i % 2 == 0 ? range.least : range.greatest;
    ASSERT_OK_AND_ASSIGN(const cuda::NodeRef node, graph_->AddKernel(call.launch(), nodes));
    nodes = {node};
  }
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, graph_->Instantiate(cuda::NodePriorities::kOwn));
  ASSERT_OK(exec.Launch(stream_->ref()));
  ASSERT_OK(stream_->ref().Synchronize());
  EXPECT_THAT(ReadLog(log()), ElementsAre(0, 1, 2, 3));
}

TEST_F(GraphConformance, AClusterThatIsTooLargeIsRefused) {
  KernelCall call(Kernel("append"), {16, 1, 1}, {1, 1, 1}, log(), uint32_t{1});
  call.launch().attributes.cluster = {16, 1, 1};
  const auto node = graph_->AddKernel(call.launch(), {});
  EXPECT_TRUE(!node.ok() || !graph_->Instantiate().ok());
}

}  // namespace
}  // namespace weft::conformance
