// Nodes that launch kernels of the job's own modules and set their variables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "graph/build/executable.h"
#include "graph/build/kernel_priorities.h"
#include "graph/build/operations.h"
#include "graph/build/stream_runner.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/build/test_device.h"
#include "tests/unit/build/test_graph.h"

namespace weft::build {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOkAndHolds;
using testing::StatusIs;

class OwnKernelsTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(device_, TestDevice::Create()); }

  // "affine" over `blocks` elements of x: x[i] = 2 x[i] + 1.
  ir::UserKernelOp Affine(BufferIndex x, uint32_t blocks) {
    ir::UserKernelOp op;
    op.entry = "affine";
    op.parameters = {ir::PointerParameter{0}, ir::ScalarParameter{2, 4}, ir::ScalarParameter{1, 4}};
    op.views = graph_.AddView(graph_.WholeOf(x));
    op.launch = {"affine", {blocks, 1, 1}, {1, 1, 1}, 0};
    return op;
  }
  absl::Status RunAsGraph(const Bindings& bindings) {
    WEFT_ASSIGN_OR_RETURN(const auto executable,
                          Executable::Create(device_->Input(graph_, bindings)));
    WEFT_RETURN_IF_ERROR(executable->Launch(device_->stream()));
    return device_->stream().Synchronize();
  }
  absl::Status RunOverStreams(const Bindings& bindings) {
    WEFT_ASSIGN_OR_RETURN(const auto runner,
                          StreamRunner::Create(device_->Input(graph_, bindings), Timing::kNone));
    WEFT_RETURN_IF_ERROR(runner->Run(device_->stream()));
    return device_->stream().Synchronize();
  }

  std::unique_ptr<TestDevice> device_;
  TestGraph graph_;
};

TEST_F(OwnKernelsTest, RunWithAClusterAndAPriority) {
  const BufferIndex x = graph_.Shared(4);
  graph_.Fill(x, 1, 4, 0);
  ir::UserKernelOp op = Affine(x, 4);
  op.cluster = {2, 1, 1};
  op.priority = 3;
  graph_.Node(op, 0);
  graph_.Node(Affine(x, 4), 0);
  const Bindings bindings = device_->Bind(graph_);
  ASSERT_OK(RunAsGraph(bindings));
  EXPECT_THAT(device_->Read(bindings.buffers[0], 4), IsOkAndHolds(ElementsAre(7, 7, 7, 7)));
  ASSERT_OK(RunOverStreams(bindings));
  EXPECT_THAT(device_->Read(bindings.buffers[0], 4), IsOkAndHolds(ElementsAre(7, 7, 7, 7)));
}

TEST_F(OwnKernelsTest, ACooperativeGridMustFitTheDevice) {
  const BufferIndex x = graph_.Shared(1 << 20);
  ir::UserKernelOp op = Affine(x, 1 << 20);
  op.cooperative = true;
  graph_.Node(op, 0);
  const Bindings bindings = device_->Bind(graph_);
  EXPECT_THAT(ResolveOperations(device_->Input(graph_, bindings)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("cooperative with 1048576 blocks, and the device holds")));
}

TEST_F(OwnKernelsTest, ParametersMustBeThoseOfTheKernel) {
  const BufferIndex x = graph_.Shared(4);
  ir::UserKernelOp op = Affine(x, 4);
  op.parameters.pop_back();
  graph_.Node(op, 0);
  const Bindings bindings = device_->Bind(graph_);
  EXPECT_THAT(ResolveOperations(device_->Input(graph_, bindings)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("takes 3 parameters")));
}

class VariableTest : public OwnKernelsTest {
 protected:
  NodeIndex ReadVariable(BufferIndex x) {
    ir::UserKernelOp op;
    op.entry = "read_variable";
    op.parameters = {ir::PointerParameter{0}};
    op.views = graph_.AddView(graph_.WholeOf(x));
    op.launch = {"read_variable", {1, 1, 1}, {1, 1, 1}, 0};
    return graph_.Node(op, 0);
  }
};

TEST_F(VariableTest, IsSetFromAViewAndFromInlineBytes) {
  const BufferIndex x = graph_.Shared(1);
  const BufferIndex y = graph_.Shared(1);
  graph_.Fill(y, 17, 4, 0);
  graph_.Node(ir::SymbolOp{0, "variable", 4, 4, graph_.WholeOf(y)}, 0);
  ReadVariable(x);
  const NodeIndex inline_bytes = graph_.Node(ir::SymbolOp{0, "variable", 0, 16, uint32_t{0}}, 0);
  ReadVariable(y);
  const Bindings bindings = device_->Bind(graph_);
  const int32_t values[4] = {1, 2, 3, 4};
  std::memcpy(device_->StagingAt(graph_.StagingOffset(inline_bytes)), values, sizeof values);
  ASSERT_OK(RunAsGraph(bindings));
  EXPECT_THAT(device_->Read(bindings.buffers[0], 1), IsOkAndHolds(ElementsAre(17)));
  EXPECT_THAT(device_->Read(bindings.buffers[1], 1), IsOkAndHolds(ElementsAre(2)));
}

