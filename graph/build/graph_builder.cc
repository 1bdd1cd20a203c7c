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
  absl::StatusOr<cuda::NodeRef> operator()(const LibraryOperation& library) const {
    WEFT_ASSIGN_OR_RETURN(
        const cuda::Graph recorded,
        cuda::Graph::Capture(capture->ref(), [&library](const cuda::StreamRef& stream) {
          return library.call->Enqueue(stream);
        }));
    return graph.AddChild(recorded, dependencies);
  }
  absl::StatusOr<cuda::NodeRef> operator()(const cuda::ValueWaitNode& wait) const {
    return graph.AddValueWait(wait, dependencies);
  }
  absl::StatusOr<cuda::NodeRef> operator()(const RunOperation&) const {
    return WEFT_BUG("a run of a graph is added by its builder");
  }
};

// Records one graph of a job, or the job itself, into `into`.
class Builder {
 public:
  Builder(const BuildInput& job, const ir::Graph& graph, const plan::Plan& plan,
          const OperationList& list, cuda::Graph& into)
      : job_(job), graph_(graph), plan_(plan), list_(list), into_(into) {
    nodes_.resize(list.operations.size());
  }

  // `before`: what comes before the whole.
  absl::Status Run(cuda::Dependencies before) {
    WEFT_RETURN_IF_ERROR(MakeCaptureStream());
    for (const NodeIndex node : plan_.order) {
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

  std::vector<cuda::NodeRef> TakeNodes() { return std::move(nodes_); }

  // A graph in place, or a conditional node with its bodies.
  absl::StatusOr<cuda::NodeRef> AddRun(const GraphRun& run, cuda::Dependencies dependencies) {
    if (run.conditional.has_value()) return AddConditional(run, dependencies);
    return AddBody(run.bodies.front(), into_, dependencies);
  }

 private:
  // A stream of its own for what is captured, where something is.
  absl::Status MakeCaptureStream() {
    for (const Operation& operation : list_.operations) {
      if (capture_.has_value() || !std::holds_alternative<LibraryOperation>(operation)) continue;
      WEFT_ASSIGN_OR_RETURN(capture_, cuda::Stream::Create(job_.context, {}));
    }
    return absl::OkStatus();
  }

  absl::Status AddNode(NodeIndex node, cuda::Dependencies before) {
    const plan::PlannedNode& planned = plan_.node(node);
    absl::InlinedVector<cuda::NodeRef, 8> dependencies;
    if (const std::optional<NodeIndex> in_lane = plan_.BeforeInLane(planned)) {
      dependencies.push_back(LastOf(*in_lane));
    }
    for (const NodeIndex waited : plan_.WaitsOf(planned)) dependencies.push_back(LastOf(waited));
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
    const cuda::Stream* const capture = capture_.has_value() ? &*capture_ : nullptr;
    return std::visit(Adder{into_, capture, list_, dependencies}, operation);
  }

  // Bodies run bodies, to ir::kMaxGraphDepth levels: NOLINTBEGIN(misc-no-recursion)
  absl::StatusOr<cuda::NodeRef> AddBody(const GraphRun::Body& body, cuda::Graph& into,
                                        cuda::Dependencies before) {
    Builder builder(job_, job_.graph.graphs[body.graph], job_.plan.graphs[body.graph],
                    body.operations, into);
    WEFT_RETURN_IF_ERROR(builder.Run(before));
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
  // NOLINTEND(misc-no-recursion)

  cuda::NodeRef LastOf(NodeIndex node) const {
    const ir::Slice operations = list_.OfNode(node);
    return nodes_[operations.begin + operations.count - 1];
  }

  const BuildInput& job_;
  const ir::Graph& graph_;
  const plan::Plan& plan_;
  const OperationList& list_;
  cuda::Graph& into_;
  std::optional<cuda::Stream> capture_;
  std::vector<cuda::NodeRef> nodes_;  // by position in list_.operations
};

}  // namespace

absl::StatusOr<BuiltGraph> BuildGraph(const BuildInput& input, const OperationList& operations) {
  WEFT_ASSIGN_OR_RETURN(cuda::Graph graph, cuda::Graph::Create(input.context));
  BuiltGraph built{std::move(graph), {}};
  Builder builder(input, input.graph, input.plan, operations, built.graph);
  WEFT_RETURN_IF_ERROR(builder.Run({}));
  built.nodes = builder.TakeNodes();
  return built;
}

absl::StatusOr<cuda::Graph> BuildRun(const BuildInput& input, const OperationList& operations,
                                     const GraphRun& run) {
  WEFT_ASSIGN_OR_RETURN(cuda::Graph graph, cuda::Graph::Create(input.context));
  Builder builder(input, input.graph, input.plan, operations, graph);
  WEFT_RETURN_IF_ERROR(builder.AddRun(run, {}).status());
  return graph;
}

}  // namespace weft::build
