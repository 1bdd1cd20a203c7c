// CUDA Graphs. A Graph is recorded node by node; a GraphExec is its instantiated form, launched any
// number of times, whose node parameters can be changed between launches:
//
//   Graph ──Add…──▶ Graph ──Instantiate──▶ GraphExec ──Launch──▶ GraphExec
//   (recording)                             └─────Update…──────▶ GraphExec
//
// Adding nodes after Instantiate changes later executables only. Nothing here keeps the state of a
// launch: completion is seen through the stream given to Launch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/memory.h"
#include "cuda/module.h"
#include "cuda/stream.h"
#include "cuda/unique_handle.h"

namespace weft::cuda {

namespace internal {
void DestroyGraph(const ContextRef& context, CUgraph graph);
void DestroyGraphExec(const ContextRef& context, CUgraphExec exec);
}  // namespace internal

// A node of a Graph: a value, valid while that Graph lives.
struct NodeRef {
  CUgraphNode handle = nullptr;
  friend bool operator==(const NodeRef&, const NodeRef&) = default;
};
using Dependencies = absl::Span<const NodeRef>;

// A copy of `size_bytes` > 0 bytes; host addresses (HostAddress) may stand on either side and must
// be valid at every launch.
struct MemcpyNode {
  CUdeviceptr destination = 0;
  CUdeviceptr source = 0;
  size_t size_bytes = 0;
};

// A fill of `height` rows of `width` elements, rows `pitch_bytes` apart (ignored when height is 1).
// REQUIRES: width > 0, height > 0.
struct MemsetNode {
  CUdeviceptr destination = 0;
  FillPattern pattern;
  size_t width = 0;
  size_t height = 1;
  size_t pitch_bytes = 0;
};

// Calls function(user_data) on a thread of the driver; see StreamRef::LaunchHostFunc for its
// limits.
struct HostNode {
  CUhostFn function = nullptr;
  void* user_data = nullptr;
};

// With what priority the kernels of an executable graph run.
enum class NodePriorities {
  kOfStream,  // that of the stream it is launched into
  kOwn,       // LaunchAttributes::priority of each; without one, the least urgent
};

class Graph;

// An executable graph. One launch runs at a time: a second Launch waits on the device for the
// first, also across streams. Destroying one whose launch is still running is allowed. Thread
// safety: none; one caller at a time.
class GraphExec {
 public:
  // New parameters for a node, from the next launch on; a running launch keeps the old ones. The
  // node belongs to the Graph this was instantiated from, which must still be alive. 2–20 µs each.
  // REQUIRES: the node's kind fits; a kernel node keeps its context and attributes; a copy keeps its kinds of
  // memory; a fill of one row stays one.
  absl::Status UpdateKernel(NodeRef node, const KernelLaunch& launch);
  absl::Status UpdateMemcpy(NodeRef node, const MemcpyNode& copy);
  absl::Status UpdateMemset(NodeRef node, const MemsetNode& fill);

  // Takes all parameters from `graph`, of the same shape as the one instantiated.
  // Errors: FAILED_PRECONDITION, saying why the driver refused; then instantiate anew.
  absl::Status Update(const Graph& graph);

  // Moves the executable to the device ahead of the first launch (cuGraphUpload). Does not block.
  absl::Status Upload(const StreamRef& stream);
  // Does not block.
  absl::Status Launch(const StreamRef& stream);

  CUgraphExec handle() const { return owned_.get(); }
  bool valid() const { return owned_.valid(); }

 private:
  friend class Graph;
  using Owned = UniqueHandle<CUgraphExec, internal::DestroyGraphExec>;
  explicit GraphExec(Owned owned) : owned_(std::move(owned)) {}
  Owned owned_;
};

// A graph being recorded. Each Add… takes the nodes that must end before the new one starts, all of
// this graph, each at most once, and returns the new node.
// Errors of Add…: INVALID_ARGUMENT (parameters the driver refuses), RESOURCE_EXHAUSTED.
// Thread safety: none; one caller at a time.
class Graph {
 public:
  static absl::StatusOr<Graph> Create(const Context& context);

  absl::StatusOr<NodeRef> AddKernel(const KernelLaunch& launch, Dependencies dependencies);
  absl::StatusOr<NodeRef> AddMemcpy(const MemcpyNode& copy, Dependencies dependencies);
  absl::StatusOr<NodeRef> AddMemset(const MemsetNode& fill, Dependencies dependencies);
  absl::StatusOr<NodeRef> AddEmpty(Dependencies dependencies);
  absl::StatusOr<NodeRef> AddHost(const HostNode& host, Dependencies dependencies);
  // A copy of `child` as one node; `child` may be destroyed afterwards.
  absl::StatusOr<NodeRef> AddChild(const Graph& child, Dependencies dependencies);
  absl::StatusOr<NodeRef> AddEventRecord(const EventRef& event, Dependencies dependencies);
  absl::StatusOr<NodeRef> AddEventWait(const EventRef& event, Dependencies dependencies);

  // Cost: about 3 µs a node in a chain, 15–20 µs a node in a wide graph.
  absl::StatusOr<GraphExec> Instantiate(
      NodePriorities priorities = NodePriorities::kOfStream) const;

  CUgraph handle() const { return owned_.get(); }
  bool valid() const { return owned_.valid(); }

 private:
  using Owned = UniqueHandle<CUgraph, internal::DestroyGraph>;
  explicit Graph(Owned owned) : owned_(std::move(owned)) {}
  Owned owned_;
};

}  // namespace weft::cuda