TEST_F(VariableTest, NoByteBehindItsEndIsSet) {
  for (const auto& [offset, size] : {std::pair<uint64_t, uint64_t>{0, 17}, {13, 4}, {16, 1}}) {
    TestGraph graph;
    graph.Node(ir::SymbolOp{0, "variable", offset, size, uint32_t{0}}, 0);
    const Bindings bindings = device_->Bind(graph);
    EXPECT_THAT(ResolveOperations(device_->Input(graph, bindings)),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has 16 bytes")));
  }
}

class TextureParameterTest : public OwnKernelsTest {
 protected:
  // "read_texture" of x, into y.
  void ReadTexture(BufferIndex x, BufferIndex y) {
    ir::Texture texture;
    texture.dtype = kernels::DType::kI32;
    texture.width = 3;
    ir::UserKernelOp op;
    op.entry = "read_texture";
    op.parameters = {ir::PointerParameter{0}, ir::TextureParameter{1, texture}};
    op.views = graph_.AddView(graph_.WholeOf(y));
    graph_.AddView(graph_.WholeOf(x));
    op.views.count = 2;
    op.launch = {"read_texture", {1, 1, 1}, {1, 1, 1}, 0};
    graph_.Node(op, 0);
  }
};

TEST_F(TextureParameterTest, KernelsReadTheBytesOfTheView) {
  const BufferIndex x = graph_.Shared(4);
  const BufferIndex y = graph_.Shared(2);
  graph_.Fill(x, 42, 4, 0);
  ReadTexture(x, y);
  const Bindings bindings = device_->Bind(graph_);
  ASSERT_OK(RunAsGraph(bindings));
  EXPECT_THAT(device_->Read(bindings.buffers[1], 2), IsOkAndHolds(ElementsAre(42, 3)));
  ASSERT_OK(RunOverStreams(bindings));
  EXPECT_THAT(device_->Read(bindings.buffers[1], 2), IsOkAndHolds(ElementsAre(42, 3)));
}

TEST_F(TextureParameterTest, AnExecutableWithTexturesIsMadeAnew) {
  const BufferIndex x = graph_.Shared(4);
  ReadTexture(x, graph_.Shared(2));
  const Bindings bindings = device_->Bind(graph_);
  ASSERT_OK_AND_ASSIGN(const auto executable, Executable::Create(device_->Input(graph_, bindings)));
  EXPECT_THAT(executable->Update(device_->Input(graph_, bindings)),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("textures")));
  ASSERT_OK(executable->Launch(device_->stream()));
  ASSERT_OK(device_->stream().Synchronize());
}

TEST_F(TextureParameterTest, AMisalignedAddressIsRefused) {
  const BufferIndex x = graph_.Shared(4);
  ReadTexture(x, graph_.Shared(2));
  Bindings bindings = device_->Bind(graph_);
  bindings.buffers[0] += 4;
  EXPECT_THAT(ResolveOperations(device_->Input(graph_, bindings)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cuTexObjectCreate")));
}

TEST_F(TextureParameterTest, ADriverWithoutTexturesSaysSo) {
  const BufferIndex x = graph_.Shared(4);
  ReadTexture(x, graph_.Shared(2));
  const Bindings bindings = device_->Bind(graph_);
  device_->driver().cuTexObjectCreate = nullptr;
  EXPECT_THAT(ResolveOperations(device_->Input(graph_, bindings)),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("no texture objects")));
}

class KernelPrioritiesTest : public OwnKernelsTest {
 protected:
  KernelPriorities Of(const std::vector<int32_t>& priorities) {
    for (const int32_t priority : priorities) {
      ir::UserKernelOp op;
      op.priority = priority;
      graph_.Node(op, 0);
    }
    return KernelPriorities::Of(device_->Input(graph_, {})).value();
  }
};

TEST_F(KernelPrioritiesTest, AJobWhoseKernelsAreAllAlikeTakesNone) {
  EXPECT_TRUE(Of({7, 7}).empty());
  EXPECT_EQ(Of({}).Find(7), std::nullopt);
}

TEST_F(KernelPrioritiesTest, TheLeastUrgentLevelsAreTakenFirst) {
  const KernelPriorities priorities = Of({-3, 10, 4});
  EXPECT_EQ(priorities.Find(-3), 0);
  EXPECT_EQ(priorities.Find(4), -1);
  EXPECT_EQ(priorities.Find(10), -2);
}

TEST_F(KernelPrioritiesTest, BuiltInKernelsHavePriorityZero) {
  graph_.Kernel("affine", graph_.Shared(1), 1, 1, 0);
  const KernelPriorities priorities = Of({-1});
  EXPECT_EQ(priorities.Find(-1), 0);
  EXPECT_EQ(priorities.Find(0), -1);
}

TEST_F(KernelPrioritiesTest, MoreThanTheDeviceHasShareLevelsInOrder) {
  const KernelPriorities priorities = Of({-10, -8, -6, -4, -2, 0, 2, 4, 6, 8, 10});
  EXPECT_EQ(priorities.Find(-10), 0);
  EXPECT_EQ(priorities.Find(10), -5);
  for (int32_t p = -10; p < 10; p += 2) EXPECT_LE(*priorities.Find(p + 2), *priorities.Find(p));
}

}  // namespace
}  // namespace weft::build
