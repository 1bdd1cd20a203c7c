// Runs a plan over streams and events, one stream a lane, without instantiating a graph: for jobs
// that run once, for those whose nodes are timed, and for nodes that no graph can hold.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "cuda/stream.h"
#include "graph/build/bindings.h"
#include "graph/build/operations.h"

namespace weft::build {

// When a node ran, on the device's clock.
struct NodeSpan {
  NodeIndex node;
  LaneId lane;
  uint64_t start_ns = 0;  // from the start of the run
  uint64_t end_ns = 0;
  // Of a kernel: its theoretical occupancy (cuda::Function::Occupancy); of one in several phases,
  // the least. 0: no kernel, or not known.
  double occupancy = 0;
};

enum class Timing {
  kNone,
  kPerNode,  // two events a node, which then takes 5 µs or more (H200, driver 580)
};

// A wait of a cut plan, as the host sees it.
enum class WaitMark {
  kBegins,  // the nodes before it have ended
  kIsOver,  // its value was seen
};

// Whether a segment of a cut plan is issued to streams; the others are waits and graphs.
bool IsIssued(const plan::Plan& plan, const plan::Segment& segment);

// Thread safety: none; one caller at a time. The context outlives it.
class StreamRunner {
 public:
  // Makes a stream a lane but the first (tens of µs each) and the events; Run makes nothing. Keeps
  // nothing of `input` but the context. Errors: those of ResolveOperations; RESOURCE_EXHAUSTED.
  static absl::StatusOr<std::unique_ptr<StreamRunner>> Create(const BuildInput& input,
                                                              Timing timing);
  // With what ResolveOperations gave for `input`. Of a cut plan: of the segments that are issued.
  static absl::StatusOr<std::unique_ptr<StreamRunner>> Create(
      const BuildInput& input, std::shared_ptr<const OperationList> operations, Timing timing);
  ~StreamRunner();
  StreamRunner(const StreamRunner&) = delete;
  StreamRunner& operator=(const StreamRunner&) = delete;

  // Adds one run: it starts after the work in `origin`, which is also the first lane, and work
  // added to `origin` afterwards starts when the run has ended. Does not block, except when the
  // device's queues are full. A run may be added while the one before it is under way, to the same
  // `origin`. Errors carry the name of the node that could not be added; `origin` is then ordered
  // behind those that were. A lane that `origin` cannot be made to wait for is waited for here,
  // which blocks; where not even that can be done, the error of the wait is returned, whatever else
  // went wrong (a driver in order only refuses it when the context is lost).
  // REQUIRES: the plan is not cut.
  absl::Status Run(const cuda::StreamRef& origin);

  // The run of a cut plan begins: its times count from here.
  absl::Status Begin(const cuda::StreamRef& origin);
  // As Run, of one segment. REQUIRES: IsIssued.
  absl::Status RunSegment(uint32_t segment, const cuda::StreamRef& origin);
  // Notes the time, if times are taken; what is added to `origin` afterwards comes behind it.
  absl::Status MarkWait(uint32_t segment, WaitMark mark, const cuda::StreamRef& origin);

  // The last run's nodes in program order; empty without Timing::kPerNode.
  // REQUIRES: the last Run was OK. Errors: UNAVAILABLE while it has not ended on the device.
  absl::StatusOr<std::vector<NodeSpan>> Timeline() const;

 private:
  struct State;
  explicit StreamRunner(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace weft::build
