// ir::Graph → Plan, through the passes of pass_pipeline.h.
//
//   plan::PlanOptions options;
//   options.max_lanes = request.max_lanes();
//   WEFT_ASSIGN_OR_RETURN(options.passes, plan::PassSwitches::Parse("-reduce_edges"));
//   WEFT_ASSIGN_OR_RETURN(plan::Plan plan, plan::PlanGraph(graph, device, options));
//
// Thread safety: pure functions. Cost: near-linear in nodes and uses: about 10 µs for one node,
// below 1 s for 300,000. No recursion.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "cuda/device_info.h"
#include "graph/ir/graph.h"
#include "graph/plan/plan.h"

namespace weft::plan {

// Which passes run. A pass that is switched off is replaced by the simplest thing that is correct
// (one lane, no sharing of scratch bytes, all edges kept), so that a wrong result can be traced to
// a pass.
class PassSwitches {
 public:
  PassSwitches() = default;  // all on
  // Comma-separated: "-name" switches a pass off, "name" switches off all those that are not named,
  // "all" and "none" say themselves; empty: all on. INVALID_ARGUMENT for an unknown name, with the
  // nearest.
  static absl::StatusOr<PassSwitches> Parse(absl::string_view text);

  bool IsOn(absl::string_view pass) const;
  // As Parse reads it: "-assign_lanes,-reduce_edges"; empty: all on.
  std::string ToString() const;

 private:
  std::vector<std::string> off_;  // sorted
};

// The passes that can be switched off, in the order in which they run.
std::vector<std::string> SwitchablePasses();

enum class Use : uint8_t {
  kRepeated,  // the plan is kept and launched again: a graph
  kOnce,      // the plan runs once: a graph only where that is quicker
};
enum class Verify : uint8_t { kOff, kOn };

struct PlanOptions {
  // At most so many lanes; 0: what the device uses well. The job's own limit (JobOptions.max_lanes)
  // counts too.
  uint32_t max_lanes = 0;
  PassSwitches passes;
  Use use = Use::kRepeated;
  // Checks the plan with verify_plan.h after the last pass; a fault is INTERNAL (a bug of Weft).
  // Costs about as much as planning.
  Verify verify = Verify::kOff;
  // Called after each pass with its name and the plan so far; may be empty.
  std::function<void(absl::string_view pass, const Plan& plan)> dump_after;
  const Clock* clock = nullptr;  // for the durations in Plan::passes; nullptr: Clock::Real()
};

// REQUIRES: `graph` passed ir::ValidateJob for `device`.
// Errors: INVALID_ARGUMENT with field violations (a cycle of data and `after`, its nodes named in
// order), RESOURCE_EXHAUSTED (scratch beyond the memory of the device, with the figures).
absl::StatusOr<Plan> PlanGraph(const ir::Graph& graph, const cuda::DeviceInfo& device,
                               const PlanOptions& options = {});

// Lanes that a plan for `device` uses at most (DeviceInfo.max_lanes of the API).
uint32_t UsefulLanes(const cuda::DeviceInfo& device);

}  // namespace weft::plan
