// Nodes that direct the flow of a graph: conditionals, and waits for values in memory.
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cuda/graph.h"
#include "cuda/status.h"

namespace weft::cuda {
namespace {

using NodeHandles = absl::InlinedVector<CUgraphNode, 8>;

NodeHandles HandlesOf(Dependencies dependencies) {
  NodeHandles handles;
  handles.reserve(dependencies.size());
  for (const NodeRef& node : dependencies) handles.push_back(node.handle);
  return handles;
}

CUgraphConditionalNodeType TypeOf(ConditionalKind kind) {
  switch (kind) {
    case ConditionalKind::kIf:
      return CU_GRAPH_COND_TYPE_IF;
    case ConditionalKind::kWhile:
      return CU_GRAPH_COND_TYPE_WHILE;
    case ConditionalKind::kSwitch:
      return CU_GRAPH_COND_TYPE_SWITCH;
  }
  return CU_GRAPH_COND_TYPE_IF;
}

absl::Status CheckHasConditionals(const Driver& driver) {
  if (driver.cuGraphConditionalHandleCreate != nullptr && driver.cuGraphAddNode != nullptr) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the driver ", driver.path, " has no conditional graph nodes; install one for ",
                   "CUDA 12.3 or newer (12.8 for ELSE and SWITCH)"));
}

}  // namespace

absl::StatusOr<ConditionalHandle> Graph::CreateConditional(ConditionalDefault kind,
                                                           uint32_t default_value) {
  WEFT_MAKE_CURRENT(owned_.context());
  WEFT_RETURN_IF_ERROR(CheckHasConditionals(owned_.driver()));
  const unsigned flags = kind == ConditionalDefault::kAssigned ? CU_GRAPH_COND_ASSIGN_DEFAULT : 0;
  ConditionalHandle handle;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(owned_.driver(), cuGraphConditionalHandleCreate,
                                        &handle.value, owned_.get(), owned_.context().handle,
                                        default_value, flags));
  return handle;
}

absl::StatusOr<Conditional> Graph::AddConditional(const ConditionalNode& node,
                                                  Dependencies dependencies) {
  WEFT_MAKE_CURRENT(owned_.context());
  WEFT_RETURN_IF_ERROR(CheckHasConditionals(owned_.driver()));
  const NodeHandles after = HandlesOf(dependencies);
  CUgraphNodeParams params = {};
  params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  params.conditional.handle = node.handle.value;
  params.conditional.type = TypeOf(node.kind);
  params.conditional.size = node.body_count;
  params.conditional.ctx = owned_.context().handle;
  Conditional added;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(owned_.driver(), cuGraphAddNode, &added.node.handle,
                                        owned_.get(), after.data(), /*dependencyData=*/nullptr,
                                        after.size(), &params));
  added.bodies.reserve(node.body_count);
  for (uint32_t i = 0; i < node.body_count; ++i) {
    added.bodies.emplace_back(owned_.context(), params.conditional.phGraph_out[i]);
  }
  return added;
}

}  // namespace weft::cuda
