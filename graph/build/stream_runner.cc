#include "graph/build/stream_runner.h"

#include <algorithm>
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

namespace weft::build {
namespace {

// Issues one operation to a stream, whatever its kind.
struct Issuer {
  const cuda::StreamRef& stream;
  const OperationList& list;
  std::vector<std::optional<cuda::GraphExec>>& runs;

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
  absl::Status operator()(const cuda::HostNode& call) const {
    return stream.LaunchHostFunc(call.function, call.user_data);
  }
  absl::Status operator()(const LibraryOperation& library) const {
    return library.call->Enqueue(stream);
  }
  absl::Status operator()(const RunOperation& run) const { return runs[run.run]->Launch(stream); }
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

bool IsIssued(const plan::Plan& plan, const plan::Segment& segment) {
  if (segment.kind == plan::Segment::Kind::kIssued) return true;
  return segment.kind == plan::Segment::Kind::kNodes &&
         plan.launch.mode == plan::LaunchMode::kStreams;
}

struct StreamRunner::State {
  // One node as it is issued. Events are positions in events.
  struct Step {
    NodeIndex node;
    LaneId lane;
    uint32_t stream = 0;  // 0: the origin; else behind it in `streams`
    ir::Slice operations;
    ir::Slice waits;                      // in waits
    std::optional<uint32_t> start_event;  // recorded before its operations, for timing
    std::optional<uint32_t> end_event;    // recorded behind them
    double occupancy = 0;                 // NodeSpan::occupancy; only with timing
  };
  // What is issued at once: all nodes, or a segment of them.
  struct Part {
    ir::Slice steps;
    uint32_t streams = 0;  // the first so many of `streams`, beside the origin
  };
  static constexpr uint32_t kNoStep = UINT32_MAX;

  std::shared_ptr<const OperationList> operations;
  // Nodes that run graphs, by position in operations->runs: a graph of its own each, launched into the
  // stream of its lane. The recorded ones have the handles of conditional nodes.
  std::vector<std::optional<cuda::Graph>> run_graphs;
  std::vector<std::optional<cuda::GraphExec>> runs;
  std::vector<std::string> names;  // of nodes, for errors
  std::vector<Step> steps;         // grouped by part, in the plan's order
  std::vector<uint32_t> step_of;   // by NodeIndex; kNoStep: it is not this runner's to issue
  std::vector<Part> parts;         // by segment; of a plan that is not cut: one
  std::vector<uint32_t> waits;     // events, grouped by the step that waits
  std::vector<cuda::Event> events;
  std::vector<cuda::Stream> streams;  // of the lanes behind the first of a part
  std::vector<cuda::Event> joins;     // by stream: behind what a part put into it
  std::optional<cuda::Event> fork;    // of a part: what its lanes start behind
  // With timing: the begin of the run, and a stream in which the marks of waits wait for nothing.
  std::optional<cuda::Event> begin;
  std::optional<cuda::Stream> marks;
  Timing timing = Timing::kNone;

  absl::StatusOr<cuda::Event> MakeEvent(const cuda::Context& context) const {
    return cuda::Event::Create(context, timing == Timing::kPerNode ? cuda::EventTiming::kEnabled
                                                                   : cuda::EventTiming::kDisabled);
  }
  absl::StatusOr<uint32_t> AddEvent(const cuda::Context& context) {
    WEFT_ASSIGN_OR_RETURN(cuda::Event event, MakeEvent(context));
    events.push_back(std::move(event));
    return static_cast<uint32_t>(events.size() - 1);
  }

  cuda::StreamRef StreamOf(const Step& step, const cuda::StreamRef& origin) const {
    return step.stream == 0 ? origin : streams[step.stream - 1].ref();
  }

