// Device-wide algorithms by CUB: prim.gpu.so, which the build makes of kernels/library/prim*.cu, loaded
// when first needed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/library_call.h"
#include "cuda/prim_abi.h"

namespace weft::cuda {

// A call and its workspace, aligned to 256.
struct PrimRequest {
  weft_prim_call call{};
  CUdeviceptr workspace = 0;
  uint64_t workspace_bytes = 0;
};

// Thread safety: all members may be called from any thread. The context outlives it, and it outlives
// the calls made.
class Prim {
 public:
  // Looks for prim.gpu.so in the folders, or for the file that WEFT_PRIM names (toolkit_library.h).
  // Errors: NOT_FOUND (also when it is of another build).
  static absl::StatusOr<std::unique_ptr<const Prim>> Load(const Context& context,
                                                          const std::vector<std::string>& folders);

  // The first call loads the library's code into the context: some ms.
  // Errors: RESOURCE_EXHAUSTED (it needs more than the workspace has, with both figures), INTERNAL.
  absl::StatusOr<std::shared_ptr<const LibraryCall>> Prepare(const PrimRequest& request) const;

 private:
  Prim(const ContextRef& context, const weft_prim_table_v1& table)
      : context_(context), table_(table) {}
  const ContextRef context_;
  const weft_prim_table_v1& table_;  // stays loaded
};

}  // namespace weft::cuda
