// The gRPC server of the public API: services, health, reflection. It listens nowhere by itself;
// connections are handed to it.
//
// Thread safety: HandOver and SetServing from any thread.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace grpc {
class Server;
class Service;
}  // namespace grpc

namespace weft::daemon {

class ReflectionService;

class ApiServer {
 public:
  struct Services {
    grpc::Service& jobs;
    grpc::Service& buffers;
    grpc::Service& graphs;
    grpc::Service& devices;
  };
  // `max_request_bytes`: of one message. REQUIRES: the services outlive this.
  static absl::StatusOr<std::unique_ptr<ApiServer>> Start(const Services& services,
                                                          uint64_t max_request_bytes);
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  // Serves the connected, non-blocking socket `fd`, and closes it in the end.
  void HandOver(int fd);
  // What the health service says of the server ("") and of each service.
  enum class Health { kServing, kNotServing };
  void SetHealth(Health health);
  // Ends all calls, those that have not ended after `patience` as cancelled, and all connections.
  // Blocks until every call is over. A second call does nothing.
  void Stop(absl::Duration patience);

 private:
  ApiServer();
  const std::unique_ptr<ReflectionService> reflection_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace weft::daemon
