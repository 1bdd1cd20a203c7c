#include "cuda/host/graph_run.h"

#include <utility>

#include "cuda/host/operations.h"

namespace weft::hostcuda {
namespace {

constexpr uint32_t kNoNode = UINT32_MAX;

}  // namespace

RunCounters::RunCounters(const GraphShape& shape)
    : unfinished_dependencies(shape.types.size()), unfinished_nodes(shape.types.size()) {
  for (size_t i = 0; i < shape.types.size(); ++i) {
    unfinished_dependencies[i].store(shape.dependency_count[i], std::memory_order_relaxed);
  }
}

GraphRun::GraphRun(Context& context, int priority, LaunchPlan plan)
    : context_(context), priority_(priority), plan_(std::move(plan)) {
  // Waits first: a wait means the record before this launch, not the one that it will make.
  const std::vector<CUgraphNodeType>& types = plan_.shape->types;
  for (const CUgraphNodeType type :
       {CU_GRAPH_NODE_TYPE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_EVENT_RECORD}) {
    for (size_t i = 0; i < types.size(); ++i) {
      if (types[i] != type) continue;
      event_records_.resize(types.size());
      Event& event = *(*plan_.work)[i].event;
      event_records_[i] =
          type == CU_GRAPH_NODE_TYPE_WAIT_EVENT ? event.latest() : event.BeginRecord();
    }
  }
}

// NOLINTBEGIN(misc-no-recursion): runs of conditional bodies, at most GraphBody::kMaxDepth levels

void GraphRun::Start(std::function<void()> on_end) {
  on_end_ = std::move(on_end);
  if (plan_.conditions != nullptr) {
    for (const std::shared_ptr<Condition>& condition : *plan_.conditions) condition->BeginLaunch();
  }
  const std::vector<uint32_t>& counts = plan_.shape->dependency_count;
  uint32_t own = kNoNode;
  for (uint32_t node = 0; node < counts.size(); ++node) {
    if (counts[node] != 0) continue;
    if (own == kNoNode) {
      own = node;  // runs here, when all others may start elsewhere
    } else {
      Post(node);
    }
  }
  if (own == kNoNode) {
    End();  // a graph without nodes
  } else if (plan_.own_priorities) {
    Post(own);
  } else {
    RunFrom(own);
  }
}

void GraphRun::Post(uint32_t node) {
  context_.pool().Post(PriorityOf(node),
                       [self = shared_from_this(), node] { self->RunFrom(node); });
}

void GraphRun::PostBehind(uint32_t node) {
  context_.pool().Post(PriorityOf(node), [self = shared_from_this(), node] {
    const uint32_t next = self->FinishNode(node);
    if (next != kNoNode) self->RunFrom(next);
  });
}

void GraphRun::RunFrom(uint32_t node) {
  while (node != kNoNode) {
    if (RunNode(node) == Step::kParked) return;
    node = FinishNode(node);
  }
}

GraphRun::Step GraphRun::RunNode(uint32_t node) {
  const CUgraphNodeType type = plan_.shape->types[node];
  if (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
    event_records_[node]->Finish();  // also in a cancelled run: somebody may wait for it
    return Step::kDone;
  }
  if (context_.fault() != CUDA_SUCCESS) return Step::kDone;
  if (type == CU_GRAPH_NODE_TYPE_WAIT_EVENT) return AwaitEvent(node);
  if (type == CU_GRAPH_NODE_TYPE_CONDITIONAL) return RunConditional(node);
  const Action* action = (*plan_.work)[node].action.get();
  if (action == nullptr) return Step::kDone;
  const Outcome outcome = action->Run(context_.environment());
  if (outcome.never_ends) return Park(node);
  if (outcome.error != CUDA_SUCCESS) context_.Fail(outcome.error);
  return Step::kDone;
}

GraphRun::Step GraphRun::AwaitEvent(uint32_t node) {
  const std::shared_ptr<Completion>& record = event_records_[node];
  if (record == nullptr || record->done()) return Step::kDone;
  if (Park(node) == Step::kDone) return Step::kDone;
  // Weak: the run keeps the record, which may never be made. While the run is parked, the operation
  // of its stream keeps the run.
  record->OnDone([weak = weak_from_this(), node] {
    const std::shared_ptr<GraphRun> self = weak.lock();
    if (self != nullptr && self->Unpark(node)) self->PostBehind(node);
  });
  return Step::kParked;
}

GraphRun::Step GraphRun::RunConditional(uint32_t node) {
  const ConditionalWork::Body* body = (*plan_.work)[node].conditional->Select();
  if (body == nullptr) return Step::kDone;
  LaunchPlan plan;
  plan.shape = body->shape;
  plan.work = body->work;
  plan.counters = std::make_unique<RunCounters>(*body->shape);
  plan.finished = std::make_shared<Completion>();
  auto run = std::make_shared<GraphRun>(context_, priority_, std::move(plan));
  {
    MutexLock lock(mu_);
    if (cancelled_) return Step::kDone;
    bodies_[node] = run;
  }
  // Levels of bodies start each other on one stack: no more than GraphBody::kMaxDepth.
  run->Start([self = shared_from_this(), node] { self->BodyEnded(node); });
  return Step::kParked;
}

// Posts rather than calls: a loop of a million rounds must not stand on one stack.
void GraphRun::BodyEnded(uint32_t node) {
  std::shared_ptr<GraphRun> body;  // dies after the lock is released
  {
    MutexLock lock(mu_);
    const auto it = bodies_.find(node);
    body = std::move(it->second);
    bodies_.erase(it);
  }
  context_.pool().Post(priority_, [self = shared_from_this(), node] {
    const bool again = (*self->plan_.work)[node].conditional->type == CU_GRAPH_COND_TYPE_WHILE &&
                       self->context_.fault() == CUDA_SUCCESS;
    self->GoOn(node, again ? self->RunConditional(node) : Step::kDone);
  });
}

void GraphRun::GoOn(uint32_t node, Step step) {
  if (step == Step::kParked) return;
  const uint32_t next = FinishNode(node);
  if (next != kNoNode) RunFrom(next);
}

GraphRun::Step GraphRun::Park(uint32_t node) {
  MutexLock lock(mu_);
  if (cancelled_) return Step::kDone;
  parked_.insert(node);
  return Step::kParked;
}

bool GraphRun::Unpark(uint32_t node) {
  MutexLock lock(mu_);
  return parked_.erase(node) == 1;
}

uint32_t GraphRun::FinishNode(uint32_t node) {
  const GraphShape& shape = *plan_.shape;
  uint32_t next = kNoNode;
  for (uint32_t i = shape.first_successor[node]; i < shape.first_successor[node + 1]; ++i) {
    const uint32_t successor = shape.successors[i];
    std::atomic<uint32_t>& count = plan_.counters->unfinished_dependencies[successor];
    if (count.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
    // With priorities every node goes through the pool, which starts the most urgent one first.
    if (next == kNoNode && !plan_.own_priorities) {
      next = successor;
    } else {
      Post(successor);
    }
  }
  if (plan_.counters->unfinished_nodes.fetch_sub(1, std::memory_order_acq_rel) == 1) End();
  return next;
}

void GraphRun::End() {
  plan_.finished->Finish();
  on_end_();
}

void GraphRun::Cancel() {
  std::unordered_set<uint32_t> parked;
  std::vector<std::shared_ptr<GraphRun>> bodies;
  {
    MutexLock lock(mu_);
    cancelled_ = true;
    parked.swap(parked_);
    for (const auto& [node, body] : bodies_) bodies.push_back(body);
  }
  for (const std::shared_ptr<GraphRun>& body : bodies) {
    body->Cancel();
  }
  for (const uint32_t node : parked) PostBehind(node);
}

// NOLINTEND(misc-no-recursion)

void GraphRun::Abandon() {
  for (size_t i = 0; i < event_records_.size(); ++i) {
    if (plan_.shape->types[i] == CU_GRAPH_NODE_TYPE_EVENT_RECORD) event_records_[i]->Finish();
  }
  plan_.finished->Finish();
}

Operation::Progress GraphOperation::Run(Context& /*context*/, std::function<void()> resume) {
  started_ = true;
  run_->Start(std::move(resume));
  return Progress::kParked;
}

Operation::Progress GraphOperation::Cancel() {
  if (started_) {
    run_->Cancel();
    return Progress::kParked;
  }
  run_->Abandon();
  return Progress::kDone;
}

CUresult LaunchGraph(GraphExec& exec, const std::shared_ptr<Stream>& stream) {
  Context& context = stream->context();
  MutexLock lock(exec.launch_order());
  LaunchPlan plan = exec.BeginLaunch();
  std::shared_ptr<Completion> previous = plan.previous;
  std::shared_ptr<Completion> finished = plan.finished;
  auto run = std::make_shared<GraphRun>(context, stream->priority(), std::move(plan));
  CUresult submitted = CUDA_SUCCESS;
  if (previous != nullptr && !previous->done()) {
    submitted = context.Submit(stream, std::make_unique<AwaitOperation>(std::move(previous)));
  }
  if (submitted == CUDA_SUCCESS) {
    submitted = context.Submit(stream, std::make_unique<GraphOperation>(run));
  }
  if (submitted != CUDA_SUCCESS) run->Abandon();
  return submitted;
}

}  // namespace weft::hostcuda
