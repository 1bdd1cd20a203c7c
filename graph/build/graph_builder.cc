#include "graph/build/graph_builder.h"

#include <optional>
#include <utility>
#include <variant>

#include "absl/container/inlined_vector.h"
#include "base/error_context.h"
#include "base/status_macros.h"

namespace weft::build {
namespace {

// Adds one operation to a graph, whatever its kind.
struct Adder {
  cuda::Graph& graph;
  const OperationList& list;
  cuda::Dependencies dependencies;

  absl::StatusOr<cuda::NodeRef> operator()(const EmptyOperation&) const {
    return graph.AddEmpty(dependencies);
  }
  absl::StatusOr<cuda::NodeRef> operator()(const KernelOperation& kernel) const {
    return graph.AddKernel(LaunchOf(list, kernel).launch(), dependencies);
  }
  absl::StatusOr<cuda::NodeRef> operator()(const cuda::MemcpyNode& copy) const {
    return graph.AddMemcpy(copy, dependencies);
  }
  absl::StatusOr<cuda::NodeRef> operator()(const cuda::MemsetNode& fill) const {
    return graph.AddMemset(fill, dependencies);
  }
};

class Builder {
 public:
  Builder(const BuildInput& input, const OperationList& list, BuiltGraph& built)
      : input_(input), list_(list), built_(built) {}

  absl::Status AddNode(NodeIndex node) {
    const plan::PlannedNode& planned = input_.plan.node(node);
    dependencies_.clear();
    if (const std::optional<NodeIndex> before = input_.plan.BeforeInLane(planned)) {
      dependencies_.push_back(LastOf(*before));
    }
    for (const NodeIndex waited : input_.plan.WaitsOf(planned)) {
      dependencies_.push_back(LastOf(waited));
    }
    const ir::Slice operations = list_.OfNode(node);
    for (uint32_t i = operations.begin; i < operations.begin + operations.count; ++i) {
      WEFT_ASSIGN_OR_RETURN(built_.nodes[i], std::visit(Adder{built_.graph, list_, dependencies_},
                                                        list_.operations[i]));
      dependencies_.assign(1, built_.nodes[i]);  // the next phase waits for this one
    }
    return absl::OkStatus();
  }

 private:
  cuda::NodeRef LastOf(NodeIndex node) const {
    const ir::Slice operations = list_.OfNode(node);
    return built_.nodes[operations.begin + operations.count - 1];
  }

  const BuildInput& input_;
  const OperationList& list_;
  BuiltGraph& built_;
  absl::InlinedVector<cuda::NodeRef, 8> dependencies_;
};

}  // namespace

absl::StatusOr<BuiltGraph> BuildGraph(const BuildInput& input, const OperationList& operations) {
  WEFT_ASSIGN_OR_RETURN(cuda::Graph graph, cuda::Graph::Create(input.context));
  BuiltGraph built{std::move(graph), {}};
  built.nodes.resize(operations.operations.size());
  Builder builder(input, operations, built);
  for (const NodeIndex node : input.plan.order) {
    WEFT_RETURN_IF_ERROR(WithContext(builder.AddNode(node), {"", input.graph.node(node).name, ""}));
  }
  return built;
}

}  // namespace weft::build
