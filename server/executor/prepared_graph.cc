#include "server/executor/prepared_graph.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "cuda/nvtx.h"
#include "server/executor/errors.h"

namespace weft::executor {

PreparedGraph::PreparedGraph(GraphId id, GraphFacts facts, Memory memory,
                             std::unique_ptr<GraphRunner> runner)
    : id_(id), facts_(std::move(facts)), memory_(std::move(memory)), runner_(std::move(runner)) {}

bool PreparedGraph::Uses(const ByteRange& range) const {
  return std::any_of(facts_.buffers.begin(), facts_.buffers.end(),
                     [&range](const ByteRange& buffer) { return buffer.overlaps(range); });
}

absl::Status PreparedGraph::Begin() {
  const absl::MutexLock lock(&mutex_);
  if (state_ == State::kInFlight) return GraphInFlightError(id_);
  if (state_ == State::kRetired) return GraphRetiredError(id_);
  state_ = State::kInFlight;
  return absl::OkStatus();
}

absl::Status PreparedGraph::Enqueue(const cuda::StreamRef& stream) {
  const cuda::NvtxRange range(facts_.label.empty() ? "job" : facts_.label.c_str());
  return runner_->Launch(stream);
}

absl::Status PreparedGraph::EnqueueSegment(uint32_t segment, const cuda::StreamRef& stream) {
  const cuda::NvtxRange range(facts_.label.empty() ? "job" : facts_.label.c_str());
  return runner_->LaunchSegment(segment, stream);
}

void PreparedGraph::End(absl::Status status, std::string node) {
  const absl::MutexLock lock(&mutex_);
  state_ = State::kReady;
  last_status_ = std::move(status);
  last_node_ = std::move(node);
}

absl::Status PreparedGraph::Retire() {
  const absl::MutexLock lock(&mutex_);
  if (state_ == State::kInFlight) return GraphInFlightError(id_);
  state_ = State::kRetired;
  return absl::OkStatus();
}

absl::StatusOr<LaunchReport> PreparedGraph::Report() const {
  LaunchReport report;
  // Under the lock: no launch begins while the events of the last one are read.
  const absl::MutexLock lock(&mutex_);
  if (state_ == State::kInFlight) return GraphInFlightError(id_);
  report.status = last_status_;
  report.node = last_node_;
  if (report.status.ok()) {
    WEFT_ASSIGN_OR_RETURN(report.timeline, runner_->Timeline());
  }
  return report;
}

}  // namespace weft::executor
