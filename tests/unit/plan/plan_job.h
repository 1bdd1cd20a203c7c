// Job text → graph and verified plan, with the small test kernels.
#pragma once

#include <limits>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "graph/ir/assumed_device.h"
#include "graph/ir/job_file.h"
#include "graph/ir/validate.h"
#include "graph/plan/planner.h"
#include "tests/unit/ir/small_kernels.h"
#include "weft/v1/job.pb.h"

namespace weft::testing {

struct PlannedJob {
  ir::Graph graph;
  plan::Plan plan;
};

inline absl::StatusOr<PlannedJob> PlanJob(const v1::Job& job, plan::PlanOptions options = {},
                                          plan::Verify verify = plan::Verify::kOn) {
  const std::vector<cuda::DeviceInfo> devices = {ir::AssumedDevice()};
  ir::JobContext context;
  context.devices = devices;
  context.uploads = ir::UploadData::kStripped;
  context.registry = &SmallKernels();
  context.limits.max_output_bytes = std::numeric_limits<uint64_t>::max();  // plans hold none
  WEFT_ASSIGN_OR_RETURN(ir::Graph graph, ir::ValidateJob(job, context));
  options.verify = verify;
  WEFT_ASSIGN_OR_RETURN(plan::Plan plan, plan::PlanGraph(graph, devices[0], options));
  return PlannedJob{std::move(graph), std::move(plan)};
}

inline absl::StatusOr<PlannedJob> PlanText(absl::string_view text, plan::PlanOptions options = {}) {
  WEFT_ASSIGN_OR_RETURN(const v1::Job job, ir::ParseJob(text, ir::JobFormat::kText));
  return PlanJob(job, std::move(options));
}

}  // namespace weft::testing
