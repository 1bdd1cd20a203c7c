// What a plan needs to become real on one device: addresses and functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/module.h"
#include "graph/ir/graph.h"
#include "graph/plan/plan.h"

namespace weft::build {

// Where the memory of a plan lies. A value; owns nothing. The memory must stay where it is as long
// as anything built with these addresses may be launched.
struct Bindings {
  // By BufferIndex: the address of each shared buffer. Entries of scratch buffers are not read; the
  // vector may be shorter when only scratch buffers lie behind its end.
  std::vector<CUdeviceptr> buffers;
  // Start of the plan's scratch area, plan::kAreaAlignment aligned; not read when it has none.
  CUdeviceptr scratch = 0;
  // Start of the plan's staging area, page-locked host memory as the device addresses it
  // (PinnedHost::device_address); not read when it has none.
  CUdeviceptr staging = 0;
};

// Finds the entry point of a kernel, and keeps its module loaded as long as what was built with it
// lives.
class FunctionResolver {
 public:
  virtual ~FunctionResolver() = default;
  // Asked once for each symbol of a build.
  // Errors: NOT_FOUND (no image has `symbol`), FAILED_PRECONDITION (no code for this device).
  virtual absl::StatusOr<cuda::Function> Resolve(const std::string& symbol) = 0;
  // The kernel `entry` of module `module` of the job (ir::Graph::modules).
  // Errors: NOT_FOUND, with the kernels that there are where that is known.
  virtual absl::StatusOr<cuda::Function> ResolveUser(uint32_t module, const std::string& entry);
  // The variable `symbol` of module `module` of the job. Errors: NOT_FOUND.
  virtual absl::StatusOr<cuda::GlobalVariable> ResolveVariable(uint32_t module,
                                                               const std::string& symbol);
};

// All that a plan is built from. References: the context must outlive what is built, the others the
// call alone.
struct BuildInput {
  const cuda::Context& context;
  const ir::Graph& graph;
  const plan::Plan& plan;  // made from `graph`
  const Bindings& bindings;
  FunctionResolver& resolver;
};

}  // namespace weft::build
