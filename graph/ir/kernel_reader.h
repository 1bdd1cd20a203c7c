// Kernel nodes: arguments bound to the schema, launches within the device's limits. Private to
// graph/ir.
//
// Thread safety: one thread.
#pragma once

#include <optional>
#include <vector>

#include "graph/ir/errors.h"
#include "graph/ir/graph.h"
#include "graph/ir/view_reader.h"
#include "graph/ir/violations.h"
#include "kernels/bind.h"
#include "kernels/launch_shape.h"

namespace weft::v1 {
class Argument;
class KernelNode;
}  // namespace weft::v1

namespace weft::ir {

// Reads one kernel node; made anew for each.
class KernelReader {
 public:
  // The references must outlive the reader.
  KernelReader(const NodePlace& place, const v1::KernelNode& node, const Graph& graph,
               Violations& violations)
      : place_(place), node_(node), graph_(graph), violations_(violations) {}

  // nullopt when it is faulty. KernelOp::views is not set yet: `views()` has them.
  std::optional<KernelOp> Read(const kernels::KernelSchema& schema, const ViewReader& views,
                               const kernels::LaunchLimits& limits);

  // One view a buffer argument, in schema order, and the bytes of each that the kernel touches.
  struct ArgumentView {
    View view;
    ByteRange touched;
    Access access = Access::kRead;
  };
  const std::vector<ArgumentView>& views() const { return views_; }

 private:
  bool ReadArguments(const ViewReader& views);
  bool ReadArgument(int index, const v1::Argument& argument, const ViewReader& views);
  void Report(const FieldViolation& violation);
  void CollectViews(const kernels::KernelSchema& schema, const kernels::BoundCall& call);
  bool PlanLaunches(const kernels::KernelSchema& schema, const kernels::LaunchLimits& limits,
                    KernelOp& op);

  const NodePlace& place_;
  const v1::KernelNode& node_;
  const Graph& graph_;
  Violations& violations_;
  std::vector<ReadView> read_;  // of the view arguments; given_ points into their shapes
  std::vector<std::optional<uint32_t>> read_index_;  // by argument, in read_
  std::vector<kernels::GivenArgument> given_;
  std::vector<ArgumentView> views_;
};

}  // namespace weft::ir
