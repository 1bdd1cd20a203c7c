#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema ReduceMinSchema() {
  KernelSchema schema;
  schema.name = "reduce_min";
  schema.summary = "dst[0] = the smallest element of src.";
  schema.doc =
      "NaN if any element is NaN. Of nothing: the largest value of the type (infinity for floats).";
  schema.arguments = {
      Buffer("src", "what is read", Access::kRead, OneOf(Arithmetic()), Of({2})),
      Buffer("dst", "one element", Access::kWrite, SameAs(0), {Constant(1)}),
      Extent("n", "elements", Count(0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  schema.workspace = ReduceWorkspace(Of({2}));
  schema.phases = {{"reduce_min", "partial", ReducePartialShape(Of({2}))},
                   {"reduce_min", "final", ReduceFinalShape()}};
  return schema;
}

}  // namespace weft::kernels
