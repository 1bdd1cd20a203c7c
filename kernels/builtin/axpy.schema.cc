#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema AxpySchema() {
  KernelSchema schema;
  schema.name = "axpy";
  schema.summary = "y = a * x + y.";
  schema.doc =
      "Product and sum are rounded separately in the compute type, then once to the type of y; "
      "integers wrap.";
  schema.arguments = {
      Buffer("x", "the scaled operand", Access::kRead, OneOf(Arithmetic()), Of({3})),
      Buffer("y", "operand and result", Access::kReadWrite, SameAs(0), Of({3})),
      Scalar("a", "the factor", ComputeOf(0), Default(int64_t{1})),
      Extent("n", "elements", Count(0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  schema.phases = {{"axpy", "", Elementwise(Of({3}))}};
  return schema;
}

}  // namespace weft::kernels
