#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema Stencil5Schema() {
  KernelSchema schema;
  schema.name = "stencil5";
  schema.summary = "dst = src + alpha * (up + down + left + right - 4 * src).";
  schema.doc = "A step of diffusion; neighbours beyond the border are the nearest elements inside.";
  schema.arguments = {
      Buffer("src", "height x width, row-major", Access::kRead, OneOf({DType::kF32, DType::kF64}),
             Of({3, 4})),
      Buffer("dst", "height x width, row-major", Access::kWrite, SameAs(0), Of({3, 4})),
      Scalar("alpha", "the step; stable up to 0.25", SameAs(0), Default(0.25)),
      Extent("height", "rows", Dimension(0, 1)),
      Extent("width", "columns", Dimension(0, 0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  schema.phases = {{"stencil5", "", Pixels(Of({3}), Of({4}), 8)}};
  return schema;
}

}  // namespace weft::kernels
