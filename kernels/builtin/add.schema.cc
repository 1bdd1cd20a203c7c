#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema AddSchema() {
  KernelSchema schema;
  schema.name = "add";
  schema.summary = "dst = a + b.";
  schema.doc =
      "In the compute type, rounded once to the type of dst; integers wrap. dst may be a or b.";
  schema.arguments = {
      Buffer("a", "left operand", Access::kRead, OneOf(Arithmetic()), Of({3})),
      Buffer("b", "right operand", Access::kRead, SameAs(0), Of({3})),
      Buffer("dst", "the result", Access::kWrite, SameAs(0), Of({3}), {0, 1}),
      Extent("n", "elements", Count(0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  schema.phases = {{"add", "", Elementwise(Of({3}))}};
  return schema;
}

}  // namespace weft::kernels
