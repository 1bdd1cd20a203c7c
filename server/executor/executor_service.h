// The private service that weftd calls: converts, calls, converts. The order of a reply and the
// descriptor that goes with it is that of transport/executor_messages.h.
#pragma once

#include "absl/status/status.h"
#include "cuda/context.h"
#include "weft/executor/v1/executor.grpc.pb.h"

namespace weft::executor {

class GraphPreparer;
class GraphStore;
class LaunchLoop;
class MemoryMap;
class TransferArea;
class WeftdChannel;

// What the handlers work on. References outlive the service.
struct ServiceParts {
  const cuda::Context& context;
  WeftdChannel& channel;
  MemoryMap& memory;
  GraphPreparer& preparer;
  GraphStore& graphs;
  TransferArea& transfers;
  LaunchLoop& loop;
};

// Thread safety: gRPC calls the handlers from any of its threads, several at once.
class ExecutorServiceImpl final : public v1::ExecutorService::Service {
 public:
  explicit ExecutorServiceImpl(const ServiceParts& parts) : parts_(parts) {}

  grpc::Status Allocate(grpc::ServerContext* context, const v1::AllocateRequest* request,
                        v1::AllocateResponse* response) override;
  grpc::Status Import(grpc::ServerContext* context, const v1::ImportRequest* request,
                      v1::ImportResponse* response) override;
  grpc::Status MapPeer(grpc::ServerContext* context, const v1::MapPeerRequest* request,
                       v1::MapPeerResponse* response) override;
  grpc::Status Free(grpc::ServerContext* context, const v1::FreeRequest* request,
                    v1::FreeResponse* response) override;
  grpc::Status Prepare(grpc::ServerContext* context, const v1::PrepareRequest* request,
                       v1::PrepareResponse* response) override;
  grpc::Status Release(grpc::ServerContext* context, const v1::ReleaseRequest* request,
                       v1::ReleaseResponse* response) override;
  grpc::Status Transfer(grpc::ServerContext* context, const v1::TransferRequest* request,
                        v1::TransferResponse* response) override;
  grpc::Status GetLaunchReport(grpc::ServerContext* context,
                               const v1::GetLaunchReportRequest* request,
                               v1::GetLaunchReportResponse* response) override;
  grpc::Status GetMemory(grpc::ServerContext* context, const v1::GetMemoryRequest* request,
                         v1::GetMemoryResponse* response) override;
  grpc::Status Shutdown(grpc::ServerContext* context, const v1::ShutdownRequest* request,
                        v1::ShutdownResponse* response) override;

 private:
  absl::Status DoAllocate(const v1::AllocateRequest& request, v1::AllocateResponse& response);
  absl::Status DoImport(const v1::ImportRequest& request);
  absl::Status DoMapPeer(const v1::MapPeerRequest& request);
  absl::Status DoFree(const v1::FreeRequest& request);
  absl::Status DoPrepare(const v1::PrepareRequest& request, v1::PrepareResponse& response);
  absl::Status DoRelease(const v1::ReleaseRequest& request);
  absl::Status DoTransfer(const v1::TransferRequest& request);
  absl::Status DoGetLaunchReport(const v1::GetLaunchReportRequest& request,
                                 v1::GetLaunchReportResponse& response);
  absl::Status DoGetMemory(v1::GetMemoryResponse& response);
  // Tells the launch loop of a lost context.
  grpc::Status Answer(const absl::Status& status);

  const ServiceParts parts_;
};

}  // namespace weft::executor
