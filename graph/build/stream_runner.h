// Runs a plan over streams and events, one stream a lane, without instantiating a graph: for jobs
// that run once, and for those whose nodes are timed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "cuda/context.h"
#include "cuda/stream.h"
#include "graph/build/bindings.h"

namespace weft::plan {
struct Plan;
}

namespace weft::build {

// When a node ran, in nanoseconds from the start of the run, on the device's clock.
struct NodeSpan {
  NodeIndex node;
  LaneId lane;
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
};

// Thread safety: none; one caller at a time. The context outlives it. Making one creates a stream a
// lane (tens of µs each) and the events it needs; running it makes nothing.
class StreamRunner {
 public:
  enum class Timing {
    kNone,
    kPerNode,  // two events a node: some 1 µs of the device each
  };

  // REQUIRES and errors: as BuildGraph. The plan is not kept.
  static absl::StatusOr<std::unique_ptr<StreamRunner>> Create(const cuda::Context& context,
                                                              const plan::Plan& plan,
                                                              const Bindings& bindings,
                                                              FunctionResolver& resolver,
                                                              Timing timing);
  ~StreamRunner();
  StreamRunner(const StreamRunner&) = delete;
  StreamRunner& operator=(const StreamRunner&) = delete;

  // Adds one run: it starts after the work in `origin`, and work added to `origin` afterwards
  // starts when the run has ended. Does not block, except when the device's queues are full. Errors
  // carry the name of the node that was being added; nodes before it may still run, and `origin` is
  // ordered behind them.
  absl::Status Run(const cuda::StreamRef& origin);

  // The last run's nodes in program order; empty without Timing::kPerNode.
  // REQUIRES: the last Run was OK and has ended on the device.
  absl::StatusOr<std::vector<NodeSpan>> Timeline() const;

 private:
  struct State;
  explicit StreamRunner(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace weft::build
