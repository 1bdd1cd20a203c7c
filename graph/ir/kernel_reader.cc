#include "graph/ir/kernel_reader.h"

#include <string>
#include <utility>

#include "weft/v1/job.pb.h"

namespace weft::ir {
KernelReader::KernelReader(const NodePlace& place, const v1::KernelNode& node, const Graph& graph,
                           Violations& violations)
    : place_(place),
      node_(node),
      violations_(violations),
      arguments_(place, "kernel.args", node.args(), graph, violations) {}

bool KernelReader::PlanLaunches(const kernels::KernelSchema& schema,
                                const kernels::LaunchLimits& limits, KernelOp& op) {
  kernels::LaunchOverride chosen;
  if (node_.has_launch()) {
    const v1::LaunchShape& launch = node_.launch();
    chosen.grid = kernels::Dim3{launch.grid_x(), launch.grid_y(), launch.grid_z()};
    chosen.block = kernels::Dim3{launch.block_x(), launch.block_y(), launch.block_z()};
  }
  absl::StatusOr<kernels::LaunchPlan> plan = PlanLaunch(schema, op.call, limits, chosen);
  if (plan.ok()) {
    op.phases = std::move(plan->phases);
    return true;
  }
  for (const FieldViolation& violation : ViolationsOf(plan.status())) {
    const char* part = node_.has_launch() ? "kernel.launch" : "kernel";
    violations_.Add(KernelRefuses(place_, part, violation.field, violation.description));
  }
  return false;
}

std::optional<KernelOp> KernelReader::Read(const kernels::KernelSchema& schema,
                                           const ViewReader& views,
                                           const kernels::LaunchLimits& limits) {
  std::optional<kernels::BoundCall> call = arguments_.Read(schema, views);
  if (!call.has_value()) return std::nullopt;
  KernelOp op;
  op.schema = &schema;
  op.call = *std::move(call);
  if (!PlanLaunches(schema, limits, op)) return std::nullopt;
  return op;
}

}  // namespace weft::ir
