// A graph that is ready to be launched, with the memory of its runs.
//
//            ┌──────── End ────────┐
//            ▼                     │
//   ready ──Begin──▶ in flight ────┘
//     └────Retire──▶ retired           released, or a buffer of it was freed; never launched again
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/byte_range.h"
#include "base/ids.h"
#include "cuda/managed_memory.h"
#include "cuda/memory.h"
#include "cuda/stream.h"
#include "graph/build/executable.h"
#include "graph/build/segment_table.h"
#include "graph/build/stream_runner.h"
#include "server/executor/device_region.h"
#include "server/executor/output_signal.h"
#include "server/executor/user_modules.h"
#include "transport/shared_memory.h"

namespace weft::executor {

// How a prepared graph runs: as one graph launch, node by node over streams, or in segments. Tests
// have others. Thread safety: one caller at a time.
class GraphRunner {
 public:
  virtual ~GraphRunner() = default;
  // Adds one run to `stream`; does not block. On an error a part of it may have been added.
  // Of a run in segments: its begin alone; they follow one by one.
  virtual absl::Status Launch(const cuda::StreamRef& stream) = 0;
  // Null: Launch adds the whole run. Else see build::SegmentRunner.
  virtual const build::SegmentTable* segments() const { return nullptr; }
  virtual absl::Status LaunchSegment(uint32_t /*segment*/, const cuda::StreamRef& /*stream*/) {
    return absl::OkStatus();
  }
  virtual absl::Status MarkWait(uint32_t /*segment*/, build::WaitMark /*mark*/,
                                const cuda::StreamRef& /*stream*/) {
    return absl::OkStatus();
  }
  // Times of the nodes of the last run; empty when they were not taken. REQUIRES: it has ended.
  virtual absl::StatusOr<std::vector<build::NodeSpan>> Timeline() const {
    return std::vector<build::NodeSpan>();
  }
  // The executable inside, for another graph of the same structure; null when there is none.
  virtual std::unique_ptr<build::Executable> TakeExecutable() { return nullptr; }
};

// What the launch loop and the reports need to know of the job.
struct GraphFacts {
  std::string job;                        // its name
  std::string label;                      // PrepareRequest.label, for profilers alone
  std::vector<std::string> kernel_nodes;  // names of the first few
  uint64_t kernel_node_count = 0;
  std::vector<std::string> node_names;  // all, in program order; only with a timeline
  std::vector<std::string> node_kinds;  // of the same (ir::KindName)
  bool has_signals = false;             // of semaphores
  std::vector<ByteRange> buffers;       // device addresses of shared buffers that it uses
};

// What is known of the last launch.
struct LaunchReport {
  absl::Status status;
  std::string node;  // at fault, where known
  std::vector<build::NodeSpan> timeline;
};

// Thread safety: all members may be called from any thread; Enqueue, EnqueueSegment and MarkWait only
// between Begin and End, by the thread that began. Shared by the launch loop and the store, either of which may be the last
// to let go: a release can come while the loop still holds the launch that it just ended.
class PreparedGraph {
 public:
  // Memory of the runs; outlives the runner. Any part may be absent.
  struct Memory {
    std::optional<DeviceRegion> scratch;
    transport::SharedMemory staging;
    std::optional<cuda::PinnedHost> pinned;  // of `staging`
    transport::SharedMemory host;            // of the pinned buffers
    std::optional<cuda::PinnedHost> host_pinned;
    std::optional<cuda::ManagedMemory> managed;
    UserModules modules;                // the code of its own kernels
    std::vector<OutputSignal> signals;  // of outputs that are delivered while the job runs
  };

  PreparedGraph(GraphId id, GraphFacts facts, Memory memory, std::unique_ptr<GraphRunner> runner);
  PreparedGraph(const PreparedGraph&) = delete;
  PreparedGraph& operator=(const PreparedGraph&) = delete;

  GraphId id() const { return id_; }
  const GraphFacts& facts() const { return facts_; }
  const transport::SharedMemory& staging() const { return memory_.staging; }
  uint64_t scratch_bytes() const { return memory_.scratch ? memory_.scratch->size() : 0; }
  // True when a shared buffer of it has a byte in `range`.
  bool Uses(const ByteRange& range) const;

  // FAILED_PRECONDITION: in flight, or retired.
  absl::Status Begin();
  absl::Status Enqueue(const cuda::StreamRef& stream);
  // As GraphRunner's.
  const build::SegmentTable* segments() const { return runner_->segments(); }
  absl::Status EnqueueSegment(uint32_t segment, const cuda::StreamRef& stream);
  absl::Status MarkWait(uint32_t segment, build::WaitMark mark, const cuda::StreamRef& stream) {
    return runner_->MarkWait(segment, mark, stream);
  }
  // The launch has ended so; `node`: the one at fault, where known.
  void End(absl::Status status, std::string node = "");

  // FAILED_PRECONDITION: in flight. Retiring twice is fine.
  absl::Status Retire();
  // Of the last launch. FAILED_PRECONDITION: in flight.
  absl::StatusOr<LaunchReport> Report() const;
  // Null when it has kernels of its own: they are unloaded with it. REQUIRES: retired.
  std::unique_ptr<build::Executable> TakeExecutable() {
    return memory_.modules.empty() ? runner_->TakeExecutable() : nullptr;
  }

 private:
  enum class State { kReady, kInFlight, kRetired };

  const GraphId id_;
  const GraphFacts facts_;
  Memory memory_;
  const std::unique_ptr<GraphRunner> runner_;  // destroyed before the memory it uses
  mutable absl::Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kReady;
  absl::Status last_status_ ABSL_GUARDED_BY(mutex_);
  std::string last_node_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace weft::executor
