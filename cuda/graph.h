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
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/memory.h"
#include "cuda/module.h"
#include "cuda/pitched.h"
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

// The value that a conditional node goes by; lives as long as the graph it was made for. A kernel
// that runs before the node, or in its body, sets it (cudaGraphSetConditional).
struct ConditionalHandle {
  CUgraphConditionalHandle value = 0;
};
// What the handle holds at the start of every launch.
enum class ConditionalDefault {
  kUndefined,  // a kernel sets it in time
  kAssigned,   // the default value
};

enum class ConditionalKind {
  kIf,      // one body, run where the value is not 0; or two, the second run where it is
  kWhile,   // one body, run as long as the value is not 0
  kSwitch,  // the body whose position is the value, if there is one
};
struct ConditionalNode {
  ConditionalHandle handle;  // of this graph, and of this node alone
  ConditionalKind kind = ConditionalKind::kIf;
  uint32_t body_count = 1;
};

// With what priority the kernels of an executable graph run.
enum class NodePriorities {
  kOfStream,  // that of the stream it is launched into
  kOwn,       // LaunchAttributes::priority of each; without one, the least urgent
};

class Graph;
struct Conditional;

// An executable graph. One launch runs at a time: a second Launch waits on the device for the
// first, also across streams. Destroying one whose launch is still running is allowed. Thread
// safety: none; one caller at a time.
class GraphExec {
 public:
  // New parameters for a node, from the next launch on; a running launch keeps the old ones. The
  // node belongs to the Graph this was instantiated from, which must still be alive. 2–20 µs each.
  // REQUIRES: the node's kind fits; a kernel node keeps its context and attributes; a copy keeps its
  // kinds of memory; a fill of one row stays one.
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

  // What `record` puts into a stream, as a graph: `stream` runs nothing of it. It may put work into
  // other streams too, when these wait for events of `stream` first and `stream` for them at last.
  // Calls for other streams may be made meanwhile, on any thread. REQUIRES: nobody else uses `stream`.
  // Errors: those of `record`; FAILED_PRECONDITION when a call that no graph can hold was made.
  static absl::StatusOr<Graph> Capture(const StreamRef& stream,
                                       absl::FunctionRef<absl::Status(const StreamRef&)> record);

  absl::StatusOr<NodeRef> AddKernel(const KernelLaunch& launch, Dependencies dependencies);
  absl::StatusOr<NodeRef> AddMemcpy(const MemcpyNode& copy, Dependencies dependencies);
  // A copy of rows. Its parameters cannot be changed in an executable.
  // REQUIRES: the box has a byte, and no pitch is above DeviceInfo::max_pitch_bytes.
  absl::StatusOr<NodeRef> AddBoxCopy(const BoxCopy& copy, Dependencies dependencies);
  absl::StatusOr<NodeRef> AddMemset(const MemsetNode& fill, Dependencies dependencies);
  absl::StatusOr<NodeRef> AddEmpty(Dependencies dependencies);
  absl::StatusOr<NodeRef> AddHost(const HostNode& host, Dependencies dependencies);
  // A copy of `child` as one node; `child` may be destroyed afterwards.
  absl::StatusOr<NodeRef> AddChild(const Graph& child, Dependencies dependencies);
  absl::StatusOr<NodeRef> AddEventRecord(const EventRef& event, Dependencies dependencies);
  absl::StatusOr<NodeRef> AddEventWait(const EventRef& event, Dependencies dependencies);

  // Conditional nodes. A graph that has one is no child of others, and has one executable at a time,
  // which Update refuses. Every handle is some node's.
  // Errors: FAILED_PRECONDITION (the driver is older than CUDA 12.3).
  absl::StatusOr<ConditionalHandle> CreateConditional(ConditionalDefault kind,
                                                      uint32_t default_value);
  // The bodies are empty; record their nodes before Instantiate. They take kernels, copies, fills,
  // empty nodes, children and conditional nodes.
  absl::StatusOr<Conditional> AddConditional(const ConditionalNode& node,
                                             Dependencies dependencies);

  // Cost: about 3 µs a node in a chain, 15–20 µs a node in a wide graph.
  absl::StatusOr<GraphExec> Instantiate(
      NodePriorities priorities = NodePriorities::kOfStream) const;

  CUgraph handle() const { return owned_.get(); }
  bool valid() const { return owned_.valid(); }

 private:
  using Owned = UniqueHandle<CUgraph, internal::DestroyGraph>;
  friend class BodyGraph;
  explicit Graph(Owned owned) : owned_(std::move(owned)) {}
  Owned owned_;
};

// The graph of a body of a conditional node, recorded as any other; the node's graph owns it, and
// must outlive this.
class BodyGraph {
 public:
  BodyGraph(const ContextRef& context, CUgraph handle) : graph_(Graph::Owned(context, handle)) {}
  BodyGraph(BodyGraph&&) = default;
  BodyGraph& operator=(BodyGraph&&) = delete;
  ~BodyGraph() { graph_.owned_.Release(); }

  Graph& graph() { return graph_; }

 private:
  Graph graph_;
};

// A conditional node as it was added.
struct Conditional {
  NodeRef node;
  std::vector<BodyGraph> bodies;
};

}  // namespace weft::cuda
