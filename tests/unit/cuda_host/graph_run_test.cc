#include "cuda/host/graph_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include "cuda/host/event.h"
#include "cuda/host/graph.h"
#include "cuda/host/graph_exec.h"
#include "tests/unit/cuda_host/test_device.h"

namespace weft::hostcuda {
namespace {

using ::testing::ElementsAre;

uint32_t Add(Graph& graph, NodeSpec spec) {
  uint32_t index = 0;
  EXPECT_EQ(graph.Add(std::move(spec), &index), CUDA_SUCCESS);
  return index;
}

uint32_t AddAction(Graph& graph, ActionPtr action, std::vector<uint32_t> dependencies = {}) {
  return Add(graph, {CU_GRAPH_NODE_TYPE_HOST, std::move(action), nullptr, nullptr,
                     std::move(dependencies)});
}

uint32_t AddEvent(Graph& graph, CUgraphNodeType type, std::shared_ptr<Event> event,
                  std::vector<uint32_t> dependencies = {}) {
  return Add(graph, {type, nullptr, std::move(event), nullptr, std::move(dependencies)});
}

uint32_t AddChild(Graph& graph, const Graph& child, std::vector<uint32_t> dependencies = {}) {
  return Add(graph, {CU_GRAPH_NODE_TYPE_GRAPH, nullptr, nullptr,
                     std::make_shared<const GraphBody>(child.Snapshot()), std::move(dependencies)});
}

class GraphRunTest : public ::testing::Test {
 protected:
  std::shared_ptr<GraphExec> Instantiate() { return GraphExec::Instantiate(graph_); }
  CUresult RunOnce() {
    const auto exec = Instantiate();
    const auto stream = device_.NonBlockingStream();
    EXPECT_EQ(LaunchGraph(*exec, stream), CUDA_SUCCESS);
    stream->Synchronize();
    return device_.context->fault();
  }
  // Appends `value` to order_, which no two nodes that are not ordered may do.
  ActionPtr Note(int value) {
    return Do([this, value] { order_.push_back(value); });
  }

