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
#include "graph/ir/runs.h"
#include "graph/ir/texture.h"
#include "kernels/bind.h"
#include "kernels/launch_shape.h"
#include "kernels/schema.h"

namespace weft::ir {

using kernels::Access;

// Where a buffer of the job lives. Scratch buffers have none of it.
struct SharedStorage {
  BufferId id;
  uint64_t size_bytes = 0;  // of the whole shared buffer; Buffer::size_bytes may be less
  uint32_t device = 0;      // that it lies on, which need not be the job's
  friend bool operator==(const SharedStorage&, const SharedStorage&) = default;
};

// What kind of memory a buffer is.
enum class MemoryKind : uint8_t {
  kDevice,   // scratch and shared buffers
  kPinned,   // page-locked host memory
  kManaged,  // moves between host and device
};

struct Buffer {
  std::string name;
  kernels::DType dtype = kernels::DType::kU8;
  std::vector<uint64_t> shape;  // outermost first; never empty: one element is {1}
  uint64_t size_bytes = 0;      // shape × dtype
  std::optional<SharedStorage> shared;
  MemoryKind memory = MemoryKind::kDevice;  // of one run, unless it is shared
  // The first buffer of the job with the same bytes: itself, unless two declarations name one
  // shared buffer.
  BufferIndex storage;
  // Of a graph of the job: bytes that the node which runs the graph binds.
  bool is_parameter = false;
  // What the nodes that use it ask of the address of its first byte: a power of two. At least the
  // size of an element. The views that are bound to a parameter keep it.
  uint32_t alignment = 1;
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
  Slice views;  // in Graph::views: one view a buffer argument that is given, in schema order
  // The launches within the limits of the device; none when there is nothing to do.
  std::vector<kernels::PhaseLaunch> phases;
};
// A call of a library: its schema is one of kernels::Registry::Library(), its phases are those of its
// twin on CPU devices. None when there is nothing to do.
struct LibraryOp : KernelOp {};
// A scalar parameter of a user's kernel: its bytes are the low ones of `bits`.
struct ScalarParameter {
  uint64_t bits = 0;
  uint32_t size_bytes = 0;
};
// A pointer parameter: the position of its view among those of the node.
struct PointerParameter {
  uint32_t view = 0;
};
// A texture over the bytes of a view of the node.
struct TextureParameter {
  uint32_t view = 0;
  Texture texture;
};
using KernelParameter = std::variant<ScalarParameter, PointerParameter, TextureParameter>;
struct UserKernelOp {
  uint32_t module = 0;                      // in Graph::modules
  std::string entry;                        // as the job names it
  std::vector<KernelParameter> parameters;  // as declared
  Slice views;                              // in Graph::views
  kernels::PhaseLaunch launch;              // its symbol is `entry`
  kernels::Dim3 cluster = {0, 0, 0};  // blocks; divides the grid; all 0: as the kernel was compiled
  bool cooperative = false;           // all blocks at once
  int32_t priority = 0;               // among the kernels of the job: greater goes first
  enum class Origin : uint8_t {
    kModule,      // of a module that the job brings along
    kExpression,  // made of an expression of the job
  } origin = Origin::kModule;
};
struct CopyOp {
  View src;
  View dst;
  // None: all bytes of both views, which have the same size. Given: rows with a pitch; the views then
  // reach from the first byte of the box to its last.
  std::optional<CopyBox> box = {};
};
struct FillOp {
  View dst;
  uint32_t pattern = 0;
  uint32_t pattern_bytes = 1;  // 1, 2 or 4; divides offset and size of dst, width and pitch of rows
  // None: all bytes of dst. Given: so many rows, in one slice; dst reaches from the first byte to the
  // last.
  std::optional<Runs> rows = {};
};
struct UploadOp {
  View dst;
  uint32_t upload = 0;  // position among the uploads of the job, in program order
};
enum class Delivery : uint8_t {
  kAtEnd,      // with the result of the job
  kWhenReady,  // also as soon as the node has run
};
struct DownloadOp {
  View src;
  uint32_t output = 0;  // position in Graph::outputs
  Delivery delivery = Delivery::kAtEnd;
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
// Of managed buffers.
enum class Location : uint8_t { kDevice, kHost };
struct PrefetchOp {
  View view;
  Location to = Location::kDevice;
};
enum class Advice : uint8_t {
  kReadMostly,
  kNotReadMostly,
  kPreferredLocation,
  kNoPreferredLocation,
  kAccessedBy,
  kNotAccessedBy,
};
// Carried out once, when the graph is prepared: no step of a run, and no use of the bytes.
struct AdviseOp {
  View view;
  Advice advice = Advice::kReadMostly;
  Location location = Location::kDevice;
};
// One run of a graph of the job, with what is bound to its parameters.
struct GraphCall {
  uint32_t graph = 0;  // in Graph::graphs of the job
  Slice bindings;      // in Graph::views: one view a parameter, in the order of Graph::parameters
};
struct GraphOp {
  Slice calls;  // in Graph::calls: one
};
struct ConditionalOp {
  enum class Kind : uint8_t { kIf, kWhile, kSwitch };
  Kind kind = Kind::kIf;
  View value;   // 4 bytes
  Slice calls;  // in Graph::calls: the bodies
};
struct SemaphoreWaitOp {
  View semaphore;  // 8 bytes
  uint64_t value = 0;
};
struct SemaphoreSignalOp {
  View semaphore;
  uint64_t value = 0;
};
using Operation = std::variant<EmptyOp, KernelOp, UserKernelOp, CopyOp, FillOp, UploadOp,
                               DownloadOp, PrefetchOp, AdviseOp, LibraryOp, GraphOp, ConditionalOp,
                               SemaphoreWaitOp, SemaphoreSignalOp, SymbolOp>;

// Code that the job brings along, which itself stays in the job's message; or, behind those, what was
// made of its expressions.
struct Module {
  enum class Code : uint8_t { kCuda, kPtx, kCubin, kFatbin };
  std::string name;
  Code code = Code::kCuda;
  std::string
      made;  // CUDA C++ of the job's expressions, to be compiled with --fmad=false; else empty
};

struct Node {
  std::string name;
  Operation op;
  Slice uses;   // in Graph::uses
  Slice after;  // in Graph::after
};

enum class UseKind : uint8_t {
  kPlain,
  kMaybe,      // a use that may not happen, or leaves bytes out: what was there before may be left
  kSemaphore,  // orders nodes as a read does, but no two waits and signals, and no jobs
};

// Bytes that a node reads or writes. Empty ranges are left out, so a node on zero bytes uses
// nothing.
struct Use {
  NodeIndex node;
  BufferIndex storage;  // Buffer::storage of the buffer that the node names
  ByteRange range;      // for a kernel argument: the bytes that the kernel touches
  Access access = Access::kRead;
  UseKind kind = UseKind::kPlain;
  // In Graph::runs: of these bytes of the range alone (use_rows.h).
  static constexpr uint32_t kAllBytes = UINT32_MAX;
  uint32_t runs = kAllBytes;
};

// What a run of a graph does to a parameter of it. Bytes that it reads after it wrote them are not
// read, seen from outside.
struct ParameterEffect {
  uint32_t parameter = 0;  // in Graph::parameters
  ByteRange range;
  Access access = Access::kRead;  // kRead or kWrite
  UseKind kind = UseKind::kPlain;
};

// A named output of the job, in program order.
struct Output {
  std::string name;
  std::string file;  // DownloadNode.file, for the command line
  NodeIndex node;
  kernels::DType dtype = kernels::DType::kU8;
  std::vector<uint64_t> shape;
  uint64_t size_bytes = 0;
  Delivery delivery = Delivery::kAtEnd;
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
  std::vector<Module> modules;  // in the job's order; then that of its expressions, if there is one
  std::vector<Node> nodes;      // in program order
  std::vector<View> views;
  std::vector<Use> uses;         // grouped by node, in program order
  std::vector<Runs> runs;        // of uses that leave gaps
  std::vector<NodeIndex> after;  // grouped by node; without duplicates within a node
  std::vector<Output> outputs;
  uint32_t upload_count = 0;
  std::vector<GraphCall> calls;  // grouped by node
  // The job's: the graphs that its nodes run, each behind those that it runs itself. Its own is empty
  // in each of them: they call each other by position in that of the job.
  std::vector<Graph> graphs;

