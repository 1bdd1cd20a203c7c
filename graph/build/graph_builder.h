// Turns a plan into a CUDA Graph.
//
// Every operation (one phase of a kernel, a copy, a fill, an empty node) is one graph node. What
// orders them: the plan's edges; the lane (a node follows the one before it in its lane); and the
// phases of one kernel node, which are chained.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/ids.h"
#include "cuda/context.h"
#include "cuda/graph.h"
#include "graph/build/bindings.h"

namespace weft::plan {
struct Plan;
}

namespace weft::build {

struct OperationList;  // operations.h

// A recorded graph and which of its nodes carries out which operation of the plan.
struct BuiltGraph {
  cuda::Graph graph;
  std::vector<cuda::NodeRef> nodes;  // by position in OperationList::operations
};

// Records the whole plan. Linear in nodes and edges; about 1 µs a node. No driver call but those of
// cuda::Graph and, for functions that need more than 48 KiB of shared memory, one that allows it.
// REQUIRES: plan::VerifyPlan accepts `plan`; `bindings` fits it.
// Errors: what `resolver` and the driver say, with the node's name in front.
absl::StatusOr<BuiltGraph> BuildGraph(const cuda::Context& context, const plan::Plan& plan,
                                      const Bindings& bindings, FunctionResolver& resolver);

// The same for operations that were resolved before.
absl::StatusOr<BuiltGraph> BuildGraph(const cuda::Context& context, const plan::Plan& plan,
                                      const OperationList& operations);

}  // namespace weft::build
