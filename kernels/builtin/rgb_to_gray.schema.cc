#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema RgbToGraySchema() {
  KernelSchema schema;
  schema.name = "rgb_to_gray";
  schema.summary = "dst = luma of src.";
  schema.doc = "(77 R + 150 G + 29 B + 128) / 256, rounded down: BT.601 weights in integers.";
  schema.arguments = {
      Buffer("src", "pixels of red, green, blue", Access::kRead, OneOf({DType::kU8}),
             {{2, 1}, Constant(3)}),
      Buffer("dst", "a gray level a pixel", Access::kWrite, SameAs(0), Of({2})),
      Extent("n", "pixels", Count(1)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  schema.phases = {{"rgb_to_gray", "", Elementwise(Of({2}))}};
  return schema;
}

}  // namespace weft::kernels
