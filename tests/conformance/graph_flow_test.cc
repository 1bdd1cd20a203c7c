// Conditional nodes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "cuda/graph.h"
#include "cuda/status.h"
#include "tests/conformance/conformance_test.h"

namespace weft::conformance {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::IsOk;
using ::testing::Not;
using ::testing::SizeIs;

class GraphFlowConformance : public OneGraphTest {
 protected:
  // A conditional node behind a kernel that makes the word at `value` its condition.
  struct Made {
    cuda::ConditionalHandle handle;
    cuda::Conditional conditional;
    cuda::Graph& body(size_t i) { return conditional.bodies[i].graph(); }
  };
  absl::StatusOr<Made> AddConditional(cuda::Graph& graph, cuda::ConditionalKind kind,
                                      uint32_t bodies, CUdeviceptr value,
                                      cuda::Dependencies after = {}) {
    WEFT_ASSIGN_OR_RETURN(const cuda::ConditionalHandle handle,
                          graph.CreateConditional(cuda::ConditionalDefault::kAssigned, 0));
    WEFT_ASSIGN_OR_RETURN(const cuda::NodeRef set,
                          AddRun(graph, after, "set_condition", handle.value, value));
    WEFT_ASSIGN_OR_RETURN(cuda::Conditional conditional,
                          graph.AddConditional({handle, kind, bodies}, {set}));
    return Made{handle, std::move(conditional)};
  }
  // Runs the conditional node `kind` for `value`, with bodies that log 10, 11, …, and then 99.
  std::vector<uint32_t> LogFor(cuda::ConditionalKind kind, uint32_t bodies, uint32_t value) {
    EXPECT_THAT(Write<uint32_t>(word(), {value}), IsOk());
    auto made = AddConditional(*graph_, kind, bodies, word());
    EXPECT_THAT(made.status(), IsOk());
    if (!made.ok()) return {};
    for (uint32_t i = 0; i < bodies; ++i) {
      EXPECT_THAT(AddRun(made->body(i), {}, "append", log(), 10 + i).status(), IsOk());
    }
    EXPECT_THAT(AddRun(*graph_, {made->conditional.node}, "append", log(), 99u).status(), IsOk());
    EXPECT_THAT(RunOnce(), IsOk());
    return ReadLog(log());
  }
  // A loop that counts the word at `word` down to zero, and logs `value` in each round.
  absl::StatusOr<cuda::NodeRef> AddCountdown(cuda::Graph& graph, CUdeviceptr word, uint32_t value,
                                             cuda::Dependencies after = {}) {
    WEFT_ASSIGN_OR_RETURN(Made loop,
                          AddConditional(graph, cuda::ConditionalKind::kWhile, 1, word, after));
    WEFT_ASSIGN_OR_RETURN(const cuda::NodeRef logged,
                          AddRun(loop.body(0), {}, "append", log(), value));
    WEFT_ASSIGN_OR_RETURN(const cuda::NodeRef counted,
                          AddRun(loop.body(0), {logged}, "decrement", word));
    WEFT_RETURN_IF_ERROR(
        AddRun(loop.body(0), {counted}, "set_condition", loop.handle.value, word).status());
    return loop.conditional.node;
  }

  CUdeviceptr log() const { return memory_->address(); }
  CUdeviceptr word() const { return memory_->address() + (64 << 10); }
};

TEST_F(GraphFlowConformance, IfRunsItsBodyWhereTheValueIsNotZero) {
  EXPECT_THAT(LogFor(cuda::ConditionalKind::kIf, 1, 7), ElementsAre(10, 99));
}

TEST_F(GraphFlowConformance, IfRunsNothingWhereTheValueIsZero) {
  EXPECT_THAT(LogFor(cuda::ConditionalKind::kIf, 1, 0), ElementsAre(99));
}

TEST_F(GraphFlowConformance, ElseRunsWhereTheValueIsZero) {
  EXPECT_THAT(LogFor(cuda::ConditionalKind::kIf, 2, 0), ElementsAre(11, 99));
}

TEST_F(GraphFlowConformance, ElseDoesNotRunWhereTheValueIsNotZero) {
  EXPECT_THAT(LogFor(cuda::ConditionalKind::kIf, 2, 1), ElementsAre(10, 99));
}

TEST_F(GraphFlowConformance, SwitchRunsTheBodyAtTheValue) {
  EXPECT_THAT(LogFor(cuda::ConditionalKind::kSwitch, 3, 2), ElementsAre(12, 99));
}

TEST_F(GraphFlowConformance, SwitchRunsNothingBeyondItsBodies) {
  EXPECT_THAT(LogFor(cuda::ConditionalKind::kSwitch, 3, 3), ElementsAre(99));
}

TEST_F(GraphFlowConformance, WhileRunsUntilTheValueIsZero) {
  ASSERT_OK(Write<uint32_t>(word(), {4}));
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef loop, AddCountdown(*graph_, word(), 1));
  ASSERT_OK(AddRun(*graph_, {loop}, "append", log(), 2u));
  ASSERT_OK(RunOnce());
  EXPECT_THAT(ReadLog(log()), ElementsAre(1, 1, 1, 1, 2));
}

TEST_F(GraphFlowConformance, WhileRunsThousandsOfRounds) {
  constexpr uint32_t kRounds = 5000;
  ASSERT_OK(Write<uint32_t>(word(), {kRounds}));
  ASSERT_OK(AddCountdown(*graph_, word(), 1));
  ASSERT_OK(RunOnce());
  EXPECT_THAT(ReadLog(log()), AllOf(SizeIs(kRounds), Each(1)));
}