  absl::Status SetUp(const BuildInput& input);
  absl::Status AddPart(const BuildInput& input, absl::Span<const NodeIndex> nodes);
  absl::Status AddStep(const BuildInput& input, NodeIndex node, uint32_t stream);
  absl::Status MakeRuns(const BuildInput& input, ir::Slice operations_of_step);
  absl::Status MakeStreams(const cuda::Context& context, bool has_waits);
  absl::Status Begin(const cuda::StreamRef& origin) const;
  absl::Status RunPart(const Part& part, const cuda::StreamRef& origin);
  absl::Status Fork(const Part& part, const cuda::StreamRef& origin) const;
  absl::Status Issue(const Step& step, const cuda::StreamRef& stream);
  absl::Status Join(size_t stream, const cuda::StreamRef& origin) const;
  // The status of the part: `issued`, or the first error after it.
  absl::Status End(const Part& part, const cuda::StreamRef& origin, absl::Status issued) const;
};

absl::Status StreamRunner::State::SetUp(const BuildInput& input) {
  run_graphs.resize(operations->runs.size());
  runs.resize(operations->runs.size());
  step_of.assign(input.plan.nodes.size(), kNoStep);
  steps.reserve(input.plan.nodes.size());
  bool has_waits = false;
  if (input.plan.segments.empty()) WEFT_RETURN_IF_ERROR(AddPart(input, input.plan.order));
  for (const plan::Segment& segment : input.plan.segments) {
    const bool is_wait = segment.kind == plan::Segment::Kind::kWait;
    has_waits = has_waits || is_wait;
    // A wait has a step for its place in the timeline.
    const bool is_mine = IsIssued(input.plan, segment) || (is_wait && timing == Timing::kPerNode);
    WEFT_RETURN_IF_ERROR(
        AddPart(input, is_mine ? input.plan.NodesOf(segment) : absl::Span<const NodeIndex>()));
  }
  names.reserve(input.graph.nodes.size());
  for (const ir::Node& node : input.graph.nodes) names.push_back(node.name);
  return MakeStreams(input.context, has_waits);
}

// The first lane of a part goes into the origin, the others into a stream each.
absl::Status StreamRunner::State::AddPart(const BuildInput& input,
                                          absl::Span<const NodeIndex> nodes) {
  std::vector<LaneId> lanes;
  for (const NodeIndex node : nodes) lanes.push_back(input.plan.node(node).lane);
  std::sort(lanes.begin(), lanes.end());
  lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
  Part part;
  part.steps = {static_cast<uint32_t>(steps.size()), static_cast<uint32_t>(nodes.size())};
  part.streams = lanes.empty() ? 0 : static_cast<uint32_t>(lanes.size() - 1);
  for (const NodeIndex node : nodes) {
    const auto lane = std::lower_bound(lanes.begin(), lanes.end(), input.plan.node(node).lane);
    WEFT_RETURN_IF_ERROR(AddStep(input, node, static_cast<uint32_t>(lane - lanes.begin())));
  }
  parts.push_back(part);
  return absl::OkStatus();
}

absl::Status StreamRunner::State::AddStep(const BuildInput& input, NodeIndex node,
                                          uint32_t stream) {
  const plan::PlannedNode& planned = input.plan.node(node);
  Step step;
  step.node = node;
  step.lane = planned.lane;
  step.stream = stream;
  step.operations = operations->OfNode(node);
  step.waits.begin = static_cast<uint32_t>(waits.size());
  for (const NodeIndex waited : input.plan.WaitsOf(planned)) {
    // What is in another segment has been put into the origin before.
    if (input.plan.node(waited).segment != planned.segment) continue;
    // Nodes that are waited for stand earlier in the order and have an event.
    waits.push_back(*steps[step_of[waited.value()]].end_event);
  }
  step.waits.count = static_cast<uint32_t>(waits.size()) - step.waits.begin;

  const bool is_timed = timing == Timing::kPerNode;
  if (is_timed) {
    WEFT_ASSIGN_OR_RETURN(step.start_event, AddEvent(input.context));
    step.occupancy = OccupancyOf(absl::MakeConstSpan(operations->operations)
                                     .subspan(step.operations.begin, step.operations.count));
  }
  if (is_timed || planned.has_waiters) {
    WEFT_ASSIGN_OR_RETURN(step.end_event, AddEvent(input.context));
  }
  step_of[node.value()] = static_cast<uint32_t>(steps.size());
  steps.push_back(step);
  return MakeRuns(input, step.operations);
}

absl::Status StreamRunner::State::MakeRuns(const BuildInput& input, ir::Slice operations_of_step) {
  const uint32_t end = operations_of_step.begin + operations_of_step.count;
  for (uint32_t i = operations_of_step.begin; i < end; ++i) {
    const auto* const run = std::get_if<RunOperation>(&operations->operations[i]);
    if (run == nullptr) continue;
    std::optional<cuda::Graph>& graph = run_graphs[run->run];
    WEFT_ASSIGN_OR_RETURN(graph, BuildRun(input, *operations, operations->runs[run->run]));
    WEFT_ASSIGN_OR_RETURN(runs[run->run], graph->Instantiate());
  }
  return absl::OkStatus();
}

absl::Status StreamRunner::State::MakeStreams(const cuda::Context& context, bool has_waits) {
  uint32_t count = 0;
  for (const Part& part : parts) count = std::max(count, part.streams);
  for (uint32_t i = 0; i < count; ++i) {
    WEFT_ASSIGN_OR_RETURN(cuda::Stream stream, cuda::Stream::Create(context, {}));
    streams.push_back(std::move(stream));
    WEFT_ASSIGN_OR_RETURN(cuda::Event join,
                          cuda::Event::Create(context, cuda::EventTiming::kDisabled));
    joins.push_back(std::move(join));
  }
  if (count > 0) {
    WEFT_ASSIGN_OR_RETURN(fork, cuda::Event::Create(context, cuda::EventTiming::kDisabled));
  }
  if (timing == Timing::kNone) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(begin, MakeEvent(context));
  if (has_waits) {
    WEFT_ASSIGN_OR_RETURN(marks, cuda::Stream::Create(context, {}));
  }
  return absl::OkStatus();
}

absl::Status StreamRunner::State::Begin(const cuda::StreamRef& origin) const {
  return begin.has_value() ? origin.Record(begin->ref()) : absl::OkStatus();
}

absl::Status StreamRunner::State::Fork(const Part& part, const cuda::StreamRef& origin) const {
  if (part.streams == 0) return absl::OkStatus();
  WEFT_RETURN_IF_ERROR(origin.Record(fork->ref()));
  for (uint32_t i = 0; i < part.streams; ++i) {
    WEFT_RETURN_IF_ERROR(streams[i].ref().Wait(fork->ref()));
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
    WEFT_RETURN_IF_ERROR(std::visit(Issuer{stream, *operations, runs}, operations->operations[i]));
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
absl::Status StreamRunner::State::End(const Part& part, const cuda::StreamRef& origin,
                                      absl::Status issued) const {
  absl::Status left_behind;
  for (size_t i = 0; i < part.streams; ++i) {
    const absl::Status joined = Join(i, origin);
    if (joined.ok()) continue;
    issued.Update(joined);
    left_behind.Update(streams[i].ref().Synchronize());
  }
  return left_behind.ok() ? issued : left_behind;
}

absl::Status StreamRunner::State::RunPart(const Part& part, const cuda::StreamRef& origin) {
  WEFT_RETURN_IF_ERROR(Fork(part, origin));
  absl::Status status;
  for (uint32_t i = part.steps.begin; i < part.steps.begin + part.steps.count; ++i) {
    const Step& step = steps[i];
    const std::string& name = names[step.node.value()];
    const cuda::NvtxRange range(name.c_str());
    status = WithContext(Issue(step, StreamOf(step, origin)), {"", name, ""});
    if (!status.ok()) break;
  }
  return End(part, origin, std::move(status));
}

StreamRunner::StreamRunner(std::unique_ptr<State> state) : state_(std::move(state)) {}
StreamRunner::~StreamRunner() = default;

absl::StatusOr<std::unique_ptr<StreamRunner>> StreamRunner::Create(const BuildInput& input,
                                                                   Timing timing) {
  WEFT_ASSIGN_OR_RETURN(OperationList operations, ResolveOperations(input));
  return Create(input, std::make_shared<const OperationList>(std::move(operations)), timing);
}

absl::StatusOr<std::unique_ptr<StreamRunner>> StreamRunner::Create(
    const BuildInput& input, std::shared_ptr<const OperationList> operations, Timing timing) {
  auto state = std::make_unique<State>();
  state->timing = timing;
  state->operations = std::move(operations);
  WEFT_RETURN_IF_ERROR(state->SetUp(input));
  return std::unique_ptr<StreamRunner>(new StreamRunner(std::move(state)));
}

absl::Status StreamRunner::Run(const cuda::StreamRef& origin) {
  WEFT_RETURN_IF_ERROR(state_->Begin(origin));
  return state_->RunPart(state_->parts.front(), origin);
}

absl::Status StreamRunner::Begin(const cuda::StreamRef& origin) { return state_->Begin(origin); }

absl::Status StreamRunner::RunSegment(uint32_t segment, const cuda::StreamRef& origin) {
  return state_->RunPart(state_->parts[segment], origin);
}

absl::Status StreamRunner::MarkWait(uint32_t segment, WaitMark mark,
                                    const cuda::StreamRef& origin) {
  if (!state_->marks.has_value()) return absl::OkStatus();
  const State::Step& step = state_->steps[state_->parts[segment].steps.begin];
  const uint32_t position = mark == WaitMark::kBegins ? *step.start_event : *step.end_event;
  const cuda::EventRef event = state_->events[position].ref();
  WEFT_RETURN_IF_ERROR(state_->marks->ref().Record(event));
  return origin.Wait(event);
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
