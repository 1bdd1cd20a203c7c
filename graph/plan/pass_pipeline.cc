#include "graph/plan/pass_pipeline.h"

#include <string>

#include "base/status_macros.h"

namespace weft::plan {
namespace {

constexpr Pass kPasses[] = {
    {"lower_nodes", LowerNodes, nullptr},
    {"infer_dependencies", InferDependencies, nullptr},
    {"reduce_edges", ReduceEdges, KeepEdges},
    {"assign_lanes", AssignLanes, UseOneLane},
    {"place_scratch", PlaceScratch, PlaceScratchApart},
    {"choose_launch", ChooseLaunch, UseGraph},
    {"cut_segments", CutSegments, nullptr},
};

}  // namespace

absl::Span<const Pass> Passes() { return kPasses; }

absl::Status RunPasses(PlanState& state) {
  const PlanOptions& options = state.options;
  const Clock& clock = options.clock != nullptr ? *options.clock : Clock::Real();
  for (const Pass& pass : kPasses) {
    const bool is_on = pass.substitute == nullptr || options.passes.IsOn(pass.name);
    const absl::Duration start = clock.Now();
    WEFT_RETURN_IF_ERROR((is_on ? pass.run : pass.substitute)(state));
    state.plan.passes.push_back(
        {std::string(pass.name),
         is_on ? PassReport::Outcome::kRan : PassReport::Outcome::kSwitchedOff,
         clock.Now() - start});
    if (options.dump_after) options.dump_after(pass.name, state.plan);
  }
  return absl::OkStatus();
}

}  // namespace weft::plan
