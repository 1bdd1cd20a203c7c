#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema GaussianBlurSchema() {
  KernelSchema schema;
  schema.name = "gaussian_blur";
  schema.summary = "dst = src blurred by a Gaussian.";
  schema.doc =
      "Separable, radius ceil(3 sigma), at most 64; f32 arithmetic; pixels beyond the border are "
      "the nearest ones inside. "
      "u8 results are rounded to nearest.";
  schema.arguments = {
      Buffer("src", "height x width, row-major", Access::kRead, OneOf({DType::kU8, DType::kF32}),
             Of({3, 4})),
      Buffer("dst", "height x width, row-major", Access::kWrite, SameAs(0), Of({3, 4})),
      ArgumentSchema{"sigma", "standard deviation in pixels",
                     ScalarSchema{OneOf({DType::kF64}), Default(1.0), Number{0.1}, Number{21.0}}},
      Extent("height", "rows", Dimension(0, 1)),
      Extent("width", "columns", Dimension(0, 0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  schema.workspace = {Of({3, 4}), 1, UINT64_MAX, 4};
  schema.phases = {{"gaussian_blur", "rows", Pixels(Of({3}), Of({4}), 64)},
                   {"gaussian_blur", "cols", Pixels(Of({3}), Of({4}), 64)}};
  return schema;
}

}  // namespace weft::kernels
