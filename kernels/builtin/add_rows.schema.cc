#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema AddRowsSchema() {
  KernelSchema schema;
  schema.name = "add_rows";
  schema.summary = "y[r][c] = x[r][c] + row[c].";
  schema.doc = "In the compute type, rounded once to the type of y. y may be x.";
  schema.arguments = {
      Buffer("x", "rows x cols, row-major", Access::kRead, OneOf(Floats()), Of({3, 4})),
      Buffer("row", "cols elements, added to every row", Access::kRead, SameAs(0), Of({4})),
      Buffer("y", "rows x cols, row-major", Access::kWrite, SameAs(0), Of({3, 4}), {0}),
      Extent("rows", "rows", Leading(0, 1)),
      Extent("cols", "columns", Dimension(0, 0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  schema.phases = {{"add_rows", "", Elementwise(Of({3, 4}))}};
  return schema;
}

}  // namespace weft::kernels
