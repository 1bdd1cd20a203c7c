#include "graph/build/segment_runner.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "graph/build/graph_builder.h"

namespace weft::build {

absl::StatusOr<std::unique_ptr<SegmentRunner>> SegmentRunner::Create(const BuildInput& input,
                                                                     Timing timing) {
  WEFT_ASSIGN_OR_RETURN(SegmentTable table, MakeSegmentTable(input));
  std::unique_ptr<SegmentRunner> runner(new SegmentRunner(std::move(table)));
  WEFT_ASSIGN_OR_RETURN(OperationList operations, ResolveOperations(input));
  runner->operations_ = std::make_shared<const OperationList>(std::move(operations));
  if (input.plan.launch.mode == plan::LaunchMode::kGraph) {
    WEFT_RETURN_IF_ERROR(runner->MakeGraphs(input));
  }
  const std::vector<plan::Segment>& segments = input.plan.segments;
  if (std::any_of(segments.begin(), segments.end(),
                  [&](const plan::Segment& segment) { return IsIssued(input.plan, segment); })) {
    WEFT_ASSIGN_OR_RETURN(runner->streams_,
                          StreamRunner::Create(input, runner->operations_, timing));
  }
  return runner;
}

absl::Status SegmentRunner::MakeGraphs(const BuildInput& input) {
  WEFT_ASSIGN_OR_RETURN(graphs_, BuildSegments(input, *operations_));
  execs_.resize(graphs_.size());
  for (size_t s = 0; s < graphs_.size(); ++s) {
    if (!graphs_[s].has_value()) continue;
    WEFT_ASSIGN_OR_RETURN(execs_[s], graphs_[s]->Instantiate());
  }
  return absl::OkStatus();
}

absl::Status SegmentRunner::Upload(const cuda::StreamRef& stream) {
  for (std::optional<cuda::GraphExec>& exec : execs_) {
    if (exec.has_value()) WEFT_RETURN_IF_ERROR(exec->Upload(stream));
  }
  return absl::OkStatus();
}

absl::Status SegmentRunner::Begin(const cuda::StreamRef& origin) {
  return streams_ == nullptr ? absl::OkStatus() : streams_->Begin(origin);
}

absl::Status SegmentRunner::Launch(uint32_t segment, const cuda::StreamRef& origin) {
  if (segment < execs_.size() && execs_[segment].has_value()) {
    return execs_[segment]->Launch(origin);
  }
  return streams_->RunSegment(segment, origin);
}

absl::Status SegmentRunner::MarkWait(uint32_t segment, WaitMark mark,
                                     const cuda::StreamRef& origin) {
  return streams_ == nullptr ? absl::OkStatus() : streams_->MarkWait(segment, mark, origin);
}

absl::StatusOr<std::vector<NodeSpan>> SegmentRunner::Timeline() const {
  return streams_ == nullptr ? std::vector<NodeSpan>() : streams_->Timeline();
}

}  // namespace weft::build
