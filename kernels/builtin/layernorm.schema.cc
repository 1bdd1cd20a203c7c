#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema LayernormSchema() {
  KernelSchema schema;
  schema.name = "layernorm";
  schema.summary = "Each row of y = (x - mean) / sqrt(variance + epsilon) * gamma + beta.";
  schema.doc =
      "Mean and variance (divided by cols) are those of the row; in the compute type, rounded once "
      "to the type of y. A row with a NaN or an infinity becomes NaN. y may be x.";
  schema.arguments = {
      Buffer("x", "rows x cols, row-major", Access::kRead, OneOf(Floats()), Of({5, 6})),
      Buffer("gamma", "cols factors", Access::kRead, SameAs(0), Of({6})),
      Buffer("beta", "cols summands", Access::kRead, SameAs(0), Of({6})),
      Buffer("y", "rows x cols, row-major", Access::kWrite, SameAs(0), Of({5, 6}), {0}),
      ArgumentSchema{"epsilon", "added to the variance",
                     ScalarSchema{ComputeOf(0), Default(1e-5), Number{0.0}, std::nullopt}},
      Extent("rows", "rows", Leading(0, 1)),
      Extent("cols", "columns", Dimension(0, 0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  LaunchShape rows;
  rows.grid[0] = {Of({5}), 1, 65536};
  rows.block[0] = 256;
  schema.phases = {{"layernorm", "", rows}};
  return schema;
}

}  // namespace weft::kernels
