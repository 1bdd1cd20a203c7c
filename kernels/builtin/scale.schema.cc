#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema ScaleSchema() {
  KernelSchema schema;
  schema.name = "scale";
  schema.summary = "y = a * x.";
  schema.doc =
      "Rounded in the compute type, then once to the type of y; integers wrap. y may be x.";
  schema.arguments = {
      Buffer("x", "the operand", Access::kRead, OneOf(Arithmetic()), Of({3})),
      Buffer("y", "the result", Access::kWrite, SameAs(0), Of({3}), {0}),
      Scalar("a", "the factor", ComputeOf(0), Required()),
      Extent("n", "elements", Count(0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  schema.phases = {{"scale", "", Elementwise(Of({3}))}};
  return schema;
}

}  // namespace weft::kernels
