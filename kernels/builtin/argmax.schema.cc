#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema ArgmaxSchema() {
  KernelSchema schema;
  schema.name = "argmax";
  schema.summary = "dst[0] = the place of the largest element of src, counted from 0.";
  schema.doc =
      "The first one of equals. The place of the first NaN if any element is NaN. Of nothing: -1.";
  schema.arguments = {
      Buffer("src", "what is read", Access::kRead, OneOf(Arithmetic()), Of({2})),
      Buffer("dst", "one element", Access::kWrite, OneOf({DType::kI64}), {Constant(1)}),
      Extent("n", "elements", Count(0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  schema.workspace = ReduceWorkspace(Of({2}));
  schema.phases = {{"argmax", "partial", ReducePartialShape(Of({2}))},
                   {"argmax", "final", ReduceFinalShape()}};
  return schema;
}

}  // namespace weft::kernels
