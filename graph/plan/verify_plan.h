// An independent check of a plan: it shares no code with the passes, only the graph and the plan.
//
// Thread safety: pure functions. Cost: near-linear in nodes and uses, times lanes.
#pragma once

#include "absl/status/status.h"
#include "graph/ir/graph.h"
#include "graph/plan/plan.h"

namespace weft::plan {

// OK when
//   1. every node has exactly one place in one lane, and `order` holds each once;
//   2. lanes and event edges point forward in `order` (so they form no cycle);
//   3. every `after`, and with data ordering every two uses of common bytes of which one writes, is
//      ordered by lanes and event edges, in program order;
//   4. two scratch buffers or workspaces share bytes only if all uses of one come before all uses
//      of the other;
//   5. scratch and staging ranges lie in their areas, aligned; staging ranges do not overlap;
//      outputs that are delivered early have a ready word, behind their bytes.
// Else INTERNAL, naming the first fault.
absl::Status VerifyPlan(const ir::Graph& graph, const Plan& plan);

}  // namespace weft::plan