  TestDevice device_;
  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::vector<int> order_;
};

TEST_F(GraphRunTest, ChainRunsInOrder) {
  uint32_t before = AddAction(*graph_, Note(0));
  for (int i = 1; i < 100; ++i) before = AddAction(*graph_, Note(i), {before});
  EXPECT_EQ(RunOnce(), CUDA_SUCCESS);
  ASSERT_EQ(order_.size(), 100u);
  EXPECT_TRUE(std::is_sorted(order_.begin(), order_.end()));
}

TEST_F(GraphRunTest, BranchesRunAtTheSameTime) {
  Rendezvous all(4);
  const uint32_t root = AddAction(*graph_, Do([] {}));
  std::vector<uint32_t> branches;
  for (int i = 0; i < 4; ++i) {
    branches.push_back(AddAction(*graph_, Do([&all] { all.Meet(); }), {root}));
  }
  AddAction(*graph_, Note(1), branches);
  EXPECT_EQ(RunOnce(), CUDA_SUCCESS);
  EXPECT_THAT(order_, ElementsAre(1));
}

TEST_F(GraphRunTest, RootsRunAtTheSameTime) {
  Rendezvous all(3);
  for (int i = 0; i < 3; ++i) AddAction(*graph_, Do([&all] { all.Meet(); }));
  EXPECT_EQ(RunOnce(), CUDA_SUCCESS);
}

TEST_F(GraphRunTest, NodeWaitsForAllItDependsOn) {
  std::atomic<int> done{0};
  std::vector<uint32_t> many;
  for (int i = 0; i < 200; ++i) many.push_back(AddAction(*graph_, Do([&done] { ++done; })));
  AddAction(*graph_, Do([&done] { EXPECT_EQ(done, 200); }), many);
  EXPECT_EQ(RunOnce(), CUDA_SUCCESS);
  EXPECT_EQ(done, 200);
}

TEST_F(GraphRunTest, EmptyGraphEnds) { EXPECT_EQ(RunOnce(), CUDA_SUCCESS); }

TEST_F(GraphRunTest, DependencyNamedTwiceIsRefused) {
  const uint32_t node = AddAction(*graph_, Note(1));
  uint32_t index = 0;
  EXPECT_EQ(
      graph_->Add({CU_GRAPH_NODE_TYPE_EMPTY, nullptr, nullptr, nullptr, {node, node}}, &index),
      CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphRunTest, ChildRunsBetweenItsNeighbours) {
  Graph inner;
  AddAction(inner, Note(2));
  Graph child;
  AddAction(child, Note(3), {AddChild(child, inner)});
  const uint32_t first = AddAction(*graph_, Note(1));
  const uint32_t middle = AddChild(*graph_, child, {first});
  AddAction(child, Note(99));  // after the copy
  AddAction(*graph_, Note(4), {middle});
  EXPECT_EQ(RunOnce(), CUDA_SUCCESS);
  EXPECT_THAT(order_, ElementsAre(1, 2, 3, 4));
}

TEST_F(GraphRunTest, EmptyChildKeepsTheOrder) {
  const uint32_t first = AddAction(*graph_, Note(1));
  AddAction(*graph_, Note(2), {AddChild(*graph_, Graph(), {first})});
  EXPECT_EQ(RunOnce(), CUDA_SUCCESS);
  EXPECT_THAT(order_, ElementsAre(1, 2));
}

TEST_F(GraphRunTest, ChildrenThatDoubleAtEachLevelAreRefused) {
  auto level = std::make_unique<Graph>();
  AddAction(*level, Note(0));
  CUresult result = CUDA_SUCCESS;
  for (int depth = 0; depth < 100 && result == CUDA_SUCCESS; ++depth) {
    auto next = std::make_unique<Graph>();
    const auto child = std::make_shared<const GraphBody>(level->Snapshot());
    uint32_t index = 0;
    for (int i = 0; i < 2 && result == CUDA_SUCCESS; ++i) {
      result = next->Add({CU_GRAPH_NODE_TYPE_GRAPH, nullptr, nullptr, child, {}}, &index);
    }
    level = std::move(next);
  }
  EXPECT_EQ(result, CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(GraphRunTest, LaunchesOfOneExecFollowEachOther) {
  std::atomic<int> inside{0};
  AddAction(*graph_, Do([&inside] {
    EXPECT_EQ(++inside, 1);
    --inside;
  }));
  const auto exec = Instantiate();
  const std::vector<std::shared_ptr<Stream>> streams = {
      device_.NonBlockingStream(), device_.NonBlockingStream(), device_.NonBlockingStream()};
  for (int i = 0; i < 300; ++i) ASSERT_EQ(LaunchGraph(*exec, streams[i % 3]), CUDA_SUCCESS);
  EXPECT_EQ(device_.context->Synchronize(), CUDA_SUCCESS);
}

TEST_F(GraphRunTest, LaunchIsOrderedInItsStream) {
  AddAction(*graph_, Note(2));
  const auto exec = Instantiate();
  const auto stream = device_.NonBlockingStream();
  ASSERT_EQ(Submit(stream, Note(1)), CUDA_SUCCESS);
  ASSERT_EQ(LaunchGraph(*exec, stream), CUDA_SUCCESS);
  ASSERT_EQ(Submit(stream, Note(3)), CUDA_SUCCESS);
  stream->Synchronize();
  EXPECT_THAT(order_, ElementsAre(1, 2, 3));
}

TEST_F(GraphRunTest, ExecOutlivesItsGraphAndALaunchItsExec) {
  Gate gate;
  AddAction(*graph_, Do([&] {
    gate.Pass();
    order_.push_back(1);
  }));
  auto exec = Instantiate();
  graph_.reset();
  const auto stream = device_.NonBlockingStream();
  ASSERT_EQ(LaunchGraph(*exec, stream), CUDA_SUCCESS);
  exec.reset();
  gate.Open();
  stream->Synchronize();
  EXPECT_THAT(order_, ElementsAre(1));
}

TEST_F(GraphRunTest, NewActionCountsFromTheNextLaunchOn) {
  Gate gate;
  const uint32_t node = AddAction(*graph_, Note(1));
  const auto exec = Instantiate();
  exec->Upload();
  const auto stream = device_.NonBlockingStream();
  ASSERT_EQ(Submit(stream, Do([&gate] { gate.Pass(); })), CUDA_SUCCESS);
  ASSERT_EQ(LaunchGraph(*exec, stream), CUDA_SUCCESS);
  ASSERT_EQ(exec->SetAction(node, CU_GRAPH_NODE_TYPE_HOST, Note(2)), CUDA_SUCCESS);
  ASSERT_EQ(LaunchGraph(*exec, stream), CUDA_SUCCESS);
  gate.Open();
  stream->Synchronize();
  EXPECT_THAT(order_, ElementsAre(1, 2));
  EXPECT_EQ(exec->SetAction(node, CU_GRAPH_NODE_TYPE_KERNEL, Note(3)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(exec->SetAction(node + 1, CU_GRAPH_NODE_TYPE_HOST, Note(3)), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphRunTest, UpdateTakesTheActionsOfAGraphOfTheSameShape) {
  AddAction(*graph_, Note(2), {AddAction(*graph_, Note(1))});
  const auto exec = Instantiate();
  Graph other;
  AddAction(other, Note(4), {AddAction(other, Note(3))});
  GraphExec::UpdateFailure failure;
  ASSERT_EQ(exec->Update(other, &failure), CUDA_SUCCESS);
  EXPECT_EQ(failure.reason, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  const auto stream = device_.NonBlockingStream();
  ASSERT_EQ(LaunchGraph(*exec, stream), CUDA_SUCCESS);
  stream->Synchronize();
  EXPECT_THAT(order_, ElementsAre(3, 4));
}

TEST_F(GraphRunTest, UpdateSaysWhatDoesNotFit) {
  AddAction(*graph_, Note(2), {AddAction(*graph_, Note(1))});
  const auto exec = Instantiate();
  GraphExec::UpdateFailure failure;
  Graph fewer;
  AddAction(fewer, Note(1));
  EXPECT_EQ(exec->Update(fewer, &failure), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(failure.reason, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  Graph apart;
  AddAction(apart, Note(1));
  AddAction(apart, Note(2));
  EXPECT_EQ(exec->Update(apart, &failure), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(failure.reason, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  Graph kinds;
  Add(kinds, {CU_GRAPH_NODE_TYPE_EMPTY, nullptr, nullptr, nullptr, {AddAction(kinds, Note(1))}});
  EXPECT_EQ(exec->Update(kinds, &failure), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(failure.reason, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
  EXPECT_EQ(failure.node, 1u);
}

TEST_F(GraphRunTest, EventsOrderTwoGraphs) {
  const auto event = std::make_shared<Event>(device_.context, 0);
  Gate gate;
  const uint32_t first = AddAction(*graph_, Do([&] {
    gate.Pass();
    order_.push_back(1);
  }));
  AddEvent(*graph_, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event, {first});
  const auto recorder = Instantiate();
  graph_ = std::make_shared<Graph>();
  AddAction(*graph_, Note(2), {AddEvent(*graph_, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event)});
  const auto waiter = Instantiate();
  ASSERT_EQ(LaunchGraph(*recorder, device_.NonBlockingStream()), CUDA_SUCCESS);
  ASSERT_EQ(LaunchGraph(*waiter, device_.NonBlockingStream()), CUDA_SUCCESS);
  gate.Open();
  EXPECT_EQ(device_.context->Synchronize(), CUDA_SUCCESS);
  EXPECT_THAT(order_, ElementsAre(1, 2));
}

TEST_F(GraphRunTest, FaultOfANodeEndsTheRun) {
  const auto event = std::make_shared<Event>(device_.context, 0);
  const uint32_t bad = AddAction(*graph_, FailWith(CUDA_ERROR_ILLEGAL_ADDRESS));
  AddAction(*graph_, Note(1), {bad});
  AddEvent(*graph_, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event, {bad});
  EXPECT_EQ(RunOnce(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_TRUE(event->latest()->done());
  EXPECT_TRUE(order_.empty());
}

TEST_F(GraphRunTest, FaultElsewhereEndsARunThatWaitsForEver) {
  const auto event = std::make_shared<Event>(device_.context, 0);
  event->BeginRecord();  // that nobody finishes
  AddAction(*graph_, NeverEnd());
  AddAction(*graph_, Note(1), {AddEvent(*graph_, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event)});
  const auto exec = Instantiate();
  const auto stream = device_.NonBlockingStream();
  const auto behind = device_.NonBlockingStream();
  ASSERT_EQ(LaunchGraph(*exec, stream), CUDA_SUCCESS);
  ASSERT_EQ(LaunchGraph(*exec, behind), CUDA_SUCCESS);
  ASSERT_EQ(Submit(device_.NonBlockingStream(), FailWith(CUDA_ERROR_LAUNCH_FAILED)), CUDA_SUCCESS);
  EXPECT_EQ(device_.context->Synchronize(), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_TRUE(order_.empty());
}

// One worker: what is ready at the same time starts in the order of the priorities.
TEST(GraphPriorityTest, UrgentKernelsStartFirst) {
  TestDevice device(1);
  auto graph = std::make_shared<Graph>();
  std::vector<int> order;
  const auto add = [&](int value, std::optional<int> priority, std::vector<uint32_t> after) {
    NodeSpec spec;
    spec.type = CU_GRAPH_NODE_TYPE_KERNEL;
    spec.action = Do([&order, value] { order.push_back(value); });
    spec.dependencies = std::move(after);
    spec.attributes.priority = priority;
    return Add(*graph, std::move(spec));
  };
  const uint32_t root = add(0, std::nullopt, {});
  add(1, 0, {root});
  add(2, std::nullopt, {root});
  add(3, -5, {root});
  add(4, -2, {root});
  const auto stream = device.NonBlockingStream();
  const auto with = GraphExec::Instantiate(graph, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
  EXPECT_EQ(LaunchGraph(*with, stream), CUDA_SUCCESS);
  stream->Synchronize();
  EXPECT_THAT(order, ElementsAre(0, 3, 4, 1, 2));
  order.clear();
  EXPECT_EQ(LaunchGraph(*GraphExec::Instantiate(graph), stream), CUDA_SUCCESS);
  stream->Synchronize();
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 4));
}

TEST(GraphAttributeTest, AttributesOfKernelNodesAreChecked) {
  Graph graph;
  NodeSpec spec;
  spec.type = CU_GRAPH_NODE_TYPE_KERNEL;
  spec.shape = {6, 1, 1, 32, 1, 1, 0};
  const uint32_t kernel = Add(graph, std::move(spec));
  const uint32_t empty = Add(graph, {});
  CUlaunchAttributeValue value = {};
  value.priority = -1;
  EXPECT_EQ(graph.SetAttribute(kernel, CU_LAUNCH_ATTRIBUTE_PRIORITY, value), CUDA_SUCCESS);
  EXPECT_EQ(graph.SetAttribute(empty, CU_LAUNCH_ATTRIBUTE_PRIORITY, value),
            CUDA_ERROR_INVALID_VALUE);
  value = {};
  value.clusterDim.x = 3;
  value.clusterDim.y = value.clusterDim.z = 1;
  EXPECT_EQ(graph.SetAttribute(kernel, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value), CUDA_SUCCESS);
  value.clusterDim.x = 4;
  EXPECT_EQ(graph.SetAttribute(kernel, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value),
            CUDA_ERROR_INVALID_VALUE);
  value.clusterDim.x = 16;
  EXPECT_EQ(graph.SetAttribute(kernel, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value),
            CUDA_ERROR_INVALID_CLUSTER_SIZE);
  value = {};
  value.cooperative = 1;
  EXPECT_EQ(graph.SetAttribute(kernel, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, value),
            CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace
}  // namespace weft::hostcuda
