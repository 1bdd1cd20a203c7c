// What a plan needs to become real on one device: addresses and functions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/graph.h"
#include "cuda/library_call.h"
#include "cuda/module.h"
#include "graph/ir/graph.h"
#include "graph/plan/plan.h"
#include "kernels/bind.h"
#include "kernels/schema.h"

namespace weft::build {

// Where the memory of a plan lies. A value; owns nothing. The memory must stay where it is as long
// as anything built with these addresses may be launched.
struct Bindings {
  // By BufferIndex: the address of each shared buffer, and of each parameter of a graph. Entries of
  // scratch buffers are not read; the vector may be shorter when only scratch buffers lie behind its
  // end.
  std::vector<CUdeviceptr> buffers;
  // Start of the plan's scratch area, plan::kAreaAlignment aligned; not read when it has none.
  CUdeviceptr scratch = 0;
  // Start of the area of pinned buffers, page-locked host memory as the device addresses it; and of
  // managed ones, plan::kManagedAlignment aligned. Not read when the plan has none.
  CUdeviceptr pinned = 0;
  CUdeviceptr managed = 0;
  // Start of the plan's staging area, page-locked host memory as the device addresses it
  // (PinnedHost::device_address); not read when it has none.
  CUdeviceptr staging = 0;
  // By position in ir::Graph::outputs: what tells that an output is in the staging area, called behind
  // its copy at every run. Of outputs that are delivered at the end nothing is read; the vector may be
  // shorter when only such are behind its end.
  std::vector<cuda::HostNode> output_ready;
};

// A call of a library with all its arguments.
struct LibraryRequest {
  const kernels::KernelSchema& schema;  // one of kernels::Registry::Library()
  const kernels::BoundCall& call;
  absl::Span<const uint64_t> addresses;  // by argument; 0 for scalars and buffers left out
  CUdeviceptr workspace = 0;
  uint64_t workspace_bytes = 0;
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
  // Makes the call ready; null where the call's own kernels (PlannedNode::launches) carry it out.
  // Errors: FAILED_PRECONDITION (the library is not there), UNIMPLEMENTED, RESOURCE_EXHAUSTED.
  virtual absl::StatusOr<std::shared_ptr<const cuda::LibraryCall>> ResolveLibrary(
      const LibraryRequest& request);
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

// Where the first byte of a view lies. A buffer of which no byte is used has no place: its view gets
// an address that is passed on but must not be followed.
absl::StatusOr<CUdeviceptr> AddressOf(const BuildInput& input, const ir::View& view);

// Gives the driver the advice of the graph's nodes, in program order. Once for the memory of the
// bindings, before the first run. Errors: what the driver says, with the node's name in front.
absl::Status GiveAdvice(const BuildInput& input);

}  // namespace weft::build
