// Nodes that compute an expression elementwise: each becomes a launch of a kernel made of its text.
// Private to graph/ir.
//
// Thread safety: one thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "graph/ir/errors.h"
#include "graph/ir/expression_table.h"
#include "graph/ir/graph.h"
#include "graph/ir/user_kernel_reader.h"
#include "graph/ir/view_reader.h"
#include "graph/ir/violations.h"
#include "kernels/expression/expression.h"
#include "kernels/expression/expression_source.h"

namespace weft::v1 {
class Argument;
class ExpressionNode;
}  // namespace weft::v1

namespace weft::ir {

// Reads one node; made anew for each.
class ExpressionReader {
 public:
  // The references must outlive the reader.
  ExpressionReader(const NodePlace& place, const v1::ExpressionNode& node, const Graph& graph,
                   Violations& violations)
      : place_(place), node_(node), graph_(graph), violations_(violations) {}

  // nullopt when it is faulty. UserKernelOp::views is not set yet: `views()` has them.
  std::optional<UserKernelOp> Read(const ViewReader& views, ExpressionTable& table);

  const std::vector<UserKernelReader::ParameterView>& views() const { return views_; }

 private:
  // By name of the expression: the argument; -1: none is given.
  bool MatchArguments();
  void Refuse(int argument, const std::string& description);
  bool ReadElements(int argument, const ViewReader& views, ReadView& read);
  bool ReadTarget(const ViewReader& views);
  bool ReadOperand(uint32_t index, const ViewReader& views);
  bool ReadOperandView(uint32_t index, const ViewReader& views);
  bool ReadScalar(uint32_t index, const v1::Argument& argument);
  bool AddKernel(ExpressionTable& table);

  const NodePlace& place_;
  const v1::ExpressionNode& node_;
  const Graph& graph_;
  Violations& violations_;
  kernels::Expression expression_;
  int target_argument_ = -1;
  std::vector<int> arguments_;  // by Expression::names
  ReadView target_;
  uint64_t count_ = 0;  // elements of the target
  std::vector<kernels::ExpressionOperand> operands_;
  std::vector<UserKernelReader::ParameterView> views_;
  UserKernelOp op_;
};

}  // namespace weft::ir
