// gRPC's server reflection: tools such as grpcurl ask it for services and their descriptors.
//
// gRPC's own plugin is a synchronous service. One of those makes the server poll on two completion
// queues, and a call that is received by the poller of the other one changes threads first, which
// costs every call of weftd 10 to 40 µs. This one uses the callback API as all of weftd does.
//
// Thread safety: gRPC calls it from any thread.
#pragma once

#include <string>
#include <vector>

#include "grpc/reflection/v1alpha/reflection.grpc.pb.h"

namespace weft::daemon {

class ReflectionService final
    : public grpc::reflection::v1alpha::ServerReflection::CallbackService {
 public:
  // services: full names of what the server serves.
  explicit ReflectionService(std::vector<std::string> services) : services_(std::move(services)) {}

  // The answer to one request: descriptors of the program's generated protos.
  grpc::reflection::v1alpha::ServerReflectionResponse Answer(
      const grpc::reflection::v1alpha::ServerReflectionRequest& request) const;

 private:
  grpc::ServerBidiReactor<grpc::reflection::v1alpha::ServerReflectionRequest,
                          grpc::reflection::v1alpha::ServerReflectionResponse>*
  ServerReflectionInfo(grpc::CallbackServerContext* context) override;

  const std::vector<std::string> services_;
};

}  // namespace weft::daemon
