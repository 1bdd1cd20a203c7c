#include "server/daemon/api_server.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/server_posix.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/time/clock.h"
#include "server/daemon/reflection_service.h"

namespace weft::daemon {
namespace {

// A job of just the limit comes in a message that is a little larger; beyond that, gRPC refuses.
constexpr uint64_t kMessageOverhead = uint64_t{64} * 1024;

constexpr const char* kServiceNames[] = {"", "weft.v1.JobService", "weft.v1.BufferService",
                                         "weft.v1.GraphService", "weft.v1.DeviceService"};

}  // namespace

absl::StatusOr<std::unique_ptr<ApiServer>> ApiServer::Start(const Services& services,
                                                            uint64_t max_request_bytes) {
  grpc::EnableDefaultHealthCheckService(true);
  std::unique_ptr<ApiServer> api(new ApiServer);
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(static_cast<int>(
      std::min<uint64_t>(max_request_bytes + kMessageOverhead, std::numeric_limits<int>::max())));
  builder.SetMaxSendMessageSize(-1);
  for (grpc::Service* service :
       {&services.jobs, &services.buffers, &services.graphs, &services.devices,
        static_cast<grpc::Service*>(api->reflection_.get())}) {
    builder.RegisterService(service);
  }
  api->server_ = builder.BuildAndStart();
  if (api->server_ == nullptr) return absl::InternalError("gRPC did not start a server.");
  api->SetHealth(Health::kNotServing);
  return api;
}

ApiServer::ApiServer()
    : reflection_(std::make_unique<ReflectionService>(std::vector<std::string>{
          "grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection",
          "weft.v1.BufferService", "weft.v1.DeviceService", "weft.v1.GraphService",
          "weft.v1.JobService"})) {}

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
