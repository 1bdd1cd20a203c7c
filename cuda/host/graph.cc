#include "cuda/host/graph.h"

#include <algorithm>
#include <utility>

namespace weft::hostcuda {

namespace {

// What the API allows in the body of a conditional node. Conditional nodes in a child are refused with
// the child.
bool BodyTakes(const NodeSpec& node) {
  switch (node.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return true;
    case CU_GRAPH_NODE_TYPE_GRAPH: {
      const std::vector<NodeSpec>& nodes = node.child->nodes;
      // NOLINTNEXTLINE(misc-no-recursion): at most GraphBody::kMaxDepth levels
      return std::all_of(nodes.begin(), nodes.end(), BodyTakes);
    }
    default:
      return false;
  }
}

}  // namespace

bool Graph::has_conditional() const {
  MutexLock lock(mu_);
  return body_.has_conditional;
}

bool Graph::ClaimExec(const std::shared_ptr<const void>& token) const {
  MutexLock lock(mu_);
  if (body_.has_conditional && exec_token_.lock() != nullptr) return false;
  exec_token_ = token;
  return true;
}

CUresult Graph::Add(NodeSpec node, uint32_t* index) {
  std::vector<uint32_t>& dependencies = node.dependencies;
  std::sort(dependencies.begin(), dependencies.end());
  if (std::adjacent_find(dependencies.begin(), dependencies.end()) != dependencies.end()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  // A child graph takes two more nodes: where it begins and where it ends.
  const uint64_t added = node.child == nullptr ? 1 : node.child->flat_nodes + 2;
  const uint32_t depth = node.child == nullptr ? 0 : node.child->depth + 1;
  if (is_body() && !BodyTakes(node)) return CUDA_ERROR_INVALID_VALUE;
  MutexLock lock(mu_);
  if (body_.flat_nodes + added > GraphBody::kMaxFlatNodes || depth > GraphBody::kMaxDepth) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  body_.flat_nodes += added;
  body_.has_conditional = body_.has_conditional || node.conditional != nullptr;
  body_.depth = std::max(body_.depth, depth);
  *index = static_cast<uint32_t>(body_.nodes.size());
  body_.nodes.push_back(std::move(node));
  return CUDA_SUCCESS;
}

CUresult Graph::SetAttribute(uint32_t index, CUlaunchAttributeID id,
                             const CUlaunchAttributeValue& value) {
  MutexLock lock(mu_);
  NodeSpec& node = body_.nodes[index];
  if (node.type != CU_GRAPH_NODE_TYPE_KERNEL) return CUDA_ERROR_INVALID_VALUE;
  LaunchAttributes changed = node.attributes;
  CUresult result = changed.Set(id, value);
  if (result == CUDA_SUCCESS) result = changed.Check(node.shape);
  if (result == CUDA_SUCCESS) node.attributes = changed;
  return result;
}

GraphBody Graph::Snapshot() const {
  MutexLock lock(mu_);
  return body_;
}

}  // namespace weft::hostcuda
