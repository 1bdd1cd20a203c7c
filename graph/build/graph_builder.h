// Turns a plan into a CUDA Graph.
//
// Every operation (one phase of a kernel, a copy, a fill, an empty node) is one graph node. What
// orders them: the plan's event edges; the lane (a node follows the one before it in its lane); and
// the phases of one kernel node, which are chained.
#pragma once

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

}  // namespace weft::build
