#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema TransposeSchema() {
  KernelSchema schema;
  schema.name = "transpose";
  schema.summary = "dst[c][r] = src[r][c].";
  schema.doc = "Bits are kept.";
  schema.arguments = {
      Buffer("src", "rows x cols, row-major", Access::kRead, OneOf(AnyType()), Of({2, 3})),
      Buffer("dst", "cols x rows, row-major", Access::kWrite, SameAs(0), Of({3, 2})),
      Extent("rows", "rows of src", Dimension(0, 1)),
      Extent("cols", "columns of src", Dimension(0, 0)),
  };
  schema.key = {SymbolKey::Kind::kWidth, {0}};
  schema.phases = {{"transpose", "", Tiled(Of({2}), Of({3}), 32, 32, 8)}};
  return schema;
}

}  // namespace weft::kernels
