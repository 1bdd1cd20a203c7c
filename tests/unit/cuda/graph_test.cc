#include "cuda/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "cuda/module.h"
#include "cuda/status.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/cuda/fake_driver.h"

namespace weft::cuda {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOkAndHolds;
using testing::StatusIs;

class GraphTest : public ::testing::Test {
 protected:
  FakeDriver fake_;
  Context context_ = fake_.MakeContext();
};

TEST_F(GraphTest, NodesGetTheirDependenciesInOrder) {
  ASSERT_OK_AND_ASSIGN(Graph graph, Graph::Create(context_));
  ASSERT_OK_AND_ASSIGN(const NodeRef first, graph.AddEmpty({}));
  EXPECT_THAT(fake_.last_dependencies, IsEmpty());
  ASSERT_OK_AND_ASSIGN(const NodeRef second, graph.AddEmpty({first}));
  EXPECT_THAT(fake_.last_dependencies, ElementsAre(first.handle));
  ASSERT_OK(graph.AddEmpty({first, second}));
  EXPECT_THAT(fake_.last_dependencies, ElementsAre(first.handle, second.handle));
}

TEST_F(GraphTest, CopyIsOneRowBetweenUnifiedAddresses) {
  ASSERT_OK_AND_ASSIGN(Graph graph, Graph::Create(context_));
  fake_.table().cuGraphAddMemcpyNode = [](CUgraphNode*, CUgraph, const CUgraphNode*, size_t,
                                          const CUDA_MEMCPY3D* copy, CUcontext) {
    const bool as_expected = copy->srcMemoryType == CU_MEMORYTYPE_UNIFIED &&
                             copy->dstMemoryType == CU_MEMORYTYPE_UNIFIED &&
                             copy->srcDevice == 0x1000 && copy->dstDevice == 0x2000 &&
                             copy->WidthInBytes == 77 && copy->Height == 1 && copy->Depth == 1;
    return as_expected ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  };
  EXPECT_OK(graph.AddMemcpy({.destination = 0x2000, .source = 0x1000, .size_bytes = 77}, {}));
}

TEST_F(GraphTest, PitchOfASingleRowIsNotPassedOn) {
  ASSERT_OK_AND_ASSIGN(Graph graph, Graph::Create(context_));
  fake_.table().cuGraphAddMemsetNode = [](CUgraphNode*, CUgraph, const CUgraphNode*, size_t,
                                          const CUDA_MEMSET_NODE_PARAMS* fill, CUcontext) {
    return fill->height == 1 && fill->pitch == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  };
  EXPECT_OK(graph.AddMemset(
      {.destination = 0x1000, .pattern = {}, .width = 8, .height = 1, .pitch_bytes = 512}, {}));
}

TEST_F(GraphTest, RefusedUpdateTellsTheReason) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, Graph::Create(context_));
  ASSERT_OK_AND_ASSIGN(GraphExec exec, graph.Instantiate());
  fake_.table().cuGraphExecUpdate = [](CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo* info) {
    info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  };
  EXPECT_THAT(exec.Update(graph), StatusIs(absl::StatusCode::kFailedPrecondition,
                                           HasSubstr("not those of the instantiated graph")));
}

class FunctionTest : public GraphTest {
 protected:
  Module module_ = Module::Load(context_, "image").value();
};

TEST_F(FunctionTest, ParametersEndWhereTheDriverHasNone) {
  ASSERT_OK_AND_ASSIGN(const Function function, module_.GetFunction("f"));
  fake_.table().cuFuncGetParamInfo = [](CUfunction, size_t index, size_t* offset, size_t* size) {
    if (index == 2) return CUDA_ERROR_INVALID_VALUE;
    *offset = index * 8;
    *size = index == 0 ? 8 : 4;
    return CUDA_SUCCESS;
  };
  EXPECT_THAT(function.Params(), IsOkAndHolds(ElementsAre(ParamInfo{0, 8}, ParamInfo{8, 4})));
}

TEST_F(FunctionTest, DriverWithoutParameterInfoSaysSo) {
  ASSERT_OK_AND_ASSIGN(const Function function, module_.GetFunction("f"));
  EXPECT_THAT(function.Params(),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("cuFuncGetParamInfo")));
}

TEST_F(FunctionTest, MissingFunctionIsNamed) {
  fake_.Fail("cuModuleGetFunction", CUDA_ERROR_NOT_FOUND);
  EXPECT_THAT(module_.GetFunction("axpy"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("\"axpy\"")));
}

TEST_F(FunctionTest, EmptyImageNeverReachesTheDriver) {
  const int calls = fake_.calls("cuModuleLoadData");
  EXPECT_THAT(Module::Load(context_, ""), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(fake_.calls("cuModuleLoadData"), calls);
}

}  // namespace
}  // namespace weft::cuda
