// One run of an instantiated graph: branches run on as many threads as the device has.
//
// Invariants:
//  1. A node runs once, on the thread that brought its count of unfinished dependencies to zero (or
//     on one that this thread posted it to). The counts are decremented with acquire and release, so
//     that a node sees all that the nodes before it wrote.
//  2. A node that waits (for an event, or for ever) holds no thread; it is in parked_ until it goes
//     on or the run is cancelled, whoever takes it out finishes it.
//  3. Every node is finished once, also in a run that is cancelled: the last one ends the run.
//  4. A conditional node whose body runs holds no thread either; the body is a run of its own, in
//     bodies_, whose end goes on with the node. Cancelling a run cancels its bodies, and none starts
//     any more: every body ends, and with it the node.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cuda/host/context.h"
#include "cuda/host/graph_exec.h"
#include "cuda/host/mutex.h"
#include "cuda/host/stream_queue.h"

namespace weft::hostcuda {

struct RunCounters {
  explicit RunCounters(const GraphShape& shape);
  std::vector<std::atomic<uint32_t>> unfinished_dependencies;
  std::atomic<size_t> unfinished_nodes;
};

// Thread safety: Start is called once; Cancel and the tasks that it posts from any thread. Shared by
// the operation that waits for it and those tasks.
class GraphRun : public std::enable_shared_from_this<GraphRun> {
 public:
  // Captures the events that the run waits for, and begins the records of those that it records: to
  // be made when the launch is called.
  GraphRun(Context& context, int priority, LaunchPlan plan);

  // Runs what needs no waiting on this thread and others. `on_end` is called once, at the end.
  void Start(std::function<void()> on_end);
  // The context is lost: nodes that wait go on, and no further node does what it is for.
  void Cancel();
  // Instead of Start, when the context is lost before.
  void Abandon();

 private:
  enum class Step { kDone, kParked };

  void RunFrom(uint32_t node);
  Step RunNode(uint32_t node);
  Step AwaitEvent(uint32_t node);
  // Starts the body that the condition asks for; kDone: there is none, or none may start.
  Step RunConditional(uint32_t node);
  void BodyEnded(uint32_t node);
  // Goes on behind a step of a node that was parked.
  void GoOn(uint32_t node, Step step);
  Step Park(uint32_t node);
  // Takes a node out of parked_; false when another thread did.
  bool Unpark(uint32_t node);
  // Counts the node as over; a successor to go on with, or kNone. Others that are ready are posted.
  uint32_t FinishNode(uint32_t node);
  void Post(uint32_t node);
  // Goes on behind a node that was parked.
  void PostBehind(uint32_t node);
  void End();

  int PriorityOf(uint32_t node) const {
    return plan_.own_priorities ? plan_.shape->priorities[node] : priority_;
  }

  Context& context_;
  const int priority_;
  const LaunchPlan plan_;
  std::vector<std::shared_ptr<Completion>> event_records_;  // by node; empty: no event nodes
  std::function<void()> on_end_;
  Mutex mu_;
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
  std::unordered_set<uint32_t> parked_ ABSL_GUARDED_BY(mu_);
  std::unordered_map<uint32_t, std::shared_ptr<GraphRun>> bodies_ ABSL_GUARDED_BY(mu_);
};

// The launch of a graph in a stream.
class GraphOperation : public Operation {
 public:
  explicit GraphOperation(std::shared_ptr<GraphRun> run) : run_(std::move(run)) {}
  Progress Run(Context& context, std::function<void()> resume) override;
  Progress Cancel() override;

 private:
  const std::shared_ptr<GraphRun> run_;
  bool started_ = false;
};

// Puts the next launch of `exec` into the stream. Errors: those of Context::Submit.
CUresult LaunchGraph(GraphExec& exec, const std::shared_ptr<Stream>& stream);

}  // namespace weft::hostcuda
