#include "server/executor/graph_preparer.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/byte_range.h"
#include "base/status_macros.h"
#include "graph/build/segment_runner.h"
#include "graph/build/stream_runner.h"
#include "graph/ir/from_proto.h"
#include "graph/ir/graph.h"
#include "graph/ir/violations.h"
#include "graph/plan/plan.h"
#include "graph/plan/planner.h"
#include "server/executor/errors.h"
#include "server/executor/memory_map.h"
#include "transport/ready_word.h"
#include "weft/executor/v1/executor.pb.h"
#include "weft/v1/job.pb.h"

namespace weft::executor {
namespace {

// What pinning works in, on every system that a GPU driver runs on.
constexpr uint64_t kPageBytes = 4096;
// Names of kernel nodes kept for the message of a fault.
constexpr size_t kMaxSuspects = 8;

class ExecutableRunner final : public GraphRunner {
 public:
  explicit ExecutableRunner(std::unique_ptr<build::Executable> executable)
      : executable_(std::move(executable)) {}
  absl::Status Launch(const cuda::StreamRef& stream) override {
    return executable_->Launch(stream);
  }
  std::unique_ptr<build::Executable> TakeExecutable() override { return std::move(executable_); }

 private:
  std::unique_ptr<build::Executable> executable_;
};

class StreamsRunner final : public GraphRunner {
 public:
  explicit StreamsRunner(std::unique_ptr<build::StreamRunner> runner)
      : runner_(std::move(runner)) {}
  absl::Status Launch(const cuda::StreamRef& stream) override { return runner_->Run(stream); }
  absl::StatusOr<std::vector<build::NodeSpan>> Timeline() const override {
    return runner_->Timeline();
  }

 private:
  std::unique_ptr<build::StreamRunner> runner_;
};

class SegmentsRunner final : public GraphRunner {
 public:
  explicit SegmentsRunner(std::unique_ptr<build::SegmentRunner> runner)
      : runner_(std::move(runner)) {}
  absl::Status Launch(const cuda::StreamRef& stream) override { return runner_->Begin(stream); }
  const build::SegmentTable* segments() const override { return &runner_->table(); }
  absl::Status LaunchSegment(uint32_t segment, const cuda::StreamRef& stream) override {
    return runner_->Launch(segment, stream);
  }
  absl::Status MarkWait(uint32_t segment, build::WaitMark mark,
                        const cuda::StreamRef& stream) override {
    return runner_->MarkWait(segment, mark, stream);
  }
  absl::StatusOr<std::vector<build::NodeSpan>> Timeline() const override {
    return runner_->Timeline();
  }

