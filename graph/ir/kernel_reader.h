// Kernel nodes: arguments bound to the schema, launches within the device's limits. Private to
// graph/ir.
//
// Thread safety: one thread.
#pragma once

#include <optional>
#include <vector>

#include "graph/ir/argument_reader.h"
#include "graph/ir/errors.h"
#include "graph/ir/graph.h"
#include "graph/ir/view_reader.h"
#include "graph/ir/violations.h"
#include "kernels/bind.h"
#include "kernels/launch_shape.h"

namespace weft::v1 {
class KernelNode;
}  // namespace weft::v1

namespace weft::ir {

// Reads one kernel node; made anew for each.
class KernelReader {
 public:
  // The references must outlive the reader.
  KernelReader(const NodePlace& place, const v1::KernelNode& node, const Graph& graph,
               Violations& violations);

  // nullopt when it is faulty. KernelOp::views is not set yet: `views()` has them.
  std::optional<KernelOp> Read(const kernels::KernelSchema& schema, const ViewReader& views,
                               const kernels::LaunchLimits& limits);

  const std::vector<ArgumentReader::ArgumentView>& views() const { return arguments_.views(); }

 private:
  bool PlanLaunches(const kernels::KernelSchema& schema, const kernels::LaunchLimits& limits,
                    KernelOp& op);

  const NodePlace& place_;
  const v1::KernelNode& node_;
  Violations& violations_;
  ArgumentReader arguments_;
};

}  // namespace weft::ir
