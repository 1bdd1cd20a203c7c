#include "graph/build/stream_runner.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/error_context.h"
#include "base/status_macros.h"
#include "cuda/graph.h"
#include "cuda/memory.h"
#include "cuda/nvtx.h"
#include "graph/build/graph_builder.h"
#include "graph/build/operations.h"

namespace weft::build {
namespace {

// Issues one operation to a stream, whatever its kind.
struct Issuer {
  const cuda::StreamRef& stream;
  const OperationList& list;
  std::vector<cuda::GraphExec>& runs;

  absl::Status operator()(const EmptyOperation&) const { return absl::OkStatus(); }
  absl::Status operator()(const KernelOperation& kernel) const {
    return cuda::LaunchKernel(stream, LaunchOf(list, kernel).launch());
  }
  absl::Status operator()(const cuda::MemcpyNode& copy) const {
    return cuda::CopyAsync(stream, copy.destination, copy.source, copy.size_bytes);
  }
  absl::Status operator()(const cuda::MemsetNode& fill) const {
    return cuda::FillRowsAsync(
        stream, {fill.destination, fill.pattern, fill.width, fill.height, fill.pitch_bytes});
  }
  absl::Status operator()(const cuda::BoxCopy& copy) const {
    return cuda::CopyBoxAsync(stream, copy);
  }
  absl::Status operator()(const cuda::Prefetch& prefetch) const {
    return cuda::PrefetchAsync(stream, prefetch);
  }
  absl::Status operator()(const LibraryOperation& library) const {
    return library.call->Enqueue(stream);
  }
  absl::Status operator()(const cuda::ValueWaitNode& wait) const {
    return stream.WaitValue64(wait.address, wait.value, cuda::WaitCondition::kGreaterOrEqual);
  }
  absl::Status operator()(const RunOperation& run) const { return runs[run.run].Launch(stream); }
};

// NodeSpan::occupancy of a node with these operations. What cannot be asked is not known: it is no
// reason to refuse the job.
double OccupancyOf(absl::Span<const Operation> operations) {
  double least = 0;
  for (const Operation& operation : operations) {
    const auto* kernel = std::get_if<KernelOperation>(&operation);
    if (kernel == nullptr) continue;
    const uint32_t threads = kernel->block.x * kernel->block.y * kernel->block.z;
    const double occupancy =
        kernel->function.Occupancy(threads, kernel->dynamic_shared_bytes).value_or(0.0);
    if (least == 0 || occupancy < least) least = occupancy;
  }
  return least;
}

}  // namespace

struct StreamRunner::State {
  // One node as it is issued. Events are positions in events.
  struct Step {
    NodeIndex node;
    LaneId lane;
    ir::Slice operations;
    ir::Slice waits;                      // in waits
    std::optional<uint32_t> start_event;  // recorded before its operations, for timing
    std::optional<uint32_t> end_event;    // recorded behind them
    double occupancy = 0;                 // NodeSpan::occupancy; only with timing
  };

  OperationList operations;
  // Nodes that run graphs, by position in operations.runs: a graph of its own each, launched into the
  // stream of its lane. The recorded ones have the handles of conditional nodes.
  std::vector<cuda::Graph> run_graphs;
  std::vector<cuda::GraphExec> runs;
  std::vector<std::string> names;  // of nodes, for errors
  std::vector<Step> steps;         // in the plan's order
  std::vector<uint32_t> step_of;   // by NodeIndex
  std::vector<uint32_t> waits;     // events, grouped by the step that waits
  std::vector<cuda::Event> events;
  std::vector<cuda::Stream> streams;  // of the lanes behind the first
  std::vector<cuda::Event> joins;     // by stream: behind what a run put into it
  std::optional<cuda::Event> begin;   // of the run
  Timing timing = Timing::kNone;

  absl::StatusOr<uint32_t> AddEvent(const cuda::Context& context) {
    const cuda::EventTiming kind =
        timing == Timing::kPerNode ? cuda::EventTiming::kEnabled : cuda::EventTiming::kDisabled;
    WEFT_ASSIGN_OR_RETURN(cuda::Event event, cuda::Event::Create(context, kind));
    events.push_back(std::move(event));
    return static_cast<uint32_t>(events.size() - 1);
  }

