// Nodes that launch kernels of the job's modules: typed parameters, the launch within the device's
// limits. What only the compiled module tells (number and sizes of the parameters, registers) is
// checked where it is loaded. Private to graph/ir.
//
// Thread safety: one thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/ir/errors.h"
#include "graph/ir/graph.h"
#include "graph/ir/name_table.h"
#include "graph/ir/view_reader.h"
#include "graph/ir/violations.h"
#include "kernels/launch_shape.h"

namespace weft::v1 {
class KernelParameter;
class UserKernelNode;
}  // namespace weft::v1

namespace weft::ir {

// Reads one node; made anew for each.
class UserKernelReader {
 public:
  // The references must outlive the reader.
  UserKernelReader(const NodePlace& place, const v1::UserKernelNode& node, Violations& violations)
      : place_(place), node_(node), violations_(violations) {}

  // nullopt when it is faulty. UserKernelOp::views is not set yet: `views()` has them.
  std::optional<UserKernelOp> Read(const NameTable& modules, const ViewReader& views,
                                   const kernels::LaunchLimits& limits);

  struct ParameterView {
    View view;
    Access access = Access::kReadWrite;
  };
  const std::vector<ParameterView>& views() const { return views_; }

 private:
  bool ReadCode(const NameTable& modules, UserKernelOp& op);
  bool ReadParameter(int index, const v1::KernelParameter& parameter, const ViewReader& views,
                     UserKernelOp& op);
  bool ReadPointer(int index, const v1::KernelParameter& parameter, const ViewReader& views,
                   UserKernelOp& op);
  bool ReadTextureParameter(int index, const v1::KernelParameter& parameter,
                            const ViewReader& views, UserKernelOp& op);
  bool ReadLaunch(const kernels::LaunchLimits& limits, UserKernelOp& op);
  bool ReadCluster(const kernels::LaunchLimits& limits, UserKernelOp& op);
  bool ReadScheduling(const kernels::LaunchLimits& limits, UserKernelOp& op);

  const NodePlace& place_;
  const v1::UserKernelNode& node_;
  Violations& violations_;
  std::vector<ParameterView> views_;
};

}  // namespace weft::ir
