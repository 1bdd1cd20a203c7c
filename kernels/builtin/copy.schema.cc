#include "kernels/builtin/builtin_schemas.h"
#include "kernels/builtin/schema_parts.h"

namespace weft::kernels {

KernelSchema CopySchema() {
  KernelSchema schema;
  schema.name = "copy";
  schema.summary = "dst = src, element by element.";
  schema.doc = "Bits are kept, NaN payloads too.";
  schema.arguments = {
      Buffer("src", "what is read", Access::kRead, OneOf(AnyType()), Of({2})),
      Buffer("dst", "what is written", Access::kWrite, SameAs(0), Of({2})),
      Extent("n", "elements", Count(0)),
  };
  schema.key = {SymbolKey::Kind::kWidth, {0}};
  schema.phases = {{"copy", "", Elementwise(Of({2}))}};
  return schema;
}

}  // namespace weft::kernels
