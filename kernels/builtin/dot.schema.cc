#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema DotSchema() {
  KernelSchema schema;
  schema.name = "dot";
  schema.summary = "dst[0] = the sum of a[i] * b[i].";
  schema.doc =
      "In the sum type of a, each product rounded before it is added, in the order of reduce_sum, "
      "which depends on n alone. The dot product of nothing is 0.";
  schema.arguments = {
      Buffer("a", "what is read", Access::kRead, OneOf(Floats()), Of({3})),
      Buffer("b", "what is read", Access::kRead, SameAs(0), Of({3})),
      Buffer("dst", "one element", Access::kWrite, SumOf(0), {Constant(1)}),
      Extent("n", "elements", Count(0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  schema.workspace = ReduceWorkspace(Of({3}));
  schema.phases = {{"dot", "partial", ReducePartialShape(Of({3}))},
                   {"dot", "final", ReduceFinalShape()}};
  return schema;
}

}  // namespace weft::kernels
