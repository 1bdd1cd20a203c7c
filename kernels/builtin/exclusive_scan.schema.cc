#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema ExclusiveScanSchema() {
  KernelSchema schema;
  schema.name = "exclusive_scan";
  schema.summary = "dst[i] = sum of src[0 .. i], src[i] left out.";
  schema.doc =
      "In the sum type of src, in an order that depends on n alone. dst may be src where their "
      "types are the same.";
  schema.arguments = {
      Buffer("src", "what is read", Access::kRead, OneOf(Arithmetic()), Of({2})),
      Buffer("dst", "the running sums", Access::kWrite, SumOf(0), Of({2}), {0}),
      Extent("n", "elements", Count(0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  schema.workspace = ScanWorkspace(Of({2}));
  schema.phases = {{"scan", "sums", ScanShape(Of({2}))},
                   {"scan", "offsets", ScanOffsetsShape(Of({2}))},
                   {"exclusive_scan", "add", ScanShape(Of({2}))}};
  return schema;
}

}  // namespace weft::kernels