  cuda::StreamRef StreamOf(LaneId lane, const cuda::StreamRef& origin) const {
    return lane.value() == 0 ? origin : streams[lane.value() - 1].ref();
  }

  absl::Status AddStep(const BuildInput& input, NodeIndex node);
  absl::Status MakeRuns(const BuildInput& input);
  absl::Status MakeStreams(const cuda::Context& context, uint32_t lane_count);
  absl::Status Begin(const cuda::StreamRef& origin) const;
  absl::Status Issue(const Step& step, const cuda::StreamRef& stream);
  absl::Status Join(size_t stream, const cuda::StreamRef& origin) const;
  // The run's status: `issued`, or the first error after it.
  absl::Status End(const cuda::StreamRef& origin, absl::Status issued) const;
};

absl::Status StreamRunner::State::AddStep(const BuildInput& input, NodeIndex node) {
  const plan::PlannedNode& planned = input.plan.node(node);
  Step step;
  step.node = node;
  step.lane = planned.lane;
  step.operations = operations.OfNode(node);
  step.waits.begin = static_cast<uint32_t>(waits.size());
  for (const NodeIndex waited : input.plan.WaitsOf(planned)) {
    // Nodes that are waited for stand earlier in the order and have an event.
    waits.push_back(*steps[step_of[waited.value()]].end_event);
  }
  step.waits.count = static_cast<uint32_t>(waits.size()) - step.waits.begin;

  const bool is_timed = timing == Timing::kPerNode;
  if (is_timed) {
    WEFT_ASSIGN_OR_RETURN(step.start_event, AddEvent(input.context));
    step.occupancy = OccupancyOf(absl::MakeConstSpan(operations.operations)
                                     .subspan(step.operations.begin, step.operations.count));
  }
  if (is_timed || planned.has_waiters) {
    WEFT_ASSIGN_OR_RETURN(step.end_event, AddEvent(input.context));
  }
  step_of[node.value()] = static_cast<uint32_t>(steps.size());
  steps.push_back(step);
  return absl::OkStatus();
}

absl::Status StreamRunner::State::MakeRuns(const BuildInput& input) {
  for (const GraphRun& run : operations.runs) {
    WEFT_ASSIGN_OR_RETURN(cuda::Graph graph, BuildRun(input, operations, run));
    WEFT_ASSIGN_OR_RETURN(cuda::GraphExec exec, graph.Instantiate());
    run_graphs.push_back(std::move(graph));
    runs.push_back(std::move(exec));
  }
  return absl::OkStatus();
}

absl::Status StreamRunner::State::MakeStreams(const cuda::Context& context, uint32_t lane_count) {
  for (uint32_t lane = 1; lane < lane_count; ++lane) {
    WEFT_ASSIGN_OR_RETURN(cuda::Stream stream, cuda::Stream::Create(context, {}));
    streams.push_back(std::move(stream));
    WEFT_ASSIGN_OR_RETURN(cuda::Event join,
                          cuda::Event::Create(context, cuda::EventTiming::kDisabled));
    joins.push_back(std::move(join));
  }
  if (streams.empty() && timing == Timing::kNone) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(begin, cuda::Event::Create(context, timing == Timing::kPerNode
                                                                ? cuda::EventTiming::kEnabled
                                                                : cuda::EventTiming::kDisabled));
  return absl::OkStatus();
}

absl::Status StreamRunner::State::Begin(const cuda::StreamRef& origin) const {
  if (!begin.has_value()) return absl::OkStatus();
  WEFT_RETURN_IF_ERROR(origin.Record(begin->ref()));
  for (const cuda::Stream& stream : streams) {
    WEFT_RETURN_IF_ERROR(stream.ref().Wait(begin->ref()));
  }
  return absl::OkStatus();
}

absl::Status StreamRunner::State::Issue(const Step& step, const cuda::StreamRef& stream) {
  for (uint32_t i = step.waits.begin; i < step.waits.begin + step.waits.count; ++i) {
    WEFT_RETURN_IF_ERROR(stream.Wait(events[waits[i]].ref()));
  }
  if (step.start_event) WEFT_RETURN_IF_ERROR(stream.Record(events[*step.start_event].ref()));
  const uint32_t end = step.operations.begin + step.operations.count;
  for (uint32_t i = step.operations.begin; i < end; ++i) {
    WEFT_RETURN_IF_ERROR(std::visit(Issuer{stream, operations, runs}, operations.operations[i]));
  }
  if (step.end_event) WEFT_RETURN_IF_ERROR(stream.Record(events[*step.end_event].ref()));
  return absl::OkStatus();
}

absl::Status StreamRunner::State::Join(size_t stream, const cuda::StreamRef& origin) const {
  WEFT_RETURN_IF_ERROR(streams[stream].ref().Record(joins[stream].ref()));
  return origin.Wait(joins[stream].ref());
}

// Goes on behind an error: whoever sees `origin` at its end gives the memory of the run to others,
// so that no lane may be left behind.
absl::Status StreamRunner::State::End(const cuda::StreamRef& origin, absl::Status issued) const {
  absl::Status left_behind;
  for (size_t i = 0; i < streams.size(); ++i) {
    const absl::Status joined = Join(i, origin);
    if (joined.ok()) continue;
    issued.Update(joined);
    left_behind.Update(streams[i].ref().Synchronize());
  }
  return left_behind.ok() ? issued : left_behind;
}

StreamRunner::StreamRunner(std::unique_ptr<State> state) : state_(std::move(state)) {}
StreamRunner::~StreamRunner() = default;

absl::StatusOr<std::unique_ptr<StreamRunner>> StreamRunner::Create(const BuildInput& input,
                                                                   Timing timing) {
  auto state = std::make_unique<State>();
  state->timing = timing;
  WEFT_ASSIGN_OR_RETURN(state->operations, ResolveOperations(input));
  WEFT_RETURN_IF_ERROR(state->MakeRuns(input));
  WEFT_RETURN_IF_ERROR(state->MakeStreams(input.context, input.plan.lane_count()));
  state->step_of.resize(input.plan.nodes.size());
  state->steps.reserve(input.plan.nodes.size());
  for (const NodeIndex node : input.plan.order) {
    WEFT_RETURN_IF_ERROR(state->AddStep(input, node));
  }
  state->names.reserve(input.graph.nodes.size());
  for (const ir::Node& node : input.graph.nodes) state->names.push_back(node.name);
  return std::unique_ptr<StreamRunner>(new StreamRunner(std::move(state)));
}

absl::Status StreamRunner::Run(const cuda::StreamRef& origin) {
  WEFT_RETURN_IF_ERROR(state_->Begin(origin));
  absl::Status status;
  for (const State::Step& step : state_->steps) {
    const std::string& name = state_->names[step.node.value()];
    const cuda::NvtxRange range(name.c_str());
    status = WithContext(state_->Issue(step, state_->StreamOf(step.lane, origin)), {"", name, ""});
    if (!status.ok()) break;
  }
  return state_->End(origin, std::move(status));
}

absl::StatusOr<std::vector<NodeSpan>> StreamRunner::Timeline() const {
  std::vector<NodeSpan> spans;
  if (state_->timing == Timing::kNone) return spans;
  spans.reserve(state_->steps.size());
  const cuda::EventRef begin = state_->begin->ref();
  for (const uint32_t position : state_->step_of) {
    const State::Step& step = state_->steps[position];
    WEFT_ASSIGN_OR_RETURN(const int64_t start_ns,
                          cuda::ElapsedNs(begin, state_->events[*step.start_event].ref()));
    WEFT_ASSIGN_OR_RETURN(const int64_t end_ns,
                          cuda::ElapsedNs(begin, state_->events[*step.end_event].ref()));
    spans.push_back(NodeSpan{step.node, step.lane, static_cast<uint64_t>(start_ns),
                             static_cast<uint64_t>(end_ns), step.occupancy});
  }
  return spans;
}

}  // namespace weft::build
