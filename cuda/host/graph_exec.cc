#include "cuda/host/graph_exec.h"

#include <utility>

#include "cuda/host/graph_run.h"

namespace weft::hostcuda {
namespace {

constexpr uint32_t kOutermost = UINT32_MAX;

struct FlatGraph {
  GraphShape shape;
  WorkTable work;
  std::vector<std::vector<uint32_t>> dependencies;
  Conditions conditions;
};

FlatGraph FlattenGraph(const GraphBody& graph);

// NOLINTBEGIN(misc-no-recursion): bodies of conditional nodes, at most GraphBody::kMaxDepth levels

// Puts a graph and its child graphs, to any depth, into one list. Children are kept on a stack of its
// own, not on the thread's.
class Flattener {
 public:
  FlatGraph Flatten(const GraphBody& graph) {
    levels_.push_back(Level{&graph, {}, {}, kOutermost});
    while (true) {
      Level& level = levels_.back();
      if (level.positions.size() < level.body->nodes.size()) {
        AddNext(level);
      } else if (levels_.size() > 1) {
        CloseChild();
      } else {
        break;
      }
    }
    flat_.shape.position_of = std::move(levels_.back().positions);
    Link();
    return std::move(flat_);
  }

 private:
  // A graph of which some nodes are placed.
  struct Level {
    const GraphBody* body;
    std::vector<uint32_t> positions;  // of its nodes so far
    std::vector<bool> has_successor;
    uint32_t begin;  // the node that its roots wait for; kOutermost: the outermost graph
  };

  uint32_t Place(const NodeSpec& node, std::vector<uint32_t> dependencies) {
    const auto position = static_cast<uint32_t>(flat_.shape.types.size());
    const bool is_child = node.type == CU_GRAPH_NODE_TYPE_GRAPH;
    flat_.shape.types.push_back(is_child ? CU_GRAPH_NODE_TYPE_EMPTY : node.type);
    flat_.shape.priorities.push_back(node.attributes.priority.value_or(WorkerPool::kLeastPriority));
    flat_.work.push_back({node.action, node.event, nullptr});
    if (node.conditional != nullptr) {
      flat_.work.back().conditional = InstantiateConditional(*node.conditional);
    }
    flat_.dependencies.push_back(std::move(dependencies));
    return position;
  }

  std::shared_ptr<const ConditionalWork> InstantiateConditional(const ConditionalSpec& spec) {
    auto work = std::make_shared<ConditionalWork>();
    work->type = spec.type;
    work->condition = spec.condition;
    flat_.conditions.push_back(spec.condition);
    for (const std::shared_ptr<Graph>& body : spec.bodies) {
      FlatGraph flat = FlattenGraph(body->Snapshot());
      flat_.conditions.insert(flat_.conditions.end(), flat.conditions.begin(),
                              flat.conditions.end());
      work->bodies.push_back({std::make_shared<const GraphShape>(std::move(flat.shape)),
                              std::make_shared<const WorkTable>(std::move(flat.work))});
    }
    return work;
  }

  void AddNext(Level& level) {
    const NodeSpec& node = level.body->nodes[level.positions.size()];
    level.has_successor.resize(level.body->nodes.size());
    std::vector<uint32_t> before;
    before.reserve(node.dependencies.size());
    for (const uint32_t dependency : node.dependencies) {
      before.push_back(level.positions[dependency]);
      level.has_successor[dependency] = true;
    }
    if (before.empty() && level.begin != kOutermost) before.push_back(level.begin);
    const uint32_t position = Place(node, std::move(before));
    if (node.type == CU_GRAPH_NODE_TYPE_GRAPH) {
      levels_.push_back(Level{node.child.get(), {}, {}, position});  // ends `level`'s validity
    } else {
      level.positions.push_back(position);
    }
  }

  // The child on top is placed: a node behind all its ends stands for it in the graph around it.
  void CloseChild() {
    const Level child = std::move(levels_.back());
    levels_.pop_back();
    std::vector<uint32_t> ends;
    for (size_t i = 0; i < child.positions.size(); ++i) {
      if (!child.has_successor[i]) ends.push_back(child.positions[i]);
    }
    if (ends.empty()) ends.push_back(child.begin);
    levels_.back().positions.push_back(Place(NodeSpec{}, std::move(ends)));
  }

  // From "what it waits for" to "who waits for it".
  void Link() {
    GraphShape& shape = flat_.shape;
    const size_t count = shape.types.size();
    shape.first_successor.assign(count + 1, 0);
    shape.dependency_count.resize(count);
    size_t edges = 0;
    for (size_t i = 0; i < count; ++i) {
      shape.dependency_count[i] = static_cast<uint32_t>(flat_.dependencies[i].size());
      edges += flat_.dependencies[i].size();
      for (const uint32_t dependency : flat_.dependencies[i])
        ++shape.first_successor[dependency + 1];
    }
    for (size_t i = 0; i < count; ++i) shape.first_successor[i + 1] += shape.first_successor[i];
    shape.successors.resize(edges);
    std::vector<uint32_t> next(shape.first_successor.begin(), shape.first_successor.end() - 1);
    for (uint32_t i = 0; i < count; ++i) {
      for (const uint32_t dependency : flat_.dependencies[i]) {
        shape.successors[next[dependency]++] = i;
      }
    }
  }

