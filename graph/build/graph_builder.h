// Turns a plan into a CUDA Graph.
//
// Every operation (one phase of a kernel, a copy, a fill, an empty node) is one graph node; a call of a
// library is one too, a child graph of what the library put into a captured stream. What
// orders them: the plan's event edges; the lane (a node follows the one before it in its lane); and
// the phases of one kernel node, which are chained. The call that tells of an output holds back nothing.
//
// A graph that a node runs becomes a part of the graph around it, node by node, and not a child graph
// node: CUDA takes no conditional nodes in children, and lets a node in a child be changed only by way
// of a handle to the child's copy. The bodies of a conditional node are graphs of their own, which
// CUDA makes.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "cuda/graph.h"
#include "graph/build/bindings.h"
#include "graph/build/operations.h"

namespace weft::build {

// A recorded graph, and which of its nodes carries out which operation.
struct BuiltGraph {
  cuda::Graph graph;
  std::vector<cuda::NodeRef> nodes;  // by position in OperationList::operations
};

// Records the whole plan. Linear in nodes and edges; 0.3–1 µs a node.
// REQUIRES: `operations` is what ResolveOperations gives for `input`.
// Errors: what the driver says, with the node's name in front.
absl::StatusOr<BuiltGraph> BuildGraph(const BuildInput& input, const OperationList& operations);

// The segments of kind kNodes of a cut plan, each as a graph; by segment.
absl::StatusOr<std::vector<std::optional<cuda::Graph>>> BuildSegments(
    const BuildInput& input, const OperationList& operations);

// A graph of what one node does that runs graphs. `run`: one of operations.runs.
absl::StatusOr<cuda::Graph> BuildRun(const BuildInput& input, const OperationList& operations,
                                     const GraphRun& run);

}  // namespace weft::build
