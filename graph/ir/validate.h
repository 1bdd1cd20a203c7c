// Every check of a job. It happens once, before anything is touched: the layers below rely on it.
//
//   const ir::JobContext context = {.devices = devices, .resolver = resolve, .limits = limits};
//   WEFT_ASSIGN_OR_RETURN(ir::Graph graph, ir::ValidateJob(job, context));
//
// Not found here, because it takes the dependencies: cycles that data and `after` make together.
// plan::PlanGraph reports those in the same form.
//
// Thread safety: pure functions. Cost: linear; about 2 µs a node.
#pragma once

#include "absl/status/statusor.h"
#include "graph/ir/from_proto.h"
#include "graph/ir/graph.h"
#include "graph/ir/violations.h"

namespace weft::ir {

// The graph of a job that passes every check.
//
// Errors: INVALID_ARGUMENT with a field violation for each fault ("nodes[3].kernel.args[1].view"),
// the first Limits::max_reported of them, then one that counts the others. The code is the
// resolver's when only shared buffers are at fault (NOT_FOUND, PERMISSION_DENIED).
absl::StatusOr<Graph> ValidateJob(const v1::Job& job, const JobContext& context);

// The checks that need the whole graph: cycles of `after`, reads of scratch bytes that no node has
// written. FromProto does those of single buffers and nodes.
void Validate(const Graph& graph, Violations& violations);

}  // namespace weft::ir
