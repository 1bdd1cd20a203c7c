#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema CompactSchema() {
  KernelSchema schema;
  schema.name = "compact";
  schema.summary =
      "dst = the elements of src whose mask is not 0, in their order; count[0] = how many.";
  schema.doc = "Bits are kept. The elements of dst behind them become 0 (all bits zero).";
  schema.arguments = {
      Buffer("src", "what is read", Access::kRead, OneOf(AnyType()), Of({4})),
      Buffer("mask", "which elements are kept", Access::kRead, OneOf({DType::kU8}), Of({4})),
      Buffer("dst", "what is written", Access::kWrite, SameAs(0), Of({4})),
      Buffer("count", "one element", Access::kWrite, OneOf({DType::kI64}), {Constant(1)}),
      Extent("n", "elements of src, mask and dst", Count(0)),
  };
  schema.key = {SymbolKey::Kind::kWidth, {0}};
  schema.workspace = ScanWorkspace(Of({4}));
  // The second is one block also of nothing, whose count is 0.
  schema.phases = {{"compact", "count", ScanShape(Of({4}))},
                   {"compact", "place", ReduceFinalShape()},
                   {"compact", "move", ScanShape(Of({4}))}};
  return schema;
}

}  // namespace weft::kernels