  FlatGraph flat_;
  std::vector<Level> levels_;
};

FlatGraph FlattenGraph(const GraphBody& graph) { return Flattener().Flatten(graph); }

// NOLINTEND(misc-no-recursion)

// Whether what a node does may become what `after` does. Both null: nothing to change.
bool Exchangeable(const ActionPtr& before, const ActionPtr& after) {
  if (before == nullptr || after == nullptr) return before == after;
  return before->exchange_rule() == after->exchange_rule();
}

bool SameSuccessors(const GraphShape& a, const GraphShape& b, size_t node) {
  const uint32_t begin = a.first_successor[node];
  const uint32_t end = a.first_successor[node + 1];
  if (b.first_successor[node] != begin || b.first_successor[node + 1] != end) return false;
  for (uint32_t i = begin; i < end; ++i) {
    if (a.successors[i] != b.successors[i]) return false;
  }
  return true;
}

// The first reason why `after` cannot take the place of `before` at a node; SUCCESS: none.
CUgraphExecUpdateResult CompareNode(const FlatGraph& after, const GraphShape& before,
                                    const WorkTable& work, size_t node) {
  if (after.shape.types[node] != before.types[node]) {
    return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  }
  if (after.shape.dependency_count[node] != before.dependency_count[node] ||
      !SameSuccessors(after.shape, before, node)) {
    return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  }
  // The API allows some changes of conditional nodes; nobody here asks for them.
  if (work[node].conditional != nullptr) return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
  if (after.shape.priorities[node] != before.priorities[node]) {
    return CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
  }
  if (!Exchangeable(work[node].action, after.work[node].action)) {
    return before.types[node] == CU_GRAPH_NODE_TYPE_KERNEL
               ? CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE
               : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  }
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

}  // namespace

std::shared_ptr<GraphExec> GraphExec::Instantiate(const std::shared_ptr<const Graph>& graph,
                                                  unsigned long long flags) {
  FlatGraph flat = Flattener().Flatten(graph->Snapshot());
  auto shape = std::make_shared<const GraphShape>(std::move(flat.shape));
  std::shared_ptr<GraphExec> exec(
      new GraphExec(graph, std::move(shape), std::move(flat.work), std::move(flat.conditions)));
  exec->own_priorities_ = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) != 0;
  const std::shared_ptr<const void> token = exec->conditions_;
  return graph->ClaimExec(token) ? exec : nullptr;
}

const ConditionalWork::Body* ConditionalWork::Select() const {
  const uint32_t value = condition->value();
  size_t index = value;
  if (type == CU_GRAPH_COND_TYPE_IF) index = value != 0 ? 0 : 1;
  if (type == CU_GRAPH_COND_TYPE_WHILE) index = value != 0 ? 0 : bodies.size();
  return index < bodies.size() ? &bodies[index] : nullptr;
}

GraphExec::GraphExec(std::shared_ptr<const Graph> graph, std::shared_ptr<const GraphShape> shape,
                     WorkTable work, Conditions conditions)
    : graph_(std::move(graph)),
      shape_(std::move(shape)),
      conditions_(std::make_shared<const Conditions>(std::move(conditions))),
      work_(std::make_shared<WorkTable>(std::move(work))) {}

WorkTable& GraphExec::MutableWork() {
  if (work_launched_) {
    work_ = std::make_shared<WorkTable>(*work_);
    work_launched_ = false;
  }
  return *work_;
}

CUresult GraphExec::SetAction(uint32_t graph_index, CUgraphNodeType type, ActionPtr action) {
  MutexLock lock(mu_);
  // A node that was added after the graph was instantiated is not here.
  if (graph_index >= shape_->position_of.size()) return CUDA_ERROR_INVALID_VALUE;
  const uint32_t position = shape_->position_of[graph_index];
  if (shape_->types[position] != type) return CUDA_ERROR_INVALID_VALUE;
  if (!Exchangeable((*work_)[position].action, action)) return CUDA_ERROR_INVALID_VALUE;
  MutableWork()[position].action = std::move(action);
  return CUDA_SUCCESS;
}

CUresult GraphExec::Update(const Graph& graph, UpdateFailure* failure) {
  FlatGraph flat = Flattener().Flatten(graph.Snapshot());
  MutexLock lock(mu_);
  *failure = UpdateFailure{};
  if (flat.shape.types.size() != shape_->types.size() ||
      flat.shape.position_of.size() != shape_->position_of.size()) {
    failure->reason = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  }
  // Nodes of a child are told by the child's node: the first one that ends behind them.
  uint32_t graph_index = 0;
  for (size_t node = 0; node < flat.shape.types.size(); ++node) {
    while (flat.shape.position_of[graph_index] < node) ++graph_index;
    failure->reason = CompareNode(flat, *shape_, *work_, node);
    if (failure->reason != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
      failure->node = graph_index;
      return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
  }
  work_ = std::make_shared<WorkTable>(std::move(flat.work));
  work_launched_ = false;
  return CUDA_SUCCESS;
}

void GraphExec::Upload() {
  MutexLock lock(mu_);
  if (ready_counters_ == nullptr) ready_counters_ = std::make_unique<RunCounters>(*shape_);
}

LaunchPlan GraphExec::BeginLaunch() {
  MutexLock lock(mu_);
  LaunchPlan plan;
  plan.shape = shape_;
  plan.work = work_;
  plan.conditions = conditions_;
  plan.own_priorities = own_priorities_;
  work_launched_ = true;
  plan.counters = std::move(ready_counters_);
  if (plan.counters == nullptr) plan.counters = std::make_unique<RunCounters>(*shape_);
  plan.finished = std::make_shared<Completion>();
  plan.previous = std::exchange(last_, plan.finished);
  return plan;
}

}  // namespace weft::hostcuda