TEST_F(GraphFlowConformance, ALoopRunsAnewAtEveryLaunch) {
  ASSERT_OK(AddCountdown(*graph_, word(), 1));
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, graph_->Instantiate());
  for (const uint32_t rounds : {2, 0, 3}) {
    ASSERT_OK(Write<uint32_t>(word(), {rounds}));
    ASSERT_OK(exec.Launch(stream_->ref()));
    ASSERT_OK(stream_->ref().Synchronize());
  }
  EXPECT_THAT(ReadLog(log()), SizeIs(5));
}

TEST_F(GraphFlowConformance, ConditionalsNestEightLevelsDeep) {
  constexpr uint32_t kLevels = 8;
  ASSERT_OK(Write<uint32_t>(word(), {1}));
  std::vector<Made> levels;
  levels.reserve(kLevels);
  for (uint32_t level = 0; level < kLevels; ++level) {
    cuda::Graph& graph = level == 0 ? *graph_ : levels.back().body(0);
    ASSERT_OK_AND_ASSIGN(const cuda::NodeRef logged, AddRun(graph, {}, "append", log(), level));
    ASSERT_OK_AND_ASSIGN(Made made,
                         AddConditional(graph, cuda::ConditionalKind::kIf, 1, word(), {logged}));
    levels.push_back(std::move(made));
  }
  ASSERT_OK(AddRun(levels.back().body(0), {}, "append", log(), kLevels));
  ASSERT_OK(RunOnce());
  EXPECT_THAT(ReadLog(log()), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
}

TEST_F(GraphFlowConformance, ALoopInALoopRunsInEveryRound) {
  const CUdeviceptr inner_word = word() + 8;
  ASSERT_OK(Write<uint32_t>(word(), {3}));
  ASSERT_OK_AND_ASSIGN(Made outer,
                       AddConditional(*graph_, cuda::ConditionalKind::kWhile, 1, word()));
  ASSERT_OK_AND_ASSIGN(
      const cuda::NodeRef reset,
      outer.body(0).AddMemset({inner_word, {.value = 2, .element_size = 4}, 1}, {}));
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef inner,
                       AddCountdown(outer.body(0), inner_word, 5, {reset}));
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef counted,
                       AddRun(outer.body(0), {inner}, "decrement", word()));
  ASSERT_OK(AddRun(outer.body(0), {counted}, "set_condition", outer.handle.value, word()));
  ASSERT_OK(RunOnce());
  EXPECT_THAT(ReadLog(log()), ElementsAre(5, 5, 5, 5, 5, 5));
}

TEST_F(GraphFlowConformance, TheDefaultValueIsAssignedAtEveryLaunch) {
  ASSERT_OK_AND_ASSIGN(const cuda::ConditionalHandle handle,
                       graph_->CreateConditional(cuda::ConditionalDefault::kAssigned, 1));
  ASSERT_OK_AND_ASSIGN(cuda::Conditional conditional,
                       graph_->AddConditional({handle, cuda::ConditionalKind::kIf, 1}, {}));
  cuda::Graph& body = conditional.bodies[0].graph();
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef logged, AddRun(body, {}, "append", log(), 1u));
  // Word 0 of fresh memory: the next launch would not run the body if this were kept.
  ASSERT_OK(AddRun(body, {logged}, "set_condition", handle.value, word()));
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, graph_->Instantiate());
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(exec.Launch(stream_->ref()));
    ASSERT_OK(stream_->ref().Synchronize());
  }
  EXPECT_THAT(ReadLog(log()), ElementsAre(1, 1));
}

TEST_F(GraphFlowConformance, ABodyTakesCopiesFillsEmptyNodesAndBranches) {
  ASSERT_OK(Write<uint32_t>(word(), {1}));
  ASSERT_OK_AND_ASSIGN(Made made, AddConditional(*graph_, cuda::ConditionalKind::kIf, 1, word()));
  cuda::Graph& body = made.body(0);
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef root, body.AddEmpty({}));
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef filled,
                       body.AddMemset({word() + 64, {.value = 6, .element_size = 4}, 4}, {root}));
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef other, AddRun(body, {root}, "append", log(), 3u));
  ASSERT_OK_AND_ASSIGN(
      const cuda::NodeRef copied,
      body.AddMemcpy({.destination = word() + 128, .source = word() + 64, .size_bytes = 16},
                     {filled}));
  ASSERT_OK(body.AddEmpty({copied, other}));
  ASSERT_OK(RunOnce());
  EXPECT_THAT(Read<uint32_t>(word() + 128, 4), ElementsAre(6, 6, 6, 6));
  EXPECT_THAT(ReadLog(log()), ElementsAre(3));
}

TEST_F(GraphFlowConformance, AGraphWithAConditionalNodeIsNoChild) {
  ASSERT_OK_AND_ASSIGN(cuda::Graph child, cuda::Graph::Create(context()));
  ASSERT_OK_AND_ASSIGN(Made made, AddConditional(child, cuda::ConditionalKind::kIf, 1, word()));
  ASSERT_OK(made.body(0).AddEmpty({}));
  EXPECT_THAT(graph_->AddChild(child, {}).status(), Not(IsOk()));
}

TEST_F(GraphFlowConformance, AnIfOfThreeBodiesIsInvalid) {
  ASSERT_OK_AND_ASSIGN(const cuda::ConditionalHandle handle,
                       graph_->CreateConditional(cuda::ConditionalDefault::kUndefined, 0));
  const auto added = graph_->AddConditional({handle, cuda::ConditionalKind::kIf, 3}, {});
  EXPECT_EQ(cuda::ResultOf(added.status()), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace weft::conformance