 private:
  std::unique_ptr<build::SegmentRunner> runner_;
};

// weftd checked the job against its own limits, which may be any.
ir::Limits NoLimits() {
  ir::Limits limits;
  limits.max_job_bytes = std::numeric_limits<uint64_t>::max();
  limits.max_nodes = std::numeric_limits<uint32_t>::max();
  limits.max_buffers = std::numeric_limits<uint32_t>::max();
  limits.max_arguments = std::numeric_limits<uint32_t>::max();
  limits.max_output_bytes = std::numeric_limits<uint64_t>::max();
  limits.max_pinned_bytes = std::numeric_limits<uint64_t>::max();
  limits.max_after = std::numeric_limits<uint32_t>::max();
  return limits;
}

absl::StatusOr<ir::Graph> ReadGraph(const ::weft::v1::Job& job, const cuda::DeviceInfo& device) {
  ir::JobContext context;
  context.devices = absl::MakeConstSpan(&device, 1);
  context.limits = NoLimits();
  context.uploads = ir::UploadData::kStripped;
  ir::Violations violations(context.limits.max_reported);
  ir::Graph graph = ir::FromProto(job, context, violations);
  if (!violations.empty()) {
    return absl::InternalError(absl::StrCat("the executor refuses a job that weftd accepted: ",
                                            violations.ToStatus().message()));
  }
  return graph;
}

absl::StatusOr<plan::Plan> MakePlan(const ir::Graph& graph, const cuda::DeviceInfo& device,
                                    const v1::PrepareRequest& request) {
  plan::PlanOptions options;
  options.max_lanes = request.max_lanes();
  WEFT_ASSIGN_OR_RETURN(options.passes, plan::PassSwitches::Parse(request.disabled_passes()));
  // What goes to the device is checked by other code than that which made it.
  options.verify = plan::Verify::kOn;
  return plan::PlanGraph(graph, device, options);
}

// Shared buffers: addresses by BufferIndex, and the ranges for GraphFacts.
absl::Status BindBuffers(const ir::Graph& graph, const v1::PrepareRequest& request,
                         const MemoryMap& memory, build::Bindings& bindings, GraphFacts& facts) {
  absl::flat_hash_map<absl::string_view, const v1::BufferBinding*> by_name;
  for (const v1::BufferBinding& binding : request.bindings()) by_name[binding.buffer()] = &binding;
  bindings.buffers.resize(graph.buffers.size());
  for (size_t i = 0; i < graph.buffers.size(); ++i) {
    const ir::Buffer& buffer = graph.buffers[i];
    if (!buffer.shared.has_value()) continue;
    const auto it = by_name.find(buffer.name);
    if (it == by_name.end() || it->second->size_bytes() < buffer.size_bytes) {
      return UnboundBufferError(buffer.name);
    }
    ByteRange range = {it->second->address(), it->second->size_bytes()};
    if (graph.IsElsewhere(buffer)) {
      WEFT_ASSIGN_OR_RETURN(range, memory.RangeOf(it->second->tag()));
      if (range.size < buffer.size_bytes) return UnboundBufferError(buffer.name);
    }
    bindings.buffers[i] = range.offset;
    facts.buffers.push_back(range);
  }
  return absl::OkStatus();
}

// Page-locked memory, of zeros.
absl::Status MakeHostMemory(const cuda::Context& context, const char* name, uint64_t size_bytes,
                            transport::SharedMemory& memory,
                            std::optional<cuda::PinnedHost>& pinned) {
  WEFT_ASSIGN_OR_RETURN(memory,
                        transport::SharedMemory::Create(name, AlignUp(size_bytes, kPageBytes)));
  WEFT_ASSIGN_OR_RETURN(pinned, cuda::PinnedHost::Register(context, memory.data(), memory.size()));
  return absl::OkStatus();
}

// More than is free would be paged in and out during the run, at the price of everyone's bandwidth.
absl::StatusOr<cuda::ManagedMemory> MakeManaged(const cuda::Context& context, uint64_t size_bytes) {
  WEFT_ASSIGN_OR_RETURN(const cuda::MemoryInfo info, cuda::QueryMemory(context));
  if (size_bytes > info.free_bytes) return NoRoomForManagedError(size_bytes, info.free_bytes);
  return cuda::ManagedMemory::Create(context, size_bytes);
}

absl::Status MakeMemory(const cuda::Context& context, const plan::Plan& plan,
                        build::Bindings& bindings, PreparedGraph::Memory& memory) {
  if (plan.scratch.size_bytes > 0) {
    WEFT_ASSIGN_OR_RETURN(memory.scratch, DeviceRegion::Create(context, plan.scratch.size_bytes));
    bindings.scratch = memory.scratch->address();
  }
  if (plan.staging_bytes > 0) {
    WEFT_RETURN_IF_ERROR(
        MakeHostMemory(context, "weft-staging", plan.staging_bytes, memory.staging, memory.pinned));
    bindings.staging = memory.pinned->device_address();
  }
  if (plan.pinned_bytes > 0) {
    WEFT_RETURN_IF_ERROR(
        MakeHostMemory(context, "weft-pinned", plan.pinned_bytes, memory.host, memory.host_pinned));
    bindings.pinned = memory.host_pinned->device_address();
  }
  if (plan.managed_bytes > 0) {
    WEFT_ASSIGN_OR_RETURN(memory.managed, MakeManaged(context, plan.managed_bytes));
    bindings.managed = memory.managed->address();
  }
  return absl::OkStatus();
}

// REQUIRES: the staging memory is made.
void MakeSignals(const ir::Graph& graph, const plan::Plan& plan,
                 const transport::RingNotice& notice, build::Bindings& bindings,
                 PreparedGraph::Memory& memory) {
  const auto count = std::count_if(
      graph.outputs.begin(), graph.outputs.end(),
      [](const ir::Output& output) { return output.delivery == ir::Delivery::kWhenReady; });
  if (count == 0) return;
  memory.signals.reserve(static_cast<size_t>(count));  // what is built points to them
  bindings.output_ready.resize(graph.outputs.size());
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const ByteRange& word = plan.node(graph.outputs[i].node).ready;
    if (word.empty()) continue;
    memory.signals.emplace_back(transport::ReadyWord(memory.staging.data(), word.offset), notice);
    bindings.output_ready[i] = memory.signals.back().Node();
  }
}

// Whether a node launches kernels that may fault. `graphs`: whether those of the job do.
bool LaunchesKernels(const ir::Graph& graph, const ir::Node& node,
                     const std::vector<bool>& graphs) {
  const absl::Span<const ir::GraphCall> calls = graph.CallsOf(node.op);
  if (std::any_of(calls.begin(), calls.end(),
                  [&graphs](const ir::GraphCall& call) { return graphs[call.graph]; })) {
    return true;
  }
  const bool launches = std::holds_alternative<ir::KernelOp>(node.op) ||
                        std::holds_alternative<ir::UserKernelOp>(node.op) ||
                        std::holds_alternative<ir::LibraryOp>(node.op);
  return launches && !ir::IsNoOp(node.op);
}
bool LaunchesKernels(const ir::Graph& graph, const std::vector<bool>& graphs) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const ir::Node& node) { return LaunchesKernels(graph, node, graphs); });
}

