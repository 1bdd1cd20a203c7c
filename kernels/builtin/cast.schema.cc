#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema CastSchema() {
  KernelSchema schema;
  schema.name = "cast";
  schema.summary = "dst = src, converted to the type of dst.";
  schema.doc =
      "Floats round to nearest, ties to even; beyond the largest finite value they become "
      "infinite. A float becomes an"
      " integer by truncation, clamped to its range; NaN becomes 0. An integer that does not fit "
      "keeps its low bits.";
  schema.arguments = {
      Buffer("src", "what is read", Access::kRead, OneOf(Arithmetic()), Of({2})),
      Buffer("dst", "what is written", Access::kWrite, OneOf(Arithmetic()), Of({2})),
      Extent("n", "elements", Count(0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0, 1}};
  schema.phases = {{"cast", "", Elementwise(Of({2}))}};
  return schema;
}

}  // namespace weft::kernels
