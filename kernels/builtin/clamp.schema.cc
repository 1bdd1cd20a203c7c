#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema ClampSchema() {
  KernelSchema schema;
  schema.name = "clamp";
  schema.summary = "y = x limited to [low, high].";
  schema.doc =
      "NaN stays NaN, and a NaN bound makes every result NaN. y may be x. low defaults to 0, so "
      "that clamp without low is a rectified "
      "linear unit up to high.";
  schema.arguments = {
      Buffer("x", "the operand", Access::kRead, OneOf(Arithmetic()), Of({4})),
      Buffer("y", "the result", Access::kWrite, SameAs(0), Of({4}), {0}),
      Scalar("low", "smallest result", ComputeOf(0), Default(int64_t{0})),
      Scalar("high", "largest result; not below low", ComputeOf(0), Required()),
      Extent("n", "elements", Count(0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  schema.phases = {{"clamp", "", Elementwise(Of({4}))}};
  return schema;
}

}  // namespace weft::kernels
