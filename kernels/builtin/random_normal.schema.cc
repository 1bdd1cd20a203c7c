#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema RandomNormalSchema() {
  KernelSchema schema;
  schema.name = "random_normal";
  schema.summary = "dst[i] = random number offset + i of the sequence of seed, normal.";
  schema.doc =
      "Box-Muller from the words of random_uniform, in the compute type, rounded once to the type "
      "of dst. An element depends on seed and offset + i alone, and is the same on every device.";
  schema.arguments = {
      Buffer("dst", "what is filled", Access::kWrite, OneOf(Floats()), Of({5})),
      Scalar("seed", "names the sequence", OneOf({DType::kU64}), Default(int64_t{0})),
      RandomOffset(),
      Scalar("mean", "of the distribution", ComputeOf(0), Default(0.0)),
      Scalar("stddev", "its standard deviation", ComputeOf(0), Default(1.0)),
      Extent("n", "elements", Count(0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  schema.phases = {{"random_normal", "", Elementwise(Of({5}))}};
  return schema;
}

}  // namespace weft::kernels
