#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema SoftmaxSchema() {
  KernelSchema schema;
  schema.name = "softmax";
  schema.summary = "Each row of y = exp(x - max of the row) / sum.";
  schema.doc =
      "In the compute type, rounded once to the type of y. A row with a NaN becomes NaN. y may be "
      "x.";
  schema.arguments = {
      Buffer("x", "rows x cols, row-major", Access::kRead, OneOf(Floats()), Of({2, 3})),
      Buffer("y", "rows x cols, row-major", Access::kWrite, SameAs(0), Of({2, 3}), {0}),
      Extent("rows", "rows", Leading(0, 1)),
      Extent("cols", "columns", Dimension(0, 0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  LaunchShape rows;
  rows.grid[0] = {Of({2}), 1, 65536};
  rows.block[0] = 256;
  schema.phases = {{"softmax", "", rows}};
  return schema;
}

}  // namespace weft::kernels
