// A job after its names are resolved and its defaults filled in: flat arrays of buffers, nodes,
// views and uses, tied together by indices. It holds no pointer into the proto it was made from;
// node i of the job is node i of the graph. FromProto makes it (from_proto.h), and Validate checks
// it (validate.h); ValidateJob does both.
//
//   WEFT_ASSIGN_OR_RETURN(ir::Graph graph, ir::ValidateJob(job, context));
//   for (const ir::Node& node : graph.nodes) {
//     for (const ir::Use& use : graph.UsesOf(node)) ...
//   }
//
// Thread safety: values. Cost: about 200 bytes a node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/byte_range.h"
#include "base/ids.h"
#include "kernels/bind.h"
#include "kernels/launch_shape.h"
#include "kernels/schema.h"

namespace weft::ir {

using kernels::Access;

// Where a buffer of the job lives. Scratch buffers have none of it.
struct SharedStorage {
  BufferId id;
  uint64_t size_bytes = 0;  // of the whole shared buffer; Buffer::size_bytes may be less
  friend bool operator==(const SharedStorage&, const SharedStorage&) = default;
};

struct Buffer {
  std::string name;
  kernels::DType dtype = kernels::DType::kU8;
  std::vector<uint64_t> shape;  // outermost first; never empty: one element is {1}
  uint64_t size_bytes = 0;      // shape × dtype
  std::optional<SharedStorage> shared;
  // The first buffer of the job with the same bytes: itself, unless two declarations name one
  // shared buffer.
  BufferIndex storage;
};

// A part of a declared buffer. `range` lies within it.
struct View {
  BufferIndex buffer;
  ByteRange range;
  friend bool operator==(const View&, const View&) = default;
};

// A run of entries in one of the flat arrays.
struct Slice {
  uint32_t begin = 0;
  uint32_t count = 0;
  friend bool operator==(const Slice&, const Slice&) = default;
};

// What a node does: one struct a kind.
struct KernelOp {
  const kernels::KernelSchema* schema = nullptr;  // of the registry, which outlives the graph
  kernels::BoundCall call;                        // arguments in schema order
  Slice views;  // in Graph::views: one view a buffer argument, in schema order
  // The launches within the limits of the device; none when there is nothing to do.
  std::vector<kernels::PhaseLaunch> phases;
};
// A scalar parameter of a user's kernel: its bytes are the low ones of `bits`.
struct ScalarParameter {
  uint64_t bits = 0;
  uint32_t size_bytes = 0;
};
// A pointer parameter: the position of its view among those of the node.
struct PointerParameter {
  uint32_t view = 0;
};
struct UserKernelOp {
  uint32_t module = 0;                                                      // in Graph::modules
  std::string entry;                                                        // as the job names it
  std::vector<std::variant<ScalarParameter, PointerParameter>> parameters;  // as declared
  Slice views;                                                              // in Graph::views
  kernels::PhaseLaunch launch;                                              // its symbol is `entry`
  kernels::Dim3 cluster = {0, 0, 0};  // blocks; divides the grid; all 0: as the kernel was compiled
  bool cooperative = false;           // all blocks at once
  int32_t priority = 0;               // among the kernels of the job: greater goes first
};
struct CopyOp {  // src and dst have the same size
  View src;
  View dst;
};
struct FillOp {
  View dst;
  uint32_t pattern = 0;
  uint32_t pattern_bytes = 1;  // 1, 2 or 4; divides offset and size of dst
};
struct UploadOp {
  View dst;
  uint32_t upload = 0;  // position among the uploads of the job, in program order
};
struct DownloadOp {
  View src;
  uint32_t output = 0;  // position in Graph::outputs
};
// Sets bytes of a variable of a module.
struct SymbolOp {
  uint32_t module = 0;  // in Graph::modules
  std::string symbol;   // as the job names it
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;              // never 0
  std::variant<View, uint32_t> source;  // a view, or a position among the uploads of the job
};
struct EmptyOp {};
using Operation =
    std::variant<EmptyOp, KernelOp, UserKernelOp, CopyOp, FillOp, UploadOp, DownloadOp, SymbolOp>;

// Code that the job brings along. The code itself stays in the job's message.
struct Module {
  enum class Code : uint8_t { kCuda, kPtx, kCubin, kFatbin };
  std::string name;
  Code code = Code::kCuda;
};

struct Node {
  std::string name;
  Operation op;
  Slice uses;   // in Graph::uses
  Slice after;  // in Graph::after
};

// Bytes that a node reads or writes. Empty ranges are left out, so a node on zero bytes uses
// nothing.
struct Use {
  NodeIndex node;
  BufferIndex storage;  // Buffer::storage of the buffer that the node names
  ByteRange range;      // for a kernel argument: the bytes that the kernel touches
  Access access = Access::kRead;
};

// A named output of the job, in program order.
struct Output {
  std::string name;
  std::string file;  // DownloadNode.file, for the command line
  NodeIndex node;
  kernels::DType dtype = kernels::DType::kU8;
  std::vector<uint64_t> shape;
  uint64_t size_bytes = 0;
};

enum class Ordering : uint8_t {
  kData,      // reads and writes in program order, and `after`
  kExplicit,  // `after` alone
};
enum class Timeline : uint8_t { kOff, kCollect };

struct Options {
  Ordering ordering = Ordering::kData;
  uint32_t device = 0;
  Timeline timeline = Timeline::kOff;
  uint32_t max_lanes = 0;    // 0: the planner's choice
  uint64_t deadline_ms = 0;  // from acceptance; 0: none
};

struct Graph {
  std::string name;
  Options options;
  std::vector<Buffer> buffers;
  std::vector<Module> modules;  // in the job's order
  std::vector<Node> nodes;      // in program order
  std::vector<View> views;
  std::vector<Use> uses;         // grouped by node, in program order
  std::vector<NodeIndex> after;  // grouped by node; without duplicates within a node
  std::vector<Output> outputs;
  uint32_t upload_count = 0;

  const Node& node(NodeIndex i) const { return nodes[i.value()]; }
  const Buffer& buffer(BufferIndex i) const { return buffers[i.value()]; }
  uint32_t node_count() const { return static_cast<uint32_t>(nodes.size()); }

  absl::Span<const Use> UsesOf(const Node& node) const { return Part(uses, node.uses); }
  absl::Span<const Use> UsesOf(NodeIndex i) const { return UsesOf(node(i)); }
  absl::Span<const NodeIndex> AfterOf(const Node& node) const { return Part(after, node.after); }
  absl::Span<const View> ViewsOf(const KernelOp& op) const { return Part(views, op.views); }
  absl::Span<const View> ViewsOf(const UserKernelOp& op) const { return Part(views, op.views); }

 private:
  template <typename T>
  static absl::Span<const T> Part(const std::vector<T>& all, Slice slice) {
    return absl::MakeConstSpan(all).subspan(slice.begin, slice.count);
  }
};

// "kernel", "user_kernel", "copy", "fill", "upload", "download", "empty", "symbol".
absl::string_view KindName(const Operation& op);

// Of a node with inline bytes: its position among the uploads of the job.
std::optional<uint32_t> UploadOf(const Operation& op);
// Bytes that a node moves by way of the staging area.
uint64_t StagedBytes(const Operation& op);

// True when the node has nothing to do on the device: an empty node, or one on zero bytes. It still
// keeps its place in the order.
bool IsNoOp(const Operation& op);

// For std::visit with one lambda a node kind.
template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

}  // namespace weft::ir
