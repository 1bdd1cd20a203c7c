// Runs a plan that is cut into segments, one segment at a time: those of nodes as CUDA graphs or over
// streams, as the plan says. When a segment may start is the caller's to find out, from the table.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda/graph.h"
#include "cuda/stream.h"
#include "graph/build/bindings.h"
#include "graph/build/operations.h"
#include "graph/build/segment_table.h"
#include "graph/build/stream_runner.h"

namespace weft::build {

// Thread safety: none; one caller at a time. The context outlives it. A run begins with Begin and ends
// when all its segments have; one run at a time.
class SegmentRunner {
 public:
  // REQUIRES: the plan is cut. Keeps nothing of `input` but the context. Costs what an Executable or
  // a StreamRunner of the same nodes does, and an instantiation a segment.
  // Errors: those of ResolveOperations, BuildGraph and StreamRunner::Create; RESOURCE_EXHAUSTED.
  static absl::StatusOr<std::unique_ptr<SegmentRunner>> Create(const BuildInput& input,
                                                               Timing timing);
  SegmentRunner(const SegmentRunner&) = delete;
  SegmentRunner& operator=(const SegmentRunner&) = delete;

  const SegmentTable& table() const { return table_; }

  // Moves the graphs to the device ahead of the first run. Does not block.
  absl::Status Upload(const cuda::StreamRef& stream);

  // The run begins behind what is in `origin`, the stream that all its segments are put into.
  absl::Status Begin(const cuda::StreamRef& origin);
  // Adds a segment of nodes: it starts after the work in `origin`, and what is added to `origin`
  // afterwards starts when it has ended. Does not block; see StreamRunner::Run, also for errors.
  absl::Status Launch(uint32_t segment, const cuda::StreamRef& origin);
  // A wait of the run begins, or is over: nothing but its place in the timeline.
  absl::Status MarkWait(uint32_t segment, WaitMark mark, const cuda::StreamRef& origin);

  // As StreamRunner::Timeline.
  absl::StatusOr<std::vector<NodeSpan>> Timeline() const;

 private:
  explicit SegmentRunner(SegmentTable table) : table_(std::move(table)) {}
  absl::Status MakeGraphs(const BuildInput& input);

  const SegmentTable table_;
  std::shared_ptr<const OperationList> operations_;  // keeps what library calls use
  // By segment; those that are no graphs have none. The recorded ones own the conditional nodes.
  std::vector<std::optional<cuda::Graph>> graphs_;
  std::vector<std::optional<cuda::GraphExec>> execs_;
  std::unique_ptr<StreamRunner> streams_;  // of all other segments; null: there are none
};

}  // namespace weft::build
