#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema ReduceSumSchema() {
  KernelSchema schema;
  schema.name = "reduce_sum";
  schema.summary = "dst[0] = the sum of src.";
  schema.doc =
      "In the sum type of src, in an order that depends on n alone: the same input gives the same "
      "result. The sum of "
      "nothing is 0.";
  schema.arguments = {
      Buffer("src", "what is read", Access::kRead, OneOf(Arithmetic()), Of({2})),
      Buffer("dst", "one element", Access::kWrite, SumOf(0), {Constant(1)}),
      Extent("n", "elements", Count(0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  schema.workspace = ReduceWorkspace(Of({2}));
  schema.phases = {{"reduce_sum", "partial", ReducePartialShape(Of({2}))},
                   {"reduce_sum", "final", ReduceFinalShape()}};
  return schema;
}

}  // namespace weft::kernels
