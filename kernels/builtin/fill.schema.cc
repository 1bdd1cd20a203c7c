#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema FillSchema() {
  KernelSchema schema;
  schema.name = "fill";
  schema.summary = "Every element of dst becomes value.";
  schema.doc = "The value is rounded once to the type of dst; an integer keeps its low bits.";
  schema.arguments = {
      Buffer("dst", "what is filled", Access::kWrite, OneOf(Arithmetic()), Of({2})),
      Scalar("value", "the value of every element", ComputeOf(0), Default(int64_t{0})),
      Extent("n", "elements", Count(0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  schema.phases = {{"fill", "", Elementwise(Of({2}))}};
  return schema;
}

}  // namespace weft::kernels
