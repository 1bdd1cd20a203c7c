#include "server/daemon/api_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/server_posix.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/time/clock.h"

namespace weft::daemon {
namespace {

// A job of just the limit comes in a message that is a little larger; beyond that, gRPC refuses.
constexpr uint64_t kMessageOverhead = 64 * 1024;

constexpr const char* kServiceNames[] = {"", "weft.v1.JobService", "weft.v1.BufferService",
                                         "weft.v1.GraphService", "weft.v1.DeviceService"};

}  // namespace

absl::StatusOr<std::unique_ptr<ApiServer>> ApiServer::Start(const Services& services,
                                                            uint64_t max_request_bytes) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  // The only synchronous service is reflection: one thread is plenty.
  builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MIN_POLLERS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, 1);
  builder.SetMaxReceiveMessageSize(static_cast<int>(
      std::min<uint64_t>(max_request_bytes + kMessageOverhead, std::numeric_limits<int>::max())));
  builder.SetMaxSendMessageSize(-1);
  for (grpc::Service* service :
       {&services.jobs, &services.buffers, &services.graphs, &services.devices}) {
    builder.RegisterService(service);
  }
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return absl::InternalError("gRPC did not start a server.");
  std::unique_ptr<ApiServer> api(new ApiServer(std::move(server)));
  api->SetHealth(Health::kNotServing);
  return api;
}

ApiServer::ApiServer(std::unique_ptr<grpc::Server> server) : server_(std::move(server)) {}

ApiServer::~ApiServer() { Stop(absl::ZeroDuration()); }

void ApiServer::HandOver(int fd) { grpc::AddInsecureChannelFromFd(server_.get(), fd); }

void ApiServer::SetHealth(Health health) {
  grpc::HealthCheckServiceInterface* service = server_->GetHealthCheckService();
  for (const char* name : kServiceNames) {
    service->SetServingStatus(name, health == Health::kServing);
  }
}

void ApiServer::Stop(absl::Duration patience) {
  if (server_ == nullptr) return;
  server_->Shutdown(absl::ToChronoTime(absl::Now() + patience));
  server_ = nullptr;
}

}  // namespace weft::daemon
