// Keeps one executor of a device running: starts it, connects to it, hands it every buffer, watches
// it, and starts another when it is lost.
//
//   starting ──Hello, ring, buffers mapped──▶ serving ──process or connection lost──▶ down
//       ▲                                                                              │
//       └────────────────────────────────── after a pause ─────────────────────────────┘
//
// A thread a device does all of it. What others see happens in this order. Serving: the directory
// has the client, then the device's queue is resumed. Lost: the queue is paused, the directory is
// withdrawn, what was in progress is answered. So nothing is started on an executor that is known
// to be lost, and work that finds no executor can wait in the queue.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"
#include "server/daemon/buffer_registry.h"
#include "server/daemon/executor_directory.h"
#include "server/daemon/executor_process.h"
#include "server/daemon/graph_cache.h"
#include "server/daemon/grpc_executor_client.h"
#include "server/daemon/scheduler.h"

namespace weft::daemon {

struct SupervisorOptions {
  uint32_t device = 0;
  ExecutorCommand command;
  std::string grpc_socket;  // path where the executor is to listen
  absl::Duration spin;      // of the ring's waiter
};

// REQUIRES: all outlive the supervisor.
struct SupervisorParts {
  ExecutorDirectory& directory;
  BufferRegistry& buffers;
  GraphCache& cache;
  Scheduler& scheduler;
};

// Thread safety: Stop once; the rest is its own thread's.
class ExecutorSupervisor {
 public:
  // Told once how the first start went, on the supervisor's thread. After an error nothing is
  // started again.
  using Started = std::function<void(const absl::Status&)>;

  static absl::StatusOr<std::unique_ptr<ExecutorSupervisor>> Start(SupervisorOptions options,
                                                                   const SupervisorParts& parts,
                                                                   Started started);
  ~ExecutorSupervisor() { Stop(); }
  ExecutorSupervisor(const ExecutorSupervisor&) = delete;
  ExecutorSupervisor& operator=(const ExecutorSupervisor&) = delete;

  // Ends executor and thread; a second call does nothing. Jobs that run end as lost.
  void Stop();

 private:
  ExecutorSupervisor(SupervisorOptions options, const SupervisorParts& parts, Started started,
                     UniqueFd stop)
      : options_(std::move(options)),
        p_(parts),
        started_(std::move(started)),
        stop_(std::move(stop)) {}

  enum class Event { kMessage, kImported, kEnded, kStop, kTimeout };

  void Run();
  // One executor from its start to its end. An error: it never served.
  absl::Status RunOne();
  absl::Status Connect(ExecutorProcess& process);
  // The message that must come next.
  absl::StatusOr<transport::FdMessage> Expect(transport::ExecutorMessage kind,
                                              const ExecutorProcess& process);
  absl::Status StartImports();
  // True once the executor serves; returns when it is lost or weftd stops.
  bool Serve(const ExecutorProcess& process);
  void OnImported();
  void Lose(absl::string_view what_happened);
  // Blocks until one of these has happened, in the order of their importance.
  Event Await(const ExecutorProcess& process, absl::Duration timeout) const;
  bool AwaitStop(absl::Duration timeout) const;  // false after `timeout`
  void Tell(const absl::Status& status);

  const SupervisorOptions options_;
  const SupervisorParts p_;
  Started started_;      // empty once told
  const UniqueFd stop_;  // eventfd: Stop was called
  std::thread thread_;

  // Of the supervisor's thread.
  std::shared_ptr<transport::FdSocket> socket_;
  std::shared_ptr<GrpcExecutorClient> client_;
  struct Import;
  std::shared_ptr<Import> import_;  // shared with the replies of the executor
};

}  // namespace weft::daemon
