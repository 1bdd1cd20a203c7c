#include "graph/build/bindings.h"

#include "base/error_context.h"

namespace weft::build {

absl::StatusOr<cuda::Function> FunctionResolver::ResolveUser(uint32_t /*module*/,
                                                             const std::string& /*entry*/) {
  return WEFT_BUG("this resolver knows no modules of jobs");
}

absl::StatusOr<cuda::GlobalVariable> FunctionResolver::ResolveVariable(uint32_t,
                                                                       const std::string&) {
  return WEFT_BUG("a job with variables of its own was given a resolver of built-in kernels");
}

}  // namespace weft::build
