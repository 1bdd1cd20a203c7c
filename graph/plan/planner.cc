#include "graph/plan/planner.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "graph/plan/errors.h"
#include "graph/plan/pass_pipeline.h"
#include "graph/plan/plan_state.h"
#include "graph/plan/verify_plan.h"
#include "kernels/nearest_name.h"

namespace weft::plan {
namespace {

// Measured on an H200 (driver 580, CUDA 13.0): 512 tiny independent kernel nodes take 97 µs as 8
// chains of 64 and 444 µs as 512 roots, nearly all of it CPU time of the launch call: past a handful
// of roots each further one costs about as much as it wins. To be measured again for devices that
// run far more, or far larger, kernels side by side.
constexpr uint32_t kUsefulLanes = 8;

}  // namespace

absl::StatusOr<PassSwitches> PassSwitches::Parse(absl::string_view text) {
  const std::vector<std::string> known = SwitchablePasses();
  const std::vector<absl::string_view> names(known.begin(), known.end());
  std::vector<absl::string_view> on;
  std::vector<absl::string_view> off;
  bool names_those_on = false;
  for (absl::string_view word : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    word = absl::StripAsciiWhitespace(word);
    const bool is_off = absl::ConsumePrefix(&word, "-");
    if (!is_off) names_those_on = true;
    if (!is_off && word == "none") continue;
    if (!is_off && word == "all") {
      on = names;
    } else if (std::find(names.begin(), names.end(), word) != names.end()) {
      (is_off ? off : on).push_back(word);
    } else {
      return UnknownPass(word, kernels::NearestName(word, names), absl::StrJoin(names, ", "));
    }
  }
  PassSwitches switches;
  const auto has = [](const std::vector<absl::string_view>& list, absl::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (const absl::string_view name : names) {
    if (has(off, name) || (names_those_on && !has(on, name))) switches.off_.emplace_back(name);
  }
  std::sort(switches.off_.begin(), switches.off_.end());
  return switches;
}

bool PassSwitches::IsOn(absl::string_view pass) const {
  return std::find(off_.begin(), off_.end(), pass) == off_.end();
}

std::string PassSwitches::ToString() const {
  return absl::StrJoin(off_, ",", [](std::string* out, const std::string& name) {
    absl::StrAppend(out, "-", name);
  });
}

std::vector<std::string> SwitchablePasses() {
  std::vector<std::string> names;
  for (const Pass& pass : Passes()) {
    if (pass.substitute != nullptr) names.emplace_back(pass.name);
  }
  return names;
}

uint32_t UsefulLanes(const cuda::DeviceInfo& device) {
  return std::clamp(device.max_concurrent_kernels, 1U, kUsefulLanes);
}

namespace {

// The plan of one graph, from those of the graphs that it runs.
absl::StatusOr<Plan> PlanOne(const ir::Graph& graph, const cuda::DeviceInfo& device,
                             const PlanOptions& options, absl::Span<const Plan> graphs) {
  PlanState state{.graph = graph, .device = device, .options = options, .graphs = graphs};
  uint32_t& limit = state.plan.lane_limit;
  limit = UsefulLanes(device);
  if (options.max_lanes != 0) limit = std::min(limit, options.max_lanes);
  if (graph.options.max_lanes != 0) limit = std::min(limit, graph.options.max_lanes);
  WEFT_RETURN_IF_ERROR(RunPasses(state));
  return std::move(state.plan);
}

}  // namespace

absl::StatusOr<Plan> PlanGraph(const ir::Graph& graph, const cuda::DeviceInfo& device,
                               const PlanOptions& options) {
  // Each graph stands behind those that it runs: one after the other, without recursion.
  std::vector<Plan> graphs;
  graphs.reserve(graph.graphs.size());
  for (const ir::Graph& part : graph.graphs) {
    WEFT_ASSIGN_OR_RETURN(Plan planned, PlanOne(part, device, options, graphs));
    graphs.push_back(std::move(planned));
  }
  WEFT_ASSIGN_OR_RETURN(Plan plan, PlanOne(graph, device, options, graphs));
  plan.graphs = std::move(graphs);
  if (options.verify == Verify::kOn) {
    const absl::Status verified = VerifyPlan(graph, plan);
    if (!verified.ok()) return WEFT_BUG(verified.message());
  }
  return plan;
}

}  // namespace weft::plan
