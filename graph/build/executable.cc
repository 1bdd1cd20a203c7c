#include "graph/build/executable.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "base/status_macros.h"

namespace weft::build {
namespace {

// Memory that the driver takes for a node of a graph and its executable: a chain of 4,096 kernels
// on an H200 with driver 580 takes 5.6 KiB of the host and 2.5 KiB of the device a node, wider graphs
// less.
constexpr size_t kBytesPerNode = size_t{8} * 1024;

// The order of a plan as numbers: for each node the number of its operations, the node before it in
// its lane, and those of other lanes that it waits for. Equal shapes, equal order.
std::vector<uint32_t> ShapeOf(const plan::Plan& plan) {
  std::vector<uint32_t> shape;
  shape.reserve(plan.nodes.size() * 3 + plan.waits.size());
  for (const plan::PlannedNode& node : plan.nodes) {
    const std::optional<NodeIndex> before = plan.BeforeInLane(node);
    shape.push_back(node.is_no_op ? 0 : node.launches.count);
    shape.push_back(before.has_value() ? before->value() + 1 : 0);
    shape.push_back(node.waits.count);
    for (const NodeIndex waited : plan.WaitsOf(node)) shape.push_back(waited.value());
  }
  return shape;
}

// Whether an executable that does `x` can be changed to do `y`.
struct SameSlot {
  bool operator()(const EmptyOperation&, const EmptyOperation&) const { return true; }
  bool operator()(const KernelOperation& x, const KernelOperation& y) const {
    // Attributes are the graph's: a change of parameters does not change them.
    return x.function.handle() == y.function.handle() && x.attributes == y.attributes;
  }
  bool operator()(const cuda::MemcpyNode&, const cuda::MemcpyNode&) const { return true; }
  // What was captured stays as it is.
  bool operator()(const LibraryOperation&, const LibraryOperation&) const { return false; }
  // The driver changes no box once it is instantiated.
  bool operator()(const cuda::BoxCopy& x, const cuda::BoxCopy& y) const { return x == y; }
  // Of several rows it changes address and value alone.
  bool operator()(const cuda::MemsetNode& x, const cuda::MemsetNode& y) const {
    if (x.height != y.height || x.height == 1) return x.height == y.height;
    return x.width == y.width && x.pitch_bytes == y.pitch_bytes &&
           x.pattern.element_size == y.pattern.element_size;
  }
  template <typename X, typename Y>
  bool operator()(const X&, const Y&) const {
    return false;  // of different kinds
  }
};

bool SameSlots(const std::vector<Operation>& a, const std::vector<Operation>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!std::visit(SameSlot{}, a[i], b[i])) return false;
  }
  return true;
}

std::vector<uint32_t> Differences(const OperationList& a, const OperationList& b) {
  std::vector<uint32_t> changed;
  for (uint32_t i = 0; i < a.operations.size(); ++i) {
    if (!SameOperation(a, a.operations[i], b, b.operations[i])) changed.push_back(i);
  }
  return changed;
}

// The node that operation `position` belongs to.
NodeIndex OwnerOf(const OperationList& list, uint32_t position) {
  const auto behind = std::upper_bound(list.first.begin(), list.first.end(), position);
  return NodeIndex(static_cast<uint32_t>(behind - list.first.begin()) - 1);
}

// Operations of a list, with those of the graphs that it runs.
// NOLINTNEXTLINE(misc-no-recursion): at most ir::kMaxGraphDepth levels
size_t CountOperations(const OperationList& list) {
  size_t count = list.operations.size();
  for (const GraphRun& run : list.runs) {
    for (const GraphRun::Body& body : run.bodies) {
      count += CountOperations(body.operations) + 2;  // NOLINT(misc-no-recursion): kMaxGraphDepth
    }
  }
  return count;
}

// Changes the slot of one node in `exec`.
struct Updater {
  cuda::GraphExec& exec;
  cuda::NodeRef node;
  const OperationList& list;

  absl::Status operator()(const EmptyOperation&) const { return absl::OkStatus(); }
  absl::Status operator()(const KernelOperation& kernel) const {
    return exec.UpdateKernel(node, LaunchOf(list, kernel).launch());
  }
  absl::Status operator()(const cuda::MemcpyNode& copy) const {
    return exec.UpdateMemcpy(node, copy);
  }
  absl::Status operator()(const cuda::MemsetNode& fill) const {
    return exec.UpdateMemset(node, fill);
  }
  // Of the other kinds CUDA changes nothing.
  template <typename Other>
  absl::Status operator()(const Other&) const {
    return WEFT_BUG("an operation that cannot be changed is changed");
  }
};

// The kinds of memory that a node without a kernel moves bytes between, of which devices, and
// whether in rows: the driver changes none of them in an executable.
struct MemoryOf {
  const ir::Graph& graph;

