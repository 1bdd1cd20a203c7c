#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema SobelSchema() {
  KernelSchema schema;
  schema.name = "sobel";
  schema.summary = "dst = magnitude of the gradient of src.";
  schema.doc =
      "3 x 3 Sobel operators, sqrt(gx^2 + gy^2) in f32; pixels beyond the border are the nearest "
      "ones inside. u8 results are "
      "rounded to nearest and saturate at 255.";
  schema.arguments = {
      Buffer("src", "height x width, row-major", Access::kRead, OneOf({DType::kU8, DType::kF32}),
             Of({2, 3})),
      Buffer("dst", "height x width, row-major", Access::kWrite, SameAs(0), Of({2, 3})),
      Extent("height", "rows", Dimension(0, 1)),
      Extent("width", "columns", Dimension(0, 0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  schema.phases = {{"sobel", "", Pixels(Of({2}), Of({3}), 8)}};
  return schema;
}

}  // namespace weft::kernels
