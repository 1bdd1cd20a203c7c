// Dependencies as if the nodes ran one by one in program order: for each node, whoever used the same
// bytes before it in a conflicting way, and whoever its `after` names.
//
// Between N writers and M readers of the same bytes there are N × M dependencies, and N parts of a
// buffer make every use of the whole N steps. Up to a budget all of that is done, which keeps exactly
// the order that the data asks for. Past it the histories that cause it are collapsed: later nodes wait
// for one join that stands for all, so the whole stays near-linear, at the price of some order nobody
// asked for.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/error_context.h"
#include "graph/ir/errors.h"
#include "graph/ir/semaphores.h"
#include "graph/ir/use_rows.h"
#include "graph/plan/access_history.h"
#include "graph/plan/errors.h"
#include "graph/plan/pass_pipeline.h"

namespace weft::plan {
namespace {

// Steps in the histories before they are collapsed: this many, and so many more a use. 2^20 take about
// 10 ms, edges and their reduction included, on a server core of the 2020s.
constexpr uint64_t kFreeSteps = uint64_t{1} << 20;
constexpr uint64_t kStepsPerUse = 16;
// A use that takes at most so many steps never causes a collapse.
constexpr size_t kFewSteps = 8;

class Inference {
 public:
  explicit Inference(PlanState& state)
      : state_(state),
        graph_(state.graph),
        histories_(graph_.buffers.size()),
        ranges_(graph_),
        seen_by_(graph_.nodes.size(), 0) {}

  void Run() {
    ir::Digraph& dependencies = state_.dependencies;
    dependencies.begin.reserve(graph_.nodes.size() + 1);
    dependencies.predecessors.reserve(graph_.nodes.size() + graph_.after.size());
    for (uint32_t v = 0; v < graph_.node_count(); ++v) {
      node_ = v;
      if (graph_.options.ordering == ir::Ordering::kData) AddUses(graph_.UsesOf(NodeIndex(v)));
      for (const NodeIndex before : graph_.AfterOf(graph_.nodes[v])) Add(before.value());
      dependencies.EndVertex();
    }
    for (size_t j = 0; j < joins_.vertex_count(); ++j) {
      const auto members = joins_.PredecessorsOf(static_cast<uint32_t>(j));
      dependencies.predecessors.insert(dependencies.predecessors.end(), members.begin(),
                                       members.end());
      dependencies.EndVertex();
    }
    Counts& counts = state_.plan.counts;
    counts.joins = joins_.vertex_count();
    counts.dependencies = dependencies.predecessors.size();
  }

 private:
  // Nodes in the order of the program, so that `seen_by_` need not be cleared: a vertex is a
  // predecessor of node_ already when its entry is node_ + 1.
  void Add(uint32_t before) {
    if (std::exchange(seen_by_[before], node_ + 1) == node_ + 1) {
      ++state_.plan.counts.duplicates;
    } else {
      state_.dependencies.predecessors.push_back(before);
    }
  }

  // Among each other waits and signals are ordered by their values alone (ir::PairSemaphores). Like
  // reads they stay between the nodes that write the bytes, such as the fill that clears them.
  static ir::Access OrderOfUse(const ir::Use& use) {
    return use.kind == ir::UseKind::kSemaphore ? ir::Access::kRead : use.access;
  }

  void AddUses(absl::Span<const ir::Use> uses) {
    // Before any use of this node is noted, so that no join of its own predecessors holds the node.
    for (const ir::Use& use : uses) {
      AccessHistory<uint32_t>& history = histories_[use.storage.value()];
      if (steps_ > budget_ && history.StepsExceed(use.range, OrderOfUse(use), kFewSteps)) {
        history.Collapse([this](absl::Span<const uint32_t> members) { return Join(members); });
      }
      budget_ += kStepsPerUse;
    }
    for (const ir::Use& use : uses) {
      AccessHistory<uint32_t>& history = histories_[use.storage.value()];
      const uint64_t steps_before = history.steps();
      ranges_.ForEach(use, [&](ByteRange range) {
        history.Record(range, OrderOfUse(use), node_,
                       [this](uint32_t earlier, Hazard) { Add(earlier); });
      });
      steps_ += history.steps() - steps_before;
    }
  }

  uint32_t Join(absl::Span<const uint32_t> members) {
    if (members.size() == 1) return members[0];
    std::vector<uint32_t> unique(members.begin(), members.end());
    std::sort(unique.begin(), unique.end());
    unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
    if (unique.size() == 1) return unique[0];
    joins_.predecessors.insert(joins_.predecessors.end(), unique.begin(), unique.end());
    joins_.EndVertex();
    seen_by_.push_back(0);
    return graph_.node_count() + joins_.vertex_count() - 1;
  }

  PlanState& state_;
  const ir::Graph& graph_;
  std::vector<AccessHistory<uint32_t>> histories_;  // by storage
  ir::OrderedRanges ranges_;
  std::vector<uint32_t> seen_by_;  // by vertex
  ir::Digraph joins_;              // members of each join
  uint32_t node_ = 0;
  uint64_t steps_ = 0;
  uint64_t budget_ = kFreeSteps;
};

ir::NodePlace PlaceOf(const PlanState& state, NodeIndex node) {
  return {node.value(), state.graph.node(node).name, state.graph.scope, state.graph.name};
}

// OK unless the cycle leads from a wait to the signal that it waits for.
absl::Status DeadlockError(const PlanState& state, std::vector<uint32_t> nodes) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    const NodeIndex wait(nodes[i]);
    const NodeIndex signal(nodes[(i + nodes.size() - 1) % nodes.size()]);
    if (!ir::IsSemaphorePair(state.graph, signal, wait)) continue;
    std::rotate(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(i), nodes.end());
    std::vector<std::string> path;
    path.reserve(nodes.size());
    for (const uint32_t node : nodes) path.push_back(state.graph.nodes[node].name);
    const uint64_t value = std::get<ir::SemaphoreWaitOp>(state.graph.node(wait).op).value;
    return InvalidArgumentError({ir::SemaphoreDeadlock(PlaceOf(state, wait), value, path)});
  }
  return absl::OkStatus();
}

absl::Status CycleError(const PlanState& state, const std::vector<uint32_t>& cycle) {
  std::vector<uint32_t> nodes;  // joins left out
  for (const uint32_t v : cycle) {
    if (!state.IsJoin(v)) nodes.push_back(v);
  }
  if (absl::Status deadlock = DeadlockError(state, nodes); !deadlock.ok()) return deadlock;
  std::vector<CycleStep> steps;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const NodeIndex before(nodes[(i + nodes.size() - 1) % nodes.size()]);
    const ir::Node& node = state.graph.nodes[nodes[i]];
    const absl::Span<const NodeIndex> after = state.graph.AfterOf(node);
    steps.push_back({node.name, std::find(after.begin(), after.end(), before) != after.end()});
  }
  return DataCycle(PlaceOf(state, NodeIndex(nodes.front())).Field("after"), steps);
}

}  // namespace

absl::Status InferDependencies(PlanState& state) {
  Inference(state).Run();
  ir::TopologicalOrder result = OrderOf(state.dependencies);
  if (!result.cycle.empty()) return CycleError(state, result.cycle);
  state.order = std::move(result.order);
  state.position.resize(state.order.size());
  state.plan.order.reserve(state.graph.nodes.size());
  for (uint32_t i = 0; i < state.order.size(); ++i) {
    state.position[state.order[i]] = i;
    if (!state.IsJoin(state.order[i])) state.plan.order.emplace_back(state.order[i]);
  }
  return absl::OkStatus();
}

}  // namespace weft::plan
