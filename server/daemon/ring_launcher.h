// Launches over the ring of one executor: gives each submission its callback back when its
// completion comes. Owns the ring and the thread that reads completions; that thread calls back, so
// callbacks must be short.
//
// Thread safety: all members may be called from any thread, except Stop (once, from a thread that
// is not the completion thread).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "base/ids.h"
#include "server/daemon/executor_client.h"
#include "transport/ring_client.h"

namespace weft::daemon {

class RingLauncher {
 public:
  explicit RingLauncher(std::unique_ptr<transport::RingClient> ring);
  ~RingLauncher();
  RingLauncher(const RingLauncher&) = delete;
  RingLauncher& operator=(const RingLauncher&) = delete;

  // RESOURCE_EXHAUSTED: the ring is full. After Stop: its status.
  absl::Status Launch(GraphId graph, ExecutorClient::LaunchCalls calls);

  // The executor is lost: no completion will come any more. Ends the thread, then answers every
  // launch in flight: the one of `graph` with `report`, when there is one, the others as lost.
  void Stop(const absl::Status& why, GraphId graph,
            const std::shared_ptr<const LaunchReport>& report);

 private:
  struct Pending {
    GraphId graph;
    ExecutorClient::LaunchCalls calls;
  };
  void ReadCompletions();
  void OnNotice();
  void OnCompletion(const transport::Completion& completion);

  const std::unique_ptr<transport::RingClient> ring_;
  absl::Mutex mutex_;
  absl::flat_hash_map<uint64_t, Pending> pending_ ABSL_GUARDED_BY(mutex_);  // by sequence
  absl::Status stopped_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace weft::daemon
