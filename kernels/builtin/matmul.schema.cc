#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema MatmulSchema() {
  KernelSchema schema;
  schema.name = "matmul";
  schema.summary = "c = a * b.";
  schema.doc =
      "Sums in the compute type, in order of k, rounded once to the type of c. A GPU fuses each "
      "product with its addition, the CPU rounds both.";
  schema.arguments = {
      Buffer("a", "m x k, row-major", Access::kRead, OneOf(Floats()), Of({3, 5})),
      Buffer("b", "k x n, row-major", Access::kRead, SameAs(0), Of({5, 4})),
      Buffer("c", "m x n, row-major", Access::kWrite, SameAs(0), Of({3, 4})),
      Extent("m", "rows of a and c", Dimension(0, 1)),
      Extent("n", "columns of b and c", Dimension(1, 0)),
      Extent("k", "columns of a, rows of b", Dimension(0, 0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  schema.phases = {{"matmul", "", Tiled(Of({3}), Of({4}), 64, 16, 16)}};
  return schema;
}

}  // namespace weft::kernels
