// The nodes of a plan as what the driver is asked to do: launches, copies and fills with final
// addresses, and calls of the host. graph_builder, executable and stream_runner carry them out in their own ways.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/ids.h"
#include "cuda/graph.h"
#include "cuda/library_call.h"
#include "cuda/managed_memory.h"
#include "cuda/module.h"
#include "cuda/pitched.h"
#include "cuda/texture.h"
#include "graph/build/bindings.h"

namespace weft::build {

struct EmptyOperation {};

// One phase of a kernel node.
struct KernelOperation {
  cuda::Function function;
  cuda::Dim3 grid;
  cuda::Dim3 block;
  uint32_t dynamic_shared_bytes = 0;
  ir::Slice parameters;  // in OperationList::parameter_words: one word a parameter
  cuda::LaunchAttributes attributes = {};
};

// A call of a library, which holds what it uses on the device as long as the operation lives.
struct LibraryOperation {
  std::shared_ptr<const cuda::LibraryCall> call;
  const kernels::KernelSchema* schema = nullptr;
  ir::Slice parameters;  // in OperationList::parameter_words: what tells it from other calls
};

// A node that runs graphs of the job; what they do is in OperationList::runs.
struct RunOperation {
  uint32_t run = 0;
};

using Operation =
    std::variant<EmptyOperation, KernelOperation, cuda::MemcpyNode, cuda::BoxCopy, cuda::MemsetNode,
                 cuda::Prefetch, cuda::HostNode, LibraryOperation, RunOperation>;

struct GraphRun;

// Thread safety: values, which move only. Cost: about 100 bytes an operation.
struct OperationList {
  // Grouped by node: the phases of a kernel in order, an output and behind it the call that tells of it.
  std::vector<Operation> operations;
  std::vector<uint32_t> first = {
      0};  // by NodeIndex: where its operations begin; and the end of all
  std::vector<uint64_t> parameter_words;
  std::vector<GraphRun> runs;
  // What parameters name: they live as long as the list.
  std::vector<cuda::Texture> textures;
  // Whether kernels have a priority of their own.
  cuda::NodePriorities priorities = cuda::NodePriorities::kOfStream;

  // REQUIRES: `node` is one of the plan's. Never empty.
  ir::Slice OfNode(NodeIndex node) const {
    const uint32_t begin = first[node.value()];
    return ir::Slice{begin, first[node.value() + 1] - begin};
  }
};

// What a node that runs graphs does.
struct GraphRun {
  // Conditional: the graphs are the bodies of a conditional node, and before it (of a WHILE at the end
  // of the body, too) `set_condition` makes a value in memory its condition: a kernel whose first
  // parameter is the node's handle. Else there is one graph, which runs in place.
  std::optional<cuda::ConditionalKind> conditional;
  KernelOperation set_condition;
  struct Body {
    uint32_t graph = 0;        // in ir::Graph::graphs of the job
    OperationList operations;  // with the addresses of this run
  };
  std::vector<Body> bodies;
};

// Errors: those of `input.resolver` and of the driver, with the node's name in front. Calls the
// driver only for functions that use more than 48 KiB of dynamic shared memory.
absl::StatusOr<OperationList> ResolveOperations(const BuildInput& input);

// A kernel operation as cuda::LaunchKernel and cuda::Graph take it. Points into the list it was
// made from, and must not be moved.
class LaunchOf {
 public:
  LaunchOf(const OperationList& list, const KernelOperation& operation);
  // With the handle of a conditional node as its first parameter.
  LaunchOf(const OperationList& list, const KernelOperation& operation,
           const cuda::ConditionalHandle& handle);
  LaunchOf(const LaunchOf&) = delete;
  LaunchOf& operator=(const LaunchOf&) = delete;
  const cuda::KernelLaunch& launch() const { return launch_; }

 private:
  absl::InlinedVector<void*, 16> params_;
  cuda::KernelLaunch launch_;
};

// True when both do the same to the same bytes with the same arguments.
bool SameOperation(const OperationList& a, const Operation& x, const OperationList& b,
                   const Operation& y);

}  // namespace weft::build
