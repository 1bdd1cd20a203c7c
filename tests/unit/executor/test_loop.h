// A launch loop on a thread of its own, with the test as weftd at the other end of the ring, and
// graphs whose launches do what the test says.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "cuda/context.h"
#include "cuda/stream.h"
#include "graph/build/segment_table.h"
#include "server/executor/graph_store.h"
#include "server/executor/launch_loop.h"
#include "server/executor/prepared_graph.h"
#include "transport/ring_client.h"
#include "transport/ring_server.h"

namespace weft::executor {

using LaunchFunction = std::function<absl::Status(const cuda::StreamRef&)>;

// Work of a stream that ends when the test says so. Must outlive the launch.
class Gate {
 public:
  LaunchFunction Launch();
  void WaitUntilRunning() { running_.WaitForNotification(); }
  void Open() { open_.Notify(); }

 private:
  static void Block(void* gate);
  absl::Notification running_;
  absl::Notification open_;
};

// The table of a cut plan, segment by segment; `after`: earlier ones.
class TableOf {
 public:
  using After = std::vector<uint32_t>;
  TableOf& Nodes(const After& after = {}) { return Add({}, after); }
  TableOf& Wait(CUdeviceptr address, uint64_t value, const After& after = {});
  build::SegmentTable Make() const;

 private:
  TableOf& Add(const build::SegmentTable::Entry& entry, const After& after);
  std::vector<build::SegmentTable::Entry> entries_;
  std::vector<After> after_;
};

class TestLoop {
 public:
  explicit TestLoop(const cuda::Context& context, LaunchLoopOptions options = {});
  ~TestLoop();

  std::shared_ptr<PreparedGraph> Add(uint64_t id, LaunchFunction launch, GraphFacts facts = {});
  // A graph of segments, each of which does what `segments` says for it.
  std::shared_ptr<PreparedGraph> AddCut(uint64_t id, build::SegmentTable table,
                                        std::vector<LaunchFunction> segments,
                                        GraphFacts facts = {});
  uint64_t Submit(uint64_t graph) { return *client_->Submit(GraphId(graph)); }
  // The next completion; fails the test when none comes within 30 s.
  transport::Completion Next();
  // Whether a notice was given since the last call.
  bool TakeNotice();
  // Waits until Run has returned.
  LaunchLoop::Outcome Join();

  GraphStore& graphs() { return graphs_; }
  transport::RingClient& client() { return *client_; }
  LaunchLoop& loop() { return *loop_; }
  const transport::RingNotice& notice() const { return *notice_; }
  std::thread& thread() { return thread_; }

 private:
  GraphStore graphs_;
  std::unique_ptr<transport::RingClient> client_;
  std::optional<transport::RingNotice> notice_;  // of the ring, which the loop owns
  std::unique_ptr<LaunchLoop> loop_;
  std::optional<LaunchLoop::Outcome> outcome_;
  bool noticed_ = false;  // by the way of Next
  std::thread thread_;
};

}  // namespace weft::executor
