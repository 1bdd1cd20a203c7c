// JobService of the API: converts, calls JobManager and JobTable, converts back.
//
// Thread safety: gRPC's.
#pragma once

#include "server/daemon/heap_messages.h"
#include "server/daemon/job_compiler.h"
#include "server/daemon/job_manager.h"
#include "server/daemon/job_table.h"
#include "server/daemon/session_registry.h"
#include "server/daemon/timer_queue.h"
#include "server/daemon/worker_pool.h"
#include "weft/v1/service.grpc.pb.h"

namespace weft::daemon {

class JobService final : public v1::JobService::CallbackService {
 public:
  // REQUIRES: all outlive the server that this is registered with.
  struct Parts {
    const SessionRegistry& sessions;
    JobManager& manager;
    JobTable& table;
    const JobCompiler& compiler;
    TimerQueue& timers;
    WorkerPool& workers;
  };
  explicit JobService(const Parts& parts);

  grpc::ServerUnaryReactor* Submit(grpc::CallbackServerContext* context,
                                   const v1::SubmitRequest* request,
                                   v1::SubmitResponse* response) override;
  grpc::ServerUnaryReactor* Wait(grpc::CallbackServerContext* context,
                                 const v1::WaitRequest* request,
                                 v1::WaitResponse* response) override;
  grpc::ServerWriteReactor<v1::WatchResponse>* Watch(grpc::CallbackServerContext* context,
                                                     const v1::WatchRequest* request) override;
  grpc::ServerUnaryReactor* Get(grpc::CallbackServerContext* context,
                                const v1::GetJobRequest* request,
                                v1::GetJobResponse* response) override;
  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext* context,
                                 const v1::ListJobsRequest* request,
                                 v1::ListJobsResponse* response) override;
  grpc::ServerUnaryReactor* Cancel(grpc::CallbackServerContext* context,
                                   const v1::CancelRequest* request,
                                   v1::CancelResponse* response) override;

 private:
  absl::Status FillPage(const Caller& caller, const v1::ListJobsRequest& request,
                        v1::ListJobsResponse& response) const;

  const Parts p_;
  HeapMessages<v1::SubmitRequest, v1::SubmitResponse> submit_messages_;
};

}  // namespace weft::daemon
