// An instantiated graph: its nodes with those of its child graphs in their place, ready to run.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/host/action.h"
#include "cuda/host/completion.h"
#include "cuda/host/context.h"
#include "cuda/host/cuda_api.h"
#include "cuda/host/event.h"
#include "cuda/host/graph.h"
#include "cuda/host/mutex.h"

namespace weft::hostcuda {

// The shape of an instantiated graph. Never changes; shared by all its runs.
struct GraphShape {
  std::vector<CUgraphNodeType> types;  // a child graph became two empty nodes: its begin and end
  // Who waits for node i: successors[first_successor[i] … first_successor[i + 1]).
  std::vector<uint32_t> first_successor;
  std::vector<uint32_t> successors;
  std::vector<uint32_t> dependency_count;
  std::vector<int> priorities;        // of kernels that have one of their own; of others the least
  std::vector<uint32_t> position_of;  // index in the graph → index here (of the end of a child)
};

struct ConditionalWork;

// What a node does; all null where it does nothing.
struct NodeWork {
  ActionPtr action;
  std::shared_ptr<Event> event;  // event record and event wait nodes
  std::shared_ptr<const ConditionalWork> conditional;
};
using WorkTable = std::vector<NodeWork>;  // by index in the shape

// A conditional node with its bodies, which are instantiated with the graph around it.
struct ConditionalWork {
  struct Body {
    std::shared_ptr<const GraphShape> shape;
    std::shared_ptr<const WorkTable> work;
  };
  CUgraphConditionalNodeType type = CU_GRAPH_COND_TYPE_IF;
  std::shared_ptr<Condition> condition;
  std::vector<Body> bodies;

  // The body that the condition's value asks for now; null: none.
  const Body* Select() const;
};
using Conditions = std::vector<std::shared_ptr<Condition>>;

// Counters of one run, by index in the shape. Made ahead by Upload, or by the launch.
struct RunCounters;

// What one launch runs.
struct LaunchPlan {
  std::shared_ptr<const GraphShape> shape;
  std::shared_ptr<const WorkTable> work;
  std::shared_ptr<const Conditions> conditions;  // of all levels; null for a body
  std::unique_ptr<RunCounters> counters;
  std::shared_ptr<Completion> previous;  // the launch before this one; null: none
  std::shared_ptr<Completion> finished;  // this launch
  bool own_priorities = false;           // nodes run with theirs, not with that of the stream
};

// Thread safety: all members may be called from any thread.
class GraphExec {
 public:
  // `graph`: the recorded graph, which the handles of its nodes name; kept alive. Null when it has
  // conditional nodes and another executable.
  // `flags`: of cuGraphInstantiateWithFlags.
  static std::shared_ptr<GraphExec> Instantiate(const std::shared_ptr<const Graph>& graph,
                                                unsigned long long flags = 0);

  const Graph& graph() const { return *graph_; }

  // Exchanges what a node does, from the next launch on. Errors: INVALID_VALUE when the node is of
  // another type, or its exchange rule forbids it.
  CUresult SetAction(uint32_t graph_index, CUgraphNodeType type, ActionPtr action);

  // Takes over what all nodes do from a graph of the same shape. Errors:
  // GRAPH_EXEC_UPDATE_FAILURE, with the reason and the index (in `graph`) of the first node that
  // does not fit; nothing is changed then.
  struct UpdateFailure {
    CUgraphExecUpdateResult reason = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    uint32_t node = kNoNode;
    static constexpr uint32_t kNoNode = UINT32_MAX;
  };
  CUresult Update(const Graph& graph, UpdateFailure* failure);

  // Makes the counters of the next launch ahead of it.
  void Upload();
  // The next launch. Launches of one exec run one after the other.
  // REQUIRES: launch_order() is held until the launch is in its stream. Else a later launch could come
  // to lie before the one it waits for.
  LaunchPlan BeginLaunch();
  Mutex& launch_order() { return launch_order_; }

 private:
  GraphExec(std::shared_ptr<const Graph> graph, std::shared_ptr<const GraphShape> shape,
            WorkTable work, Conditions conditions);
  WorkTable& MutableWork() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::shared_ptr<const Graph> graph_;
  const std::shared_ptr<const GraphShape> shape_;
  const std::shared_ptr<const Conditions> conditions_;  // also the token of Graph::ClaimExec
  bool own_priorities_ = false;                         // set before anybody else sees it
  Mutex launch_order_;
  Mutex mu_;
  // A launch does what the nodes did at its time: the table is copied before the first change after
  // one.
  std::shared_ptr<WorkTable> work_ ABSL_GUARDED_BY(mu_);
  bool work_launched_ ABSL_GUARDED_BY(mu_) = false;
  std::unique_ptr<RunCounters> ready_counters_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<Completion> last_ ABSL_GUARDED_BY(mu_);
};

}  // namespace weft::hostcuda
