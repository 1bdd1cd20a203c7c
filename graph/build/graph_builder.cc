#include "graph/build/graph_builder.h"

#include <optional>
#include <utility>
#include <variant>

#include "absl/container/inlined_vector.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "cuda/nvtx.h"
#include "cuda/stream.h"

namespace weft::build {
namespace {

// Adds one operation to a graph, whatever its kind.
struct Adder {
  cuda::Graph& graph;
  const cuda::Stream* capture;  // of library calls; null: there are none
  const OperationList& list;
  cuda::Dependencies dependencies;

  absl::StatusOr<cuda::NodeRef> operator()(const EmptyOperation&) const {
    return graph.AddEmpty(dependencies);
  }
  absl::StatusOr<cuda::NodeRef> operator()(const KernelOperation& kernel) const {
    return graph.AddKernel(LaunchOf(list, kernel).launch(), dependencies);
  }
  absl::StatusOr<cuda::NodeRef> operator()(const cuda::MemcpyNode& copy) const {
    return graph.AddMemcpy(copy, dependencies);
  }
  absl::StatusOr<cuda::NodeRef> operator()(const cuda::BoxCopy& copy) const {
    return graph.AddBoxCopy(copy, dependencies);
  }
  absl::StatusOr<cuda::NodeRef> operator()(const cuda::Prefetch&) const {
    return WEFT_BUG("a prefetch is planned into a graph, which has no node for it");
  }
  absl::StatusOr<cuda::NodeRef> operator()(const cuda::MemsetNode& fill) const {
    return graph.AddMemset(fill, dependencies);
  }
  absl::StatusOr<cuda::NodeRef> operator()(const cuda::HostNode& call) const {
    return graph.AddHost(call, dependencies);
  }
  absl::StatusOr<cuda::NodeRef> operator()(const LibraryOperation& library) const {
    WEFT_ASSIGN_OR_RETURN(
        const cuda::Graph recorded,
        cuda::Graph::Capture(capture->ref(), [&library](const cuda::StreamRef& stream) {
          return library.call->Enqueue(stream);
        }));
    return graph.AddChild(recorded, dependencies);
  }
  absl::StatusOr<cuda::NodeRef> operator()(const RunOperation&) const {
    return WEFT_BUG("a run of a graph is added by its builder");
  }
};

// Which node of a CUDA graph carries out which operation of a list.
using NodesOfOperations = std::vector<cuda::NodeRef>;

// NOLINTBEGIN(misc-no-recursion): graphs that graphs run, at most ir::kMaxGraphDepth levels

// Records one graph of a job, the job itself or a segment of it into `into`.
class Builder {
 public:
  // `nodes`: one an operation of `list`.
  Builder(const BuildInput& job, const ir::Graph& graph, const plan::Plan& plan,
          const OperationList& list, cuda::Graph& into, NodesOfOperations& nodes)
      : job_(job), graph_(graph), plan_(plan), list_(list), into_(into), nodes_(nodes) {}

  // `order`: all nodes, or those of one segment. `before`: what comes before the whole.
  absl::Status Run(absl::Span<const NodeIndex> order, cuda::Dependencies before) {
    for (const NodeIndex node : order) {
      const std::string& name = graph_.node(node).name;
      // A profiler that shows the nodes of a graph names each by the range that it was made in.
      const cuda::NvtxRange range(name.c_str());
      WEFT_RETURN_IF_ERROR(WithContext(AddNode(node, before), {"", name, ""}));
    }
    return absl::OkStatus();
  }

  // A node behind all of it. REQUIRES: Run was called.
  absl::StatusOr<cuda::NodeRef> End() {
    std::vector<cuda::NodeRef> ends;
    for (uint32_t lane = 0; lane < plan_.lane_count(); ++lane) {
      ends.push_back(LastOf(plan_.NodesOf(LaneId(lane)).back()));
    }
    if (ends.size() == 1) return ends.front();
    return into_.AddEmpty(ends);
  }

  // A graph in place, or a conditional node with its bodies.
  absl::StatusOr<cuda::NodeRef> AddRun(const GraphRun& run, cuda::Dependencies dependencies) {
    if (run.conditional.has_value()) return AddConditional(run, dependencies);
    return AddBody(run.bodies.front(), into_, dependencies);
  }

 private:
  absl::Status AddNode(NodeIndex node, cuda::Dependencies before) {
    const plan::PlannedNode& planned = plan_.node(node);
    absl::InlinedVector<cuda::NodeRef, 8> dependencies;
    // What comes before in another segment has been started before, into the same stream.
    const auto depend_on = [&](NodeIndex other) {
      if (plan_.node(other).segment == planned.segment) dependencies.push_back(LastOf(other));
    };
    if (const std::optional<NodeIndex> in_lane = plan_.BeforeInLane(planned)) depend_on(*in_lane);
    for (const NodeIndex waited : plan_.WaitsOf(planned)) depend_on(waited);
    if (dependencies.empty()) dependencies.assign(before.begin(), before.end());
    const ir::Slice operations = list_.OfNode(node);
    for (uint32_t i = operations.begin; i < operations.begin + operations.count; ++i) {
      WEFT_ASSIGN_OR_RETURN(nodes_[i], AddOperation(list_.operations[i], dependencies));
      dependencies.assign(1, nodes_[i]);  // the next phase waits for this one
    }
    return absl::OkStatus();
  }

