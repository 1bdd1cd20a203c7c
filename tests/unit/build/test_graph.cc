#include "tests/unit/build/test_graph.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/byte_range.h"

namespace weft::build {
namespace {

kernels::ArgumentSchema Scalar(const std::string& name) {
  kernels::ScalarSchema scalar;
  scalar.dtype.allowed = {kernels::DType::kI32};
  return kernels::ArgumentSchema{name, "", scalar};
}

kernels::BoundArgument BoundScalar(int32_t value) {
  kernels::BoundArgument argument;
  argument.dtype = kernels::DType::kI32;
  argument.scalar = {kernels::DType::kI32, static_cast<uint32_t>(value)};
  return argument;
}

kernels::BoundArgument BoundBuffer(uint64_t touched_bytes) {
  kernels::BoundArgument argument;
  argument.dtype = kernels::DType::kI32;
  argument.touched_bytes = touched_bytes;
  return argument;
}

}  // namespace

const kernels::KernelSchema& TestKernelSchema() {
  static const auto* schema = [] {
    auto* made = new kernels::KernelSchema;
    made->name = "test";
    kernels::BufferSchema buffer;
    buffer.access = kernels::Access::kReadWrite;
    buffer.dtype.allowed = {kernels::DType::kI32};
    made->arguments = {kernels::ArgumentSchema{"x", "", buffer}, Scalar("factor"),
                       Scalar("addend")};
    return made;
  }();
  return *schema;
}

BufferIndex TestGraph::AddBuffer(uint32_t elements) {
  const BufferIndex index(static_cast<uint32_t>(graph_.buffers.size()));
  ir::Buffer buffer;
  buffer.name = absl::StrCat("buffer", index.value());
  buffer.dtype = kernels::DType::kI32;
  buffer.shape = {elements};
  buffer.size_bytes = elements * sizeof(int32_t);
  buffer.storage = index;
  graph_.buffers.push_back(std::move(buffer));
  plan_.scratch.buffer_offsets.emplace_back();
  return index;
}

BufferIndex TestGraph::Scratch(uint32_t elements) {
  const BufferIndex index = AddBuffer(elements);
  plan::Scratch& scratch = plan_.scratch;
  scratch.buffer_offsets.back() = scratch.size_bytes;
  scratch.size_bytes += AlignUp(graph_.buffers.back().size_bytes, plan::kAreaAlignment);
  return index;
}

BufferIndex TestGraph::Shared(uint32_t elements, uint32_t device) {
  const BufferIndex index = AddBuffer(elements);
  ir::Buffer& buffer = graph_.buffers.back();
  buffer.shared = ir::SharedStorage{BufferId(index.value() + 1), buffer.size_bytes, device};
  return index;
}

BufferIndex TestGraph::Pinned(uint32_t elements) {
  const BufferIndex index = AddBuffer(elements);
  graph_.buffers.back().memory = ir::MemoryKind::kPinned;
  plan_.scratch.buffer_offsets.back() = plan_.pinned_bytes;
  plan_.pinned_bytes += AlignUp(graph_.buffers.back().size_bytes, plan::kAreaAlignment);
  return index;
}

BufferIndex TestGraph::Managed(uint32_t elements) {
  const BufferIndex index = AddBuffer(elements);
  graph_.buffers.back().memory = ir::MemoryKind::kManaged;
  plan_.scratch.buffer_offsets.back() = plan_.managed_bytes;
  plan_.managed_bytes += AlignUp(graph_.buffers.back().size_bytes, plan::kManagedAlignment);
  return index;
}

ir::View TestGraph::Whole(BufferIndex buffer) const {
  return ir::View{buffer, ByteRange{0, graph_.buffer(buffer).size_bytes}};
}

NodeIndex TestGraph::Add(const std::string& name, ir::Operation operation, uint32_t lane,
                         Waits waits) {
  const NodeIndex index(graph_.node_count());
  ir::Node node;
  node.name = absl::StrCat(name, index.value());
  node.op = std::move(operation);
  plan::PlannedNode planned;
  planned.lane = LaneId(lane);
  planned.is_no_op = ir::IsNoOp(node.op);
  planned.waits = {static_cast<uint32_t>(plan_.waits.size()), static_cast<uint32_t>(waits.size())};
  for (const NodeIndex waited : waits) {
    plan_.waits.push_back(waited);
    plan_.nodes[waited.value()].has_waiters = true;
  }
  for (const plan::PlannedNode& earlier : plan_.nodes) {
    if (earlier.lane == planned.lane) ++planned.position;
  }
  graph_.nodes.push_back(std::move(node));
  plan_.nodes.push_back(planned);
  plan_.order.push_back(index);
  return index;
}

void TestGraph::Bind(BufferIndex buffer, int32_t factor, int32_t addend, ir::KernelOp& op) {
  op.schema = &TestKernelSchema();
  op.call.arguments = {BoundBuffer(graph_.buffer(buffer).size_bytes), BoundScalar(factor),
                       BoundScalar(addend)};
  op.views = {static_cast<uint32_t>(graph_.views.size()), 1};
  graph_.views.push_back(Whole(buffer));
}

NodeIndex TestGraph::Library(BufferIndex buffer, int32_t factor, int32_t addend, uint32_t lane,
                             Waits waits) {
  ir::LibraryOp op;
  Bind(buffer, factor, addend, op);
  op.phases.assign(1, kernels::PhaseLaunch{"twin", {}, {}, 0});
  return Add("library", std::move(op), lane, waits);
}

NodeIndex TestGraph::Kernel(const std::string& symbol, BufferIndex buffer, int32_t factor,
                            int32_t addend, uint32_t lane, Waits waits, uint32_t phases) {
  const auto elements = static_cast<uint32_t>(graph_.buffer(buffer).size_bytes / sizeof(int32_t));
  ir::KernelOp op;
  Bind(buffer, factor, addend, op);
  op.phases.assign(phases, kernels::PhaseLaunch{symbol, {elements, 1, 1}, {1, 1, 1}, 0});
  const ir::Slice launches{static_cast<uint32_t>(plan_.launches.size()), phases};
  plan_.launches.insert(plan_.launches.end(), op.phases.begin(), op.phases.end());
  const NodeIndex index = Add("kernel", std::move(op), lane, waits);
  plan_.nodes.back().launches = launches;
  return index;
}

void TestGraph::SetSharedBytes(NodeIndex kernel, uint32_t shared_bytes) {
  const ir::Slice launches = plan_.node(kernel).launches;
  for (uint32_t i = launches.begin; i < launches.begin + launches.count; ++i) {
    plan_.launches[i].shared_bytes = shared_bytes;
  }
}

NodeIndex TestGraph::Fill(BufferIndex buffer, uint32_t pattern, uint32_t pattern_bytes,
                          uint32_t lane, Waits waits) {
  return Add("fill", ir::FillOp{Whole(buffer), pattern, pattern_bytes}, lane, waits);
}

NodeIndex TestGraph::Copy(BufferIndex source, BufferIndex destination, uint32_t lane, Waits waits) {
  return Add("copy", ir::CopyOp{Whole(source), Whole(destination)}, lane, waits);
}

void TestGraph::CopyByKernel(NodeIndex copy) {
  plan_.nodes[copy.value()].launches = {static_cast<uint32_t>(plan_.launches.size()), 1};
  plan_.launches.push_back({"weft_copy_bytes", {1, 1, 1}, {1, 1, 1}, 0});
}

NodeIndex TestGraph::FillRows(BufferIndex buffer, uint32_t pattern, uint32_t width, uint32_t rows,
                              uint32_t pitch, uint32_t lane, Waits waits) {
  ir::FillOp op{Whole(buffer), pattern, 4};
  op.rows = ir::Runs{uint64_t{width} * 4, rows, uint64_t{pitch} * 4};
  return Add("fill", op, lane, waits);
}

NodeIndex TestGraph::CopyBox(BufferIndex source, BufferIndex destination, uint32_t width,
                             uint32_t rows, uint32_t pitch, uint32_t lane, Waits waits) {
  ir::CopyOp op{Whole(source), Whole(destination)};
  op.box = ir::CopyBox{.width_bytes = uint64_t{width} * 4,
                       .rows = rows,
                       .slices = 1,
                       .src_pitch_bytes = uint64_t{pitch} * 4,
                       .dst_pitch_bytes = uint64_t{width} * 4,
                       .src_slice_rows = rows,
                       .dst_slice_rows = rows};
  return Add("copy", op, lane, waits);
}

NodeIndex TestGraph::Prefetch(BufferIndex buffer, uint32_t lane, Waits waits) {
  return Add("prefetch", ir::PrefetchOp{Whole(buffer), ir::Location::kHost}, lane, waits);
}

NodeIndex TestGraph::Advise(BufferIndex buffer, uint32_t lane, Waits waits) {
  return Add("advise", ir::AdviseOp{Whole(buffer), ir::Advice::kReadMostly}, lane, waits);
}

NodeIndex TestGraph::Upload(BufferIndex buffer, uint32_t lane, Waits waits) {
  const NodeIndex index =
      Add("upload", ir::UploadOp{Whole(buffer), graph_.upload_count++}, lane, waits);
  const uint64_t size_bytes = graph_.buffer(buffer).size_bytes;
  plan_.nodes.back().staging = ByteRange{plan_.staging_bytes, size_bytes};
  plan_.staging_bytes += AlignUp(size_bytes, plan::kAreaAlignment);
  return index;
}

NodeIndex TestGraph::Download(BufferIndex buffer, uint32_t lane, Waits waits) {
  const NodeIndex index = Add("download", ir::DownloadOp{Whole(buffer), 0}, lane, waits);
  const uint64_t size_bytes = graph_.buffer(buffer).size_bytes;
  plan_.nodes.back().staging = ByteRange{plan_.staging_bytes, size_bytes};
  plan_.staging_bytes += AlignUp(size_bytes, plan::kAreaAlignment);
  return index;
}

NodeIndex TestGraph::HostOutput(BufferIndex buffer, uint32_t lane, uint32_t output) {
  return Node(ir::DownloadOp{Whole(buffer), output, ir::Delivery::kWhenReady}, lane);
}

NodeIndex TestGraph::Node(ir::Operation operation, uint32_t lane, Waits waits) {
  const uint64_t staged = ir::StagedBytes(operation);
  const NodeIndex index = Add("node", std::move(operation), lane, waits);
  if (staged > 0) {
    plan_.nodes.back().staging = ByteRange{plan_.staging_bytes, staged};
    plan_.staging_bytes += AlignUp(staged, plan::kAreaAlignment);
  }
  return index;
}

ir::Slice TestGraph::AddView(const ir::View& view) {
  graph_.views.push_back(view);
  return {static_cast<uint32_t>(graph_.views.size() - 1), 1};
}

NodeIndex TestGraph::Empty(uint32_t lane, Waits waits) {
  return Add("empty", ir::EmptyOp{}, lane, waits);
}

NodeIndex TestGraph::NoOp(uint32_t lane, Waits waits) {
  const BufferIndex nothing = Scratch(0);
  return Copy(nothing, nothing, lane, waits);
}

void TestGraph::Cut(const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    const auto number = static_cast<uint32_t>(plan_.segments.size());
    plan::Segment segment;
    segment.kind = part.kind;
    segment.nodes = {static_cast<uint32_t>(plan_.segment_nodes.size()),
                     static_cast<uint32_t>(part.nodes.size())};
    if (number > 0) {
      segment.after = {static_cast<uint32_t>(plan_.segment_after.size()), 1};
      plan_.segment_after.push_back(number - 1);
    }
    for (const NodeIndex node : part.nodes) {
      plan_.nodes[node.value()].segment = number;
      plan_.segment_nodes.push_back(node);
    }
    plan_.segments.push_back(segment);
  }
}

const plan::Plan& TestGraph::plan() {
  plan_.lanes.clear();
  plan_.lane_nodes.clear();
  uint32_t lane_count = 0;
  for (const plan::PlannedNode& node : plan_.nodes) {
    lane_count = std::max(lane_count, node.lane.value() + 1);
  }
  for (uint32_t lane = 0; lane < lane_count; ++lane) {
    const auto begin = static_cast<uint32_t>(plan_.lane_nodes.size());
    for (const NodeIndex node : plan_.order) {
      if (plan_.node(node).lane.value() == lane) plan_.lane_nodes.push_back(node);
    }
    plan_.lanes.push_back({begin, static_cast<uint32_t>(plan_.lane_nodes.size()) - begin});
  }
  return plan_;
}

}  // namespace weft::build
