#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema ArgminSchema() {
  KernelSchema schema;
  schema.name = "argmin";
  schema.summary = "dst[0] = the place of the smallest element of src, counted from 0.";
  schema.doc =
      "The first one of equals. The place of the first NaN if any element is NaN. Of nothing: -1.";
  schema.arguments = {
      Buffer("src", "what is read", Access::kRead, OneOf(Arithmetic()), Of({2})),
      Buffer("dst", "one element", Access::kWrite, OneOf({DType::kI64}), {Constant(1)}),
      Extent("n", "elements", Count(0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  schema.workspace = ReduceWorkspace(Of({2}));
  schema.phases = {{"argmin", "partial", ReducePartialShape(Of({2}))},
                   {"argmin", "final", ReduceFinalShape()}};
  return schema;
}

}  // namespace weft::kernels
