#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema RandomUniformSchema() {
  KernelSchema schema;
  schema.name = "random_uniform";
  schema.summary = "dst[i] = random number offset + i of the sequence of seed, uniform.";
  schema.doc =
      "Philox4x32-10 (Salmon et al., SC'11), the block's number as counter, seed as key. Floats "
      "are "
      "in [0, 1), multiples of 2^-24 (f32), 2^-53 (f64), 2^-11 (f16) or 2^-8 (bf16); integers "
      "take all bits. An element depends on seed and offset + i alone, and is the same on every "
      "device.";
  std::vector<DType> dtypes = Floats();
  dtypes.insert(dtypes.end(), {DType::kU32, DType::kU64});
  schema.arguments = {
      Buffer("dst", "what is filled", Access::kWrite, OneOf(dtypes), Of({3})),
      Scalar("seed", "names the sequence", OneOf({DType::kU64}), Default(int64_t{0})),
      RandomOffset(),
      Extent("n", "elements", Count(0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  schema.phases = {{"random_uniform", "", Elementwise(Of({3}))}};
  return schema;
}

}  // namespace weft::kernels
