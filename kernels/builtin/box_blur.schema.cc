#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema BoxBlurSchema() {
  KernelSchema schema;
  schema.name = "box_blur";
  schema.summary =
      "dst = the mean of the (2 radius + 1) x (2 radius + 1) pixels of src around each.";
  schema.doc =
      "Separable; f32 arithmetic, in which sums of u8 are exact; pixels beyond the border are the "
      "nearest ones inside. u8 results are rounded to nearest.";
  schema.arguments = {
      Buffer("src", "height x width, row-major", Access::kRead, OneOf({DType::kU8, DType::kF32}),
             Of({3, 4})),
      Buffer("dst", "height x width, row-major", Access::kWrite, SameAs(0), Of({3, 4})),
      ArgumentSchema{"radius", "pixels on either side",
                     ScalarSchema{OneOf({DType::kI64}), Default(int64_t{1}), Number{int64_t{0}},
                                  Number{int64_t{64}}}},
      Extent("height", "rows", Dimension(0, 1)),
      Extent("width", "columns", Dimension(0, 0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  schema.workspace = {Of({3, 4}), 1, UINT64_MAX, 4};
  schema.phases = {{"box_blur", "rows", Pixels(Of({3}), Of({4}), 64)},
                   {"box_blur", "cols", Pixels(Of({3}), Of({4}), 64)}};
  return schema;
}

}  // namespace weft::kernels
