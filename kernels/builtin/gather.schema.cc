#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema GatherSchema() {
  KernelSchema schema;
  schema.name = "gather";
  schema.summary = "dst[i] = src[index[i]].";
  schema.doc = "Bits are kept. An index outside of 0 .. size - 1 gives 0 (all bits zero).";
  schema.arguments = {
      Buffer("src", "what is read", Access::kRead, OneOf(AnyType()), Of({3})),
      Buffer("index", "places in src", Access::kRead, OneOf({DType::kI32, DType::kI64}), Of({4})),
      Buffer("dst", "what is written", Access::kWrite, SameAs(0), Of({4})),
      Extent("size", "elements of src", Count(0)),
      Extent("n", "elements of index and dst", Count(1)),
  };
  schema.key = {SymbolKey::Kind::kWidth, {0, 1}};
  schema.phases = {{"gather", "", Elementwise(Of({4}))}};
  return schema;
}

}  // namespace weft::kernels
