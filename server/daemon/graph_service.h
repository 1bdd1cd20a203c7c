// GraphService of the API: Prepare, Launch and Release of graphs that belong to a connection.
//
// Thread safety: gRPC's.
#pragma once

#include <memory>

#include "server/daemon/executor_directory.h"
#include "server/daemon/graph_cache.h"
#include "server/daemon/heap_messages.h"
#include "server/daemon/job_compiler.h"
#include "server/daemon/job_manager.h"
#include "server/daemon/job_table.h"
#include "server/daemon/prepared_graphs.h"
#include "server/daemon/server_state.h"
#include "server/daemon/session_registry.h"
#include "server/daemon/timer_queue.h"
#include "server/daemon/worker_pool.h"
#include "weft/v1/service.grpc.pb.h"

namespace weft::daemon {

class GraphService final : public v1::GraphService::CallbackService {
 public:
  // REQUIRES: all outlive the server that this is registered with.
  struct Parts {
    const SessionRegistry& sessions;
    JobManager& manager;
    JobTable& table;
    const JobCompiler& compiler;
    GraphCache& cache;
    PreparedGraphs& graphs;
    const ExecutorDirectory& executors;
    TimerQueue& timers;
    WorkerPool& workers;
    const ServerState& state;
  };
  explicit GraphService(const Parts& parts);

  grpc::ServerUnaryReactor* Prepare(grpc::CallbackServerContext* context,
                                    const v1::PrepareRequest* request,
                                    v1::PrepareResponse* response) override;
  grpc::ServerUnaryReactor* Launch(grpc::CallbackServerContext* context,
                                   const v1::LaunchRequest* request,
                                   v1::LaunchResponse* response) override;
  grpc::ServerUnaryReactor* Release(grpc::CallbackServerContext* context,
                                    const v1::ReleaseRequest* request,
                                    v1::ReleaseResponse* response) override;

 private:
  struct PrepareCall;
  void OnCompiled(std::unique_ptr<PrepareCall> call);
  void OnInstance(std::unique_ptr<PrepareCall> call, const absl::Status& status);
  // Takes the bytes out of `request`.
  absl::StatusOr<JobId> AcceptLaunch(const Caller& caller, const ClientGraph& graph,
                                     v1::LaunchRequest& request);

  const Parts p_;
  HeapMessages<v1::PrepareRequest, v1::PrepareResponse> prepare_messages_;
  HeapMessages<v1::LaunchRequest, v1::LaunchResponse> launch_messages_;
};

}  // namespace weft::daemon
