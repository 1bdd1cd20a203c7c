#include "graph/build/bindings.h"

#include "base/error_context.h"

namespace weft::build {

absl::StatusOr<cuda::Function> FunctionResolver::ResolveUser(uint32_t /*module*/,
                                                             const std::string& /*entry*/) {
  return WEFT_BUG("this resolver knows no modules of jobs");
}

}  // namespace weft::build
