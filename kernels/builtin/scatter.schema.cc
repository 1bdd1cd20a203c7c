#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema ScatterSchema() {
  KernelSchema schema;
  schema.name = "scatter";
  schema.summary = "dst[index[i]] = src[i].";
  schema.doc =
      "Bits are kept, and so are the elements of dst that no index names. An index outside of 0 .. "
      "size - 1 is skipped. Of equal indices the last one, with the highest i, counts. The "
      "workspace takes 8 bytes an element of dst.";
  schema.arguments = {
      Buffer("src", "what is read", Access::kRead, OneOf(AnyType()), Of({3})),
      Buffer("index", "places in dst", Access::kRead, OneOf({DType::kI32, DType::kI64}), Of({3})),
      Buffer("dst", "what is written to", Access::kReadWrite, SameAs(0), Of({4})),
      Extent("n", "elements of src and index", Count(1)),
      Extent("size", "elements of dst", Count(2)),
  };
  schema.key = {SymbolKey::Kind::kWidth, {0, 1}};
  schema.workspace = {Of({4}), 1, UINT64_MAX, 8};
  schema.phases = {{"scatter", "clear", Elementwise(Of({4}))},
                   {"scatter", "claim", Elementwise(Of({3}))},
                   {"scatter", "move", Elementwise(Of({4}))}};
  return schema;
}

}  // namespace weft::kernels
