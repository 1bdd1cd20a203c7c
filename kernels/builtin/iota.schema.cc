#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema IotaSchema() {
  KernelSchema schema;
  schema.name = "iota";
  schema.summary = "dst[i] = start + i * step.";
  schema.doc =
      "Computed in the compute type of dst, product first, then rounded once; integers wrap.";
  schema.arguments = {
      Buffer("dst", "what is filled", Access::kWrite, OneOf(Arithmetic()), Of({3})),
      Scalar("start", "the first value", ComputeOf(0), Default(int64_t{0})),
      Scalar("step", "difference of neighbours", ComputeOf(0), Default(int64_t{1})),
      Extent("n", "elements", Count(0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  schema.phases = {{"iota", "", Elementwise(Of({3}))}};
  return schema;
}

}  // namespace weft::kernels
