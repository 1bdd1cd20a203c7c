// Conditional nodes.
#include <memory>
#include <utility>
#include <vector>

#include "cuda/host/api_call.h"
#include "cuda/host/graph_recording.h"

namespace weft::hostcuda {
namespace {

// Bodies of one node: the API has no bound, memory does.
constexpr unsigned kMaxConditionalBodies = 1024;

bool TakesBodies(const CUDA_CONDITIONAL_NODE_PARAMS& params) {
  switch (params.type) {
    case CU_GRAPH_COND_TYPE_IF:
      return params.size == 1 || params.size == 2;
    case CU_GRAPH_COND_TYPE_WHILE:
      return params.size == 1;
    case CU_GRAPH_COND_TYPE_SWITCH:
      return params.size >= 1 && params.size <= kMaxConditionalBodies;
    default:
      return false;
  }
}

CUresult CreateCondition(Runtime& runtime, CUgraph graph_handle, Condition::AtLaunch at_launch,
                         uint32_t default_value, CUgraphConditionalHandle* handle) {
  const std::shared_ptr<RecordedGraph> graph = runtime.graphs.Find(HandleNumber(graph_handle));
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Condition> condition =
      Condition::Create(runtime.conditions, at_launch, default_value);
  *handle = condition->handle();
  MutexLock lock(graph->mu);
  graph->conditions.push_back(std::move(condition));
  return CUDA_SUCCESS;
}

// A handle is of the node's graph or of one around it. A condition of another graph would be left
// when that graph ends, but nothing breaks: which graph it is of is not looked at.
CUresult AddConditional(Runtime& runtime, const NodePlace& place,
                        CUDA_CONDITIONAL_NODE_PARAMS& params) {
  if (!TakesBodies(params)) return CUDA_ERROR_INVALID_VALUE;
  const std::shared_ptr<RecordedGraph> parent = runtime.graphs.Find(HandleNumber(place.graph));
  const std::shared_ptr<Condition> condition = Condition::Find(runtime.conditions, params.handle);
  if (parent == nullptr || condition == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (parent->graph->level() >= GraphBody::kMaxDepth) return CUDA_ERROR_NOT_SUPPORTED;
  if (!condition->Claim()) return CUDA_ERROR_INVALID_VALUE;
  auto conditional = std::make_shared<ConditionalSpec>();
  conditional->type = params.type;
  conditional->condition = condition;
  for (unsigned i = 0; i < params.size; ++i) {
    conditional->bodies.push_back(std::make_shared<Graph>(parent->graph->level() + 1));
  }
  const std::vector<std::shared_ptr<Graph>> graphs = conditional->bodies;
  NodeSpec spec;
  spec.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  spec.conditional = std::move(conditional);
  WEFT_CU_RETURN_IF_ERROR(AddNode(runtime, place, std::move(spec)));
  std::vector<CUgraph> handles;
  for (const std::shared_ptr<Graph>& graph : graphs) {
    auto recorded = std::make_shared<RecordedGraph>();
    recorded->graph = graph;
    handles.push_back(MakeHandle<CUgraph>(runtime.graphs.Insert(std::move(recorded))));
  }
  MutexLock lock(parent->mu);
  parent->bodies.push_back(std::move(handles));
  params.phGraph_out = parent->bodies.back().data();
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace weft::hostcuda

using namespace weft::hostcuda;  // NOLINT(google-build-using-namespace): the functions are global

extern "C" {

CUresult CUDAAPI cuGraphConditionalHandleCreate(CUgraphConditionalHandle* handle, CUgraph graph,
                                                CUcontext context, unsigned int default_value,
                                                unsigned int flags) {
  return CallOnDevice(
      ApiFunction::k_cuGraphConditionalHandleCreate, [&](Runtime& runtime) -> CUresult {
        if (handle == nullptr || (flags & ~unsigned{CU_GRAPH_COND_ASSIGN_DEFAULT}) != 0) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        if (runtime.contexts.Find(HandleNumber(context)) == nullptr) {
          return CUDA_ERROR_INVALID_CONTEXT;
        }
        const auto at_launch =
            flags != 0 ? Condition::AtLaunch::kDefault : Condition::AtLaunch::kKept;
        return CreateCondition(runtime, graph, at_launch, default_value, handle);
      });
}

// Conditional nodes alone: the others have functions of their own.
CUresult CUDAAPI cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                const CUgraphEdgeData* edges, size_t count,
                                CUgraphNodeParams* params) {
  return CallOnDevice(ApiFunction::k_cuGraphAddNode, [&](Runtime& runtime) -> CUresult {
    if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (params->type != CU_GRAPH_NODE_TYPE_CONDITIONAL || edges != nullptr) {
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (runtime.contexts.Find(HandleNumber(params->conditional.ctx)) == nullptr) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    return AddConditional(runtime, {node, graph, dependencies, count}, params->conditional);
  });
}

}  // extern "C"
