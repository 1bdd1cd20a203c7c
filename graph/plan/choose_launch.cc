#include "graph/plan/choose_launch.h"

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/plan/pass_pipeline.h"

namespace weft::plan {
namespace {

// Why no CUDA graph can hold the node; empty: one can.
std::string WhyStreams(const ir::Node& node, const cuda::DeviceInfo& device) {
  if (std::holds_alternative<ir::PrefetchOp>(node.op) && !ir::IsNoOp(node.op)) {
    return absl::StrCat("CUDA graphs have no node for the prefetch ", node.name);
  }
  const auto* const call = std::get_if<ir::LibraryOp>(&node.op);
  // On CPU devices every call is a kernel.
  if (call == nullptr || call->phases.empty() || device.is_cpu) return "";
  const kernels::LibraryTraits& library = *call->schema->library;
  if (library.recording != kernels::LibraryTraits::Recording::kStreams) return "";
  return absl::StrCat("node \"", node.name, "\" calls ", call->schema->name, ", whose library (",
                      library.library,
                      ") waits for the device or allocates inside, which no graph can hold");
}

// The nodes that no graph can hold, and cut one into pieces.
struct Cuts {
  uint32_t nodes = 0;
  std::string why;  // of the first
};

Cuts FindCuts(const PlanState& state) {
  Cuts cuts;
  for (const ir::Node& node : state.graph.nodes) {
    std::string why = WhyStreams(node, state.device);
    if (!why.empty() && ++cuts.nodes == 1) cuts.why = std::move(why);
  }
  return cuts;
}

void EstimateCosts(const PlanState& state, const Cuts& cuts, LaunchChoice& choice) {
  const Plan& plan = state.plan;
  const auto operations = static_cast<double>(plan.counts.operations);
  const double events = plan.event_edge_count();
  choice.stream_launch_us = operations * kStreamOperationUs + 2 * events * kEventUs;
  choice.instantiate_us = operations * kInstantiateNodeUs + events * kInstantiateEdgeUs;
  choice.graph_launch_us = (1 + cuts.nodes) * kGraphLaunchUs + plan.lane_count() * kGraphRootUs +
                           cuts.nodes * kStreamOperationUs;
}

void AppendCuts(const Cuts& cuts, std::string& reason) {
  if (cuts.nodes > 0) absl::StrAppend(&reason, "; it is cut where ", cuts.why);
}

}  // namespace

bool GraphCanHold(const ir::Node& node, const cuda::DeviceInfo& device) {
  return WhyStreams(node, device).empty();
}

absl::Status ChooseLaunch(PlanState& state) {
  LaunchChoice& choice = state.plan.launch;
  const Cuts cuts = FindCuts(state);
  EstimateCosts(state, cuts, choice);
  const double graph_once_us = choice.instantiate_us + choice.graph_launch_us;
  if (state.graph.options.timeline == ir::Timeline::kCollect) {
    choice.mode = LaunchMode::kStreams;
    choice.reason = "a timeline is collected, which takes events around every node";
    if (!state.graph.calls.empty()) {
      absl::StrAppend(&choice.reason, " (a node that runs graphs is a graph of its own)");
    }
    return absl::OkStatus();
  }
  if (state.graph.calls.empty()) {
    if (state.options.use == Use::kOnce && choice.stream_launch_us < graph_once_us) {
      choice.mode = LaunchMode::kStreams;
      choice.reason = absl::StrFormat(
          "it runs once: about %.0f us through streams, %.0f us to instantiate and launch a graph",
          choice.stream_launch_us, graph_once_us);
      return absl::OkStatus();
    }
    // Pieces of a graph go one behind the other, where streams let lanes run side by side: cutting has
    // to save half of the launch to be worth it.
    if (cuts.nodes > 0 && choice.stream_launch_us < 2 * choice.graph_launch_us) {
      choice.mode = LaunchMode::kStreams;
      choice.reason = absl::StrFormat(
          "%s, and about %.0f us are not much more than %.0f us of a graph in pieces", cuts.why,
          choice.stream_launch_us, choice.graph_launch_us);
      return absl::OkStatus();
    }
  }
  if (!state.graph.calls.empty()) {
    choice.reason = state.graph.has_conditional
                        ? "it has a conditional node, which only graphs have"
                        : "it runs graphs of its own, which become a part of it";
  } else if (state.options.use == Use::kOnce) {
    choice.reason = "it runs once, and a graph is no slower even so";
  } else {
    choice.reason = absl::StrFormat(
        "it is kept, and a launch of a graph is one call however many nodes it has: about %.0f us, "
        "after %.0f us to instantiate it once (through streams %.0f us)",
        choice.graph_launch_us, choice.instantiate_us, choice.stream_launch_us);
  }
  AppendCuts(cuts, choice.reason);
  return absl::OkStatus();
}

absl::Status UseGraph(PlanState& state) {
  LaunchChoice& choice = state.plan.launch;
  const Cuts cuts = FindCuts(state);
  EstimateCosts(state, cuts, choice);
  if (state.graph.options.timeline == ir::Timeline::kCollect) return ChooseLaunch(state);
  choice.reason = "the choice is switched off";
  AppendCuts(cuts, choice.reason);
  return absl::OkStatus();
}

}  // namespace weft::plan
