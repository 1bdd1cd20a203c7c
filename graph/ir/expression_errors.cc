// The part of errors.h that is about expressions.
#include "absl/strings/str_cat.h"
#include "graph/ir/error_text.h"
#include "graph/ir/errors.h"

namespace weft::ir {

FieldViolation ExpressionFault(const NodePlace& node, absl::string_view fault) {
  return {node.Field("expression.text"), absl::StrCat(NodeText(node), ", expression: ", fault)};
}

FieldViolation ExpressionNameMissing(const NodePlace& node, absl::string_view name) {
  return {node.Field("expression.args"),
          absl::StrCat(NodeText(node), ": the expression names ", Quote(name),
                       ", and no argument has that name; give it a view or a number")};
}

FieldViolation TooManyExpressions(const NodePlace& node, uint64_t limit) {
  return {node.Field("expression.text"),
          absl::StrCat(NodeText(node), " has one expression too many: a job may have ", limit,
                       " that differ in more than their numbers and views")};
}

}  // namespace weft::ir