  // Of a graph of the job; empty for the job itself.
  std::string scope;  // "graphs[2].", for the fields of its nodes
  std::vector<BufferIndex> parameters;
  std::vector<ParameterEffect> effects;
  // Modules of which a run launches kernels, those of the graphs that it runs too; sorted, unique.
  std::vector<uint32_t> kernel_modules;
  // With those of the graphs that it runs, counted for every run that the nodes ask for.
  uint64_t expanded_nodes = 0;
  uint32_t depth = 0;            // levels of graphs below it
  bool has_conditional = false;  // in it, or in a graph that it runs
  bool has_textures = false;     // the same

  bool is_job() const { return scope.empty(); }
  const Node& node(NodeIndex i) const { return nodes[i.value()]; }
  const Buffer& buffer(BufferIndex i) const { return buffers[i.value()]; }
  // A shared buffer that does not lie on the device that the job runs on. Only copy nodes use such.
  bool IsElsewhere(const Buffer& b) const {
    return b.shared.has_value() && b.shared->device != options.device;
  }
  uint32_t node_count() const { return static_cast<uint32_t>(nodes.size()); }

  absl::Span<const Use> UsesOf(const Node& node) const { return Part(uses, node.uses); }
  absl::Span<const Use> UsesOf(NodeIndex i) const { return UsesOf(node(i)); }
  absl::Span<const NodeIndex> AfterOf(const Node& node) const { return Part(after, node.after); }
  absl::Span<const View> ViewsOf(const KernelOp& op) const { return Part(views, op.views); }
  absl::Span<const View> ViewsOf(const UserKernelOp& op) const { return Part(views, op.views); }
  absl::Span<const View> BindingsOf(const GraphCall& call) const {
    return Part(views, call.bindings);
  }
  // The graphs that a node runs; empty for those that run none.
  absl::Span<const GraphCall> CallsOf(const Operation& op) const;

 private:
  template <typename T>
  static absl::Span<const T> Part(const std::vector<T>& all, Slice slice) {
    return absl::MakeConstSpan(all).subspan(slice.begin, slice.count);
  }
};

// The field of Node that the operation was given in: "kernel", "copy", ...
absl::string_view KindName(const Operation& op);

// Of a node with inline bytes: its position among the uploads of the job.
std::optional<uint32_t> UploadOf(const Operation& op);
// Bytes that a node moves by way of the staging area.
uint64_t StagedBytes(const Operation& op);
// True of an output that is delivered while the job runs.
bool IsHostOutput(const Operation& op);

bool HasTextures(const UserKernelOp& op);

// True when a run has nothing to do on the device for the node: an empty node, one on zero bytes, or
// advice (an output of no bytes that is delivered early is still told). It still keeps its place in the order.
bool IsNoOp(const Operation& op);

// For std::visit with one lambda a node kind.
template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

}  // namespace weft::ir