  uint32_t Kind(const ir::View& view) const {
    return static_cast<uint32_t>(graph.buffer(view.buffer).memory);
  }
  // 0: the job's own.
  uint64_t Device(const ir::View& view) const {
    const ir::Buffer& buffer = graph.buffer(view.buffer);
    return graph.IsElsewhere(buffer) ? buffer.shared->device + uint64_t{1} : 0;
  }
  uint64_t operator()(const ir::CopyOp& op) const {
    return Device(op.src) << 32 | Device(op.dst) << 16 | Kind(op.src) << 8 | Kind(op.dst) << 4 |
           uint64_t{op.box.has_value()};
  }
  uint64_t operator()(const ir::FillOp& op) const {
    return Kind(op.dst) << 4 | uint64_t{op.rows.has_value()};
  }
  uint64_t operator()(const ir::UploadOp& op) const { return Kind(op.dst); }
  uint64_t operator()(const ir::DownloadOp& op) const { return Kind(op.src); }
  template <typename Other>
  uint64_t operator()(const Other&) const {
    return 0;
  }
};

}  // namespace

uint64_t StructureHash(const ir::Graph& graph, const plan::Plan& plan) {
  uint64_t hash = absl::HashOf(ShapeOf(plan));
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    const plan::PlannedNode& node = plan.nodes[i];
    if (node.is_no_op) continue;
    hash = absl::HashOf(hash, graph.nodes[i].op.index());
    hash = absl::HashOf(hash, std::visit(MemoryOf{graph}, graph.nodes[i].op));
    for (const kernels::PhaseLaunch& phase : plan.LaunchesOf(node)) {
      hash = absl::HashOf(hash, phase.symbol);
    }
  }
  return hash;
}

bool IsUpdatable(const ir::Graph& graph, const plan::Plan& plan) {
  if (!plan.segments.empty()) return false;
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    const plan::PlannedNode& node = plan.nodes[i];
    const ir::Operation& op = graph.nodes[i].op;
    const bool is_call = std::holds_alternative<ir::LibraryOp>(op);
    if (is_call && !node.is_no_op && node.launches.count == 0) return false;
    if (!graph.CallsOf(op).empty() || ir::IsHostOutput(op)) return false;
  }
  return true;
}

Executable::Executable(OperationList operations, BuiltGraph built, cuda::GraphExec exec)
    : operations_(std::move(operations)),
      graph_(std::move(built.graph)),
      nodes_(std::move(built.nodes)),
      exec_(std::move(exec)) {}

absl::StatusOr<std::unique_ptr<Executable>> Executable::Create(const BuildInput& input) {
  WEFT_ASSIGN_OR_RETURN(OperationList operations, ResolveOperations(input));
  WEFT_ASSIGN_OR_RETURN(BuiltGraph built, BuildGraph(input, operations));
  WEFT_ASSIGN_OR_RETURN(cuda::GraphExec exec, built.graph.Instantiate(operations.priorities));
  std::unique_ptr<Executable> executable(
      new Executable(std::move(operations), std::move(built), std::move(exec)));
  executable->shape_ = ShapeOf(input.plan);
  executable->structure_hash_ = StructureHash(input.graph, input.plan);
  executable->is_updatable_ = IsUpdatable(input.graph, input.plan);
  return executable;
}

absl::StatusOr<uint32_t> Executable::Update(const BuildInput& input) {
  WEFT_RETURN_IF_ERROR(CheckUsable());
  if (!is_updatable_) {
    return absl::FailedPreconditionError(
        "an executable with captured calls, graphs of the job or outputs that are delivered when "
        "ready cannot be changed; create a new one");
  }
  WEFT_ASSIGN_OR_RETURN(OperationList operations, ResolveOperations(input));
  if (StructureHash(input.graph, input.plan) != structure_hash_ || ShapeOf(input.plan) != shape_ ||
      !SameSlots(operations_.operations, operations.operations)) {
    return absl::FailedPreconditionError(
        "the plan has another structure than the executable; create a new one");
  }
  // A launch under way may still read the textures that would be given up here.
  if (!operations_.textures.empty() || !operations.textures.empty()) {
    return absl::FailedPreconditionError(
        "executables with textures cannot be changed; create a new one");
  }
  const std::vector<uint32_t> changed = Differences(operations_, operations);
  for (const uint32_t position : changed) {
    const absl::Status updated = UpdateOne(operations, position);
    if (!updated.ok()) {
      state_ = State::kBroken;
      const std::string& name = input.graph.node(OwnerOf(operations, position)).name;
      return WithContext(absl::FailedPreconditionError(absl::StrCat(
                             "the driver refused to change it; create a new executable (",
                             updated.message(), ")")),
                         {"", name, ""});
    }
  }
  operations_ = std::move(operations);
  return static_cast<uint32_t>(changed.size());
}

absl::Status Executable::UpdateOne(const OperationList& operations, uint32_t position) {
  return std::visit(Updater{exec_, nodes_[position], operations}, operations.operations[position]);
}

absl::Status Executable::Upload(const cuda::StreamRef& stream) { return exec_.Upload(stream); }

absl::Status Executable::Launch(const cuda::StreamRef& stream) {
  WEFT_RETURN_IF_ERROR(CheckUsable());
  return exec_.Launch(stream);
}

absl::Status Executable::CheckUsable() const {
  if (state_ == State::kReady) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "an update of the executable failed half way; create a new one");
}

size_t Executable::cost_bytes() const {
  return CountOperations(operations_) * kBytesPerNode +
         operations_.operations.size() * sizeof(Operation) +
         operations_.parameter_words.size() * sizeof(uint64_t) + shape_.size() * sizeof(uint32_t);
}

}  // namespace weft::build
