#include "cuda/host/graph_recording.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "cuda/host/api_call.h"

namespace weft::hostcuda {
namespace {

CUresult FindDependencies(Runtime& runtime, const Graph& graph, const NodePlace& place,
                          std::vector<uint32_t>* indices) {
  if (place.dependency_count > 0 && place.dependencies == nullptr) return CUDA_ERROR_INVALID_VALUE;
  indices->reserve(std::min<size_t>(place.dependency_count, 1024));
  for (size_t i = 0; i < place.dependency_count; ++i) {
    const std::shared_ptr<GraphNode> node = runtime.nodes.Find(HandleNumber(place.dependencies[i]));
    if (node == nullptr || node->graph.get() != &graph) return CUDA_ERROR_INVALID_VALUE;
    indices->push_back(node->index);
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult AddNode(Runtime& runtime, const NodePlace& place, NodeSpec spec) {
  if (place.node == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::shared_ptr<RecordedGraph> recorded = runtime.graphs.Find(HandleNumber(place.graph));
  if (recorded == nullptr) return CUDA_ERROR_INVALID_VALUE;
  WEFT_CU_RETURN_IF_ERROR(FindDependencies(runtime, *recorded->graph, place, &spec.dependencies));
  MutexLock lock(recorded->mu);
  auto node = std::make_shared<GraphNode>();
  node->graph = recorded->graph;
  WEFT_CU_RETURN_IF_ERROR(recorded->graph->Add(std::move(spec), &node->index));
  recorded->nodes.push_back(runtime.nodes.Insert(std::move(node)));
  *place.node = MakeHandle<CUgraphNode>(recorded->nodes.back());
  return CUDA_SUCCESS;
}

void ForgetGraph(Runtime& runtime, uint64_t handle) {
  std::vector<uint64_t> left = {handle};
  while (!left.empty()) {
    const std::shared_ptr<RecordedGraph> graph = runtime.graphs.Remove(left.back());
    left.pop_back();
    if (graph == nullptr) continue;
    MutexLock lock(graph->mu);
    for (const uint64_t node : graph->nodes) runtime.nodes.Remove(node);
    for (const std::vector<CUgraph>& bodies : graph->bodies) {
      for (const CUgraph body : bodies) left.push_back(HandleNumber(body));
    }
  }
}

bool HasUnusedCondition(RecordedGraph& graph) {
  MutexLock lock(graph.mu);
  return std::any_of(graph.conditions.begin(), graph.conditions.end(),
                     [](const auto& condition) { return !condition->claimed(); });
}

}  // namespace weft::hostcuda
