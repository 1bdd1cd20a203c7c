#include "graph/plan/choose_launch.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"
#include "graph/plan/pass_pipeline.h"

namespace weft::plan {
namespace {

void EstimateCosts(const Plan& plan, LaunchChoice& choice) {
  double operations = 0;
  for (const PlannedNode& node : plan.nodes) {
    if (!node.is_no_op) operations += node.launches.count > 1 ? node.launches.count : 1;
  }
  const double events = plan.event_edge_count();
  choice.stream_launch_us = operations * kStreamOperationUs + 2 * events * kEventUs;
  choice.instantiate_us = operations * kInstantiateNodeUs + events * kInstantiateEdgeUs;
  choice.graph_launch_us = kGraphLaunchUs + plan.lane_count() * kGraphRootUs;
}

}  // namespace

absl::Status ChooseLaunch(PlanState& state) {
  LaunchChoice& choice = state.plan.launch;
  EstimateCosts(state.plan, choice);
  const double graph_once_us = choice.instantiate_us + choice.graph_launch_us;
  if (state.graph.options.timeline == ir::Timeline::kCollect) {
    choice.mode = LaunchMode::kStreams;
    choice.reason = "a timeline is collected, which takes events around every node";
  } else if (state.options.use == Use::kOnce && choice.stream_launch_us < graph_once_us) {
    choice.mode = LaunchMode::kStreams;
    choice.reason = absl::StrFormat(
        "it runs once: about %.0f us through streams, %.0f us to instantiate and launch a graph",
        choice.stream_launch_us, graph_once_us);
  } else if (state.options.use == Use::kOnce) {
    choice.reason = "it runs once, and a graph is no slower even so";
  } else {
    choice.reason = absl::StrFormat(
        "it is kept, and a launch of a graph is one call however many nodes it has: about %.0f us, "
        "after %.0f us to instantiate it once (through streams %.0f us)",
        choice.graph_launch_us, choice.instantiate_us, choice.stream_launch_us);
  }
  return absl::OkStatus();
}

absl::Status UseGraph(PlanState& state) {
  LaunchChoice& choice = state.plan.launch;
  EstimateCosts(state.plan, choice);
  if (state.graph.options.timeline == ir::Timeline::kCollect) return ChooseLaunch(state);
  choice.reason = "the choice is switched off";
  return absl::OkStatus();
}

}  // namespace weft::plan
