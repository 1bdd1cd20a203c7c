#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema SpinSchema() {
  KernelSchema schema;
  schema.name = "spin";
  schema.summary = "Busy for some time; for measurements.";
  schema.doc =
      "One thread polls the clock of the device (CPU driver: the monotonic clock) and writes when "
      "it started and ended.";
  schema.arguments = {
      Buffer("mark", "start and end, nanoseconds", Access::kWrite, OneOf({DType::kU64}),
             {Constant(2)}),
      ArgumentSchema{"ns", "how long, nanoseconds",
                     ScalarSchema{OneOf({DType::kI64}), Required(), Number{int64_t{0}},
                                  Number{int64_t{10000000000}}}},
  };
  schema.key = {SymbolKey::Kind::kDType, {0}};
  LaunchShape one;  // one block of one thread
  schema.phases = {{"spin", "", one}};
  return schema;
}

}  // namespace weft::kernels
