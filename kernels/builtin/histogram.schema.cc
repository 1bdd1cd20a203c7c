#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema HistogramSchema() {
  KernelSchema schema;
  schema.name = "histogram";
  schema.summary = "counts[v] = how many elements of src equal v.";
  schema.doc =
      "counts is cleared first. Values outside of 0 .. bins - 1 are not counted; counts wrap at "
      "2^32.";
  schema.arguments = {
      Buffer("src", "what is counted", Access::kRead, OneOf({DType::kU8, DType::kI32}), Of({3})),
      Buffer("counts", "a count a bin", Access::kWrite, OneOf({DType::kU32}), Of({2})),
      Extent("bins", "number of bins", Count(1)),
      Extent("n", "elements of src", Count(0)),
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  LaunchShape count;
  count.grid[0] = {Of({3}), 4096,
                   1024};  // some elements a thread, so that adding up a block's counts pays
  count.block[0] = 256;
  count.shared_units = Of({2});
  count.shared_unit_bytes = 4;
  count.shared_max_bytes = 48 * 1024;
  schema.phases = {{"histogram", "clear", Elementwise(Of({2}))}, {"histogram", "count", count}};
  return schema;
}

}  // namespace weft::kernels