GraphFacts FactsOf(const ir::Graph& graph) {
  GraphFacts facts;
  facts.job = graph.name;
  // Where a kernel of a graph that a node runs faults, the node is the suspect.
  std::vector<bool> graph_launches;
  for (const ir::Graph& part : graph.graphs) {
    graph_launches.push_back(LaunchesKernels(part, graph_launches));
  }
  for (const ir::Node& node : graph.nodes) {
    if (graph.options.timeline == ir::Timeline::kCollect) {
      facts.node_names.push_back(node.name);
      facts.node_kinds.emplace_back(ir::KindName(node.op));
    }
    facts.has_signals = facts.has_signals || std::holds_alternative<ir::SemaphoreSignalOp>(node.op);
    if (!LaunchesKernels(graph, node, graph_launches)) continue;
    ++facts.kernel_node_count;
    if (facts.kernel_nodes.size() < kMaxSuspects) facts.kernel_nodes.push_back(node.name);
  }
  return facts;
}

}  // namespace

absl::StatusOr<std::unique_ptr<GraphPreparer>> GraphPreparer::Create(
    const cuda::Context& context, const cuda::DeviceInfo& device, build::FunctionResolver& resolver,
    UserModuleStore& modules, transport::RingNotice notice) {
  WEFT_ASSIGN_OR_RETURN(cuda::Stream stream, cuda::Stream::Create(context, {}));
  return std::unique_ptr<GraphPreparer>(
      new GraphPreparer(context, device, resolver, modules, notice, std::move(stream)));
}

absl::StatusOr<std::unique_ptr<build::Executable>> GraphPreparer::MakeExecutable(
    const build::BuildInput& input) {
  if (!build::IsUpdatable(input.graph, input.plan)) return build::Executable::Create(input);
  const uint64_t structure = build::StructureHash(input.graph, input.plan);
  std::unique_ptr<build::Executable> kept;
  {
    const absl::MutexLock lock(&mutex_);
    kept = cache_.Take(structure);
  }
  // A refused update only costs the executable that was kept.
  if (kept != nullptr && kept->Update(input).ok()) return kept;
  return build::Executable::Create(input);
}

absl::StatusOr<std::unique_ptr<GraphRunner>> GraphPreparer::MakeRunner(
    const build::BuildInput& input) {
  const bool timed = input.graph.options.timeline == ir::Timeline::kCollect;
  const build::Timing timing = timed ? build::Timing::kPerNode : build::Timing::kNone;
  if (!input.plan.segments.empty()) {
    WEFT_ASSIGN_OR_RETURN(std::unique_ptr<build::SegmentRunner> runner,
                          build::SegmentRunner::Create(input, timing));
    WEFT_RETURN_IF_ERROR(runner->Upload(upload_.ref()));
    WEFT_RETURN_IF_ERROR(upload_.ref().Synchronize());
    return std::make_unique<SegmentsRunner>(std::move(runner));
  }
  if (timed || input.plan.launch.mode == plan::LaunchMode::kStreams) {
    WEFT_ASSIGN_OR_RETURN(std::unique_ptr<build::StreamRunner> runner,
                          build::StreamRunner::Create(input, timing));
    return std::make_unique<StreamsRunner>(std::move(runner));
  }
  WEFT_ASSIGN_OR_RETURN(std::unique_ptr<build::Executable> executable, MakeExecutable(input));
  WEFT_RETURN_IF_ERROR(executable->Upload(upload_.ref()));
  WEFT_RETURN_IF_ERROR(upload_.ref().Synchronize());
  return std::make_unique<ExecutableRunner>(std::move(executable));
}

absl::StatusOr<std::shared_ptr<PreparedGraph>> GraphPreparer::Prepare(
    const v1::PrepareRequest& request, const MemoryMap& memory_map) {
  WEFT_MAKE_CURRENT(context_);
  WEFT_ASSIGN_OR_RETURN(const ir::Graph graph, ReadGraph(request.job(), device_));
  WEFT_ASSIGN_OR_RETURN(const plan::Plan plan, MakePlan(graph, device_, request));
  GraphFacts facts = FactsOf(graph);
  facts.label = request.label();
  build::Bindings bindings;
  PreparedGraph::Memory memory;
  WEFT_RETURN_IF_ERROR(BindBuffers(graph, request, memory_map, bindings, facts));
  WEFT_ASSIGN_OR_RETURN(memory.modules, modules_.Load(graph, request.job()));
  JobFunctions functions(resolver_, memory.modules);
  WEFT_RETURN_IF_ERROR(MakeMemory(context_, plan, bindings, memory));
  MakeSignals(graph, plan, notice_, bindings, memory);
  const build::BuildInput input{context_, graph, plan, bindings, functions};
  WEFT_RETURN_IF_ERROR(build::GiveAdvice(input));
  WEFT_ASSIGN_OR_RETURN(std::unique_ptr<GraphRunner> runner, MakeRunner(input));
  return std::make_shared<PreparedGraph>(GraphId(request.graph_id()), std::move(facts),
                                         std::move(memory), std::move(runner));
}

void GraphPreparer::Recycle(PreparedGraph& graph) {
  std::unique_ptr<build::Executable> executable = graph.TakeExecutable();
  if (executable == nullptr || !executable->is_updatable()) return;
  const absl::MutexLock lock(&mutex_);
  cache_.Put(std::move(executable));
}

}  // namespace weft::executor
