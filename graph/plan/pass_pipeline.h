// The passes in order, and the runner that times them, switches them and lets callers look at the
// plan after each. Private to graph/plan.
//
// Thread safety: pure functions.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/plan/plan_state.h"

namespace weft::plan {

struct Pass {
  absl::string_view name;
  absl::Status (*run)(PlanState& state);
  // What is done in its place when it is switched off; nullptr: it cannot be.
  absl::Status (*substitute)(PlanState& state);
};

absl::Span<const Pass> Passes();

// Runs all passes over `state`, as its options say.
absl::Status RunPasses(PlanState& state);

// ---- The passes, each with its file -------------------------------------------------------------

// Launches, workspace and staging of each node, as the node alone decides them.
absl::Status LowerNodes(PlanState& state);

// Dependencies from uses and `after`; order. INVALID_ARGUMENT when they form a cycle.
absl::Status InferDependencies(PlanState& state);

// Drops dependencies that others imply; all of them up to a bounded effort.
absl::Status ReduceEdges(PlanState& state);
absl::Status KeepEdges(PlanState& state);

// Lanes, positions and event edges.
absl::Status AssignLanes(PlanState& state);
absl::Status UseOneLane(PlanState& state);

// Offsets of scratch buffers and workspaces. RESOURCE_EXHAUSTED when they exceed the device.
absl::Status PlaceScratch(PlanState& state);
absl::Status PlaceScratchApart(PlanState& state);

// Streams or a graph.
absl::Status ChooseLaunch(PlanState& state);
absl::Status UseGraph(PlanState& state);

// Segments, where the host has to act between nodes.
absl::Status CutSegments(PlanState& state);

}  // namespace weft::plan