  absl::StatusOr<cuda::NodeRef> AddOperation(const Operation& operation,
                                             cuda::Dependencies dependencies) {
    if (const auto* run = std::get_if<RunOperation>(&operation)) {
      return AddRun(list_.runs[run->run], dependencies);
    }
    if (std::holds_alternative<LibraryOperation>(operation) && !capture_.has_value()) {
      WEFT_ASSIGN_OR_RETURN(capture_, cuda::Stream::Create(job_.context, {}));
    }
    const cuda::Stream* const capture = capture_.has_value() ? &*capture_ : nullptr;
    return std::visit(Adder{into_, capture, list_, dependencies}, operation);
  }

  absl::StatusOr<cuda::NodeRef> AddBody(const GraphRun::Body& body, cuda::Graph& into,
                                        cuda::Dependencies before) {
    const plan::Plan& plan = job_.plan.graphs[body.graph];
    NodesOfOperations nodes(body.operations.operations.size());
    Builder builder(job_, job_.graph.graphs[body.graph], plan, body.operations, into, nodes);
    WEFT_RETURN_IF_ERROR(builder.Run(plan.order, before));
    return builder.End();
  }

  absl::StatusOr<cuda::NodeRef> AddConditional(const GraphRun& run,
                                               cuda::Dependencies dependencies) {
    WEFT_ASSIGN_OR_RETURN(const cuda::ConditionalHandle handle,
                          into_.CreateConditional(cuda::ConditionalDefault::kAssigned, 0));
    const LaunchOf set(list_, run.set_condition, handle);
    WEFT_ASSIGN_OR_RETURN(const cuda::NodeRef is_set, into_.AddKernel(set.launch(), dependencies));
    const auto body_count = static_cast<uint32_t>(run.bodies.size());
    WEFT_ASSIGN_OR_RETURN(cuda::Conditional conditional,
                          into_.AddConditional({handle, *run.conditional, body_count}, {is_set}));
    for (uint32_t i = 0; i < body_count; ++i) {
      cuda::Graph& body = conditional.bodies[i].graph();
      WEFT_ASSIGN_OR_RETURN(const cuda::NodeRef end, AddBody(run.bodies[i], body, {}));
      if (*run.conditional != cuda::ConditionalKind::kWhile) continue;
      WEFT_RETURN_IF_ERROR(body.AddKernel(set.launch(), {end}).status());
    }
    return conditional.node;
  }

  // What others wait for. Behind an output that is delivered when ready that is its copy: the call that
  // tells of it goes on beside them.
  cuda::NodeRef LastOf(NodeIndex node) const {
    const ir::Slice operations = list_.OfNode(node);
    uint32_t last = operations.begin + operations.count - 1;
    if (operations.count > 1 && std::holds_alternative<cuda::HostNode>(list_.operations[last])) {
      --last;
    }
    return nodes_[last];
  }

  const BuildInput& job_;
  const ir::Graph& graph_;
  const plan::Plan& plan_;
  const OperationList& list_;
  cuda::Graph& into_;
  NodesOfOperations& nodes_;
  std::optional<cuda::Stream> capture_;  // of library calls, where there are any
};

// NOLINTEND(misc-no-recursion)

}  // namespace

absl::StatusOr<BuiltGraph> BuildGraph(const BuildInput& input, const OperationList& operations) {
  WEFT_ASSIGN_OR_RETURN(cuda::Graph graph, cuda::Graph::Create(input.context));
  BuiltGraph built{std::move(graph), {}};
  built.nodes.resize(operations.operations.size());
  Builder builder(input, input.graph, input.plan, operations, built.graph, built.nodes);
  WEFT_RETURN_IF_ERROR(builder.Run(input.plan.order, {}));
  return built;
}

absl::StatusOr<std::vector<std::optional<cuda::Graph>>> BuildSegments(
    const BuildInput& input, const OperationList& operations) {
  std::vector<std::optional<cuda::Graph>> graphs(input.plan.segments.size());
  NodesOfOperations nodes(operations.operations.size());
  for (size_t s = 0; s < graphs.size(); ++s) {
    const plan::Segment& segment = input.plan.segments[s];
    if (segment.kind != plan::Segment::Kind::kNodes) continue;
    WEFT_ASSIGN_OR_RETURN(graphs[s], cuda::Graph::Create(input.context));
    Builder builder(input, input.graph, input.plan, operations, *graphs[s], nodes);
    WEFT_RETURN_IF_ERROR(builder.Run(input.plan.NodesOf(segment), {}));
  }
  return graphs;
}

absl::StatusOr<cuda::Graph> BuildRun(const BuildInput& input, const OperationList& operations,
                                     const GraphRun& run) {
  WEFT_ASSIGN_OR_RETURN(cuda::Graph graph, cuda::Graph::Create(input.context));
  NodesOfOperations nodes;
  Builder builder(input, input.graph, input.plan, operations, graph, nodes);
  WEFT_RETURN_IF_ERROR(builder.AddRun(run, {}).status());
  return graph;
}

}  // namespace weft::build
