// BufferService of the API: converts, calls BufferManager and BufferRegistry, converts back.
//
// Thread safety: gRPC's.
#pragma once

#include "server/daemon/buffer_manager.h"
#include "server/daemon/buffer_registry.h"
#include "server/daemon/server_state.h"
#include "server/daemon/session_registry.h"
#include "weft/v1/service.grpc.pb.h"

namespace weft::daemon {

class BufferService final : public v1::BufferService::CallbackService {
 public:
  // REQUIRES: all outlive the server that this is registered with.
  struct Parts {
    const SessionRegistry& sessions;
    BufferManager& manager;
    const BufferRegistry& registry;
    const ServerState& state;
  };
  explicit BufferService(const Parts& parts) : p_(parts) {}

  grpc::ServerUnaryReactor* Create(grpc::CallbackServerContext* context,
                                   const v1::CreateBufferRequest* request,
                                   v1::CreateBufferResponse* response) override;
  grpc::ServerUnaryReactor* Get(grpc::CallbackServerContext* context,
                                const v1::GetBufferRequest* request,
                                v1::GetBufferResponse* response) override;
  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext* context,
                                 const v1::ListBuffersRequest* request,
                                 v1::ListBuffersResponse* response) override;
  grpc::ServerUnaryReactor* Delete(grpc::CallbackServerContext* context,
                                   const v1::DeleteBufferRequest* request,
                                   v1::DeleteBufferResponse* response) override;
  grpc::ServerReadReactor<v1::WriteBufferRequest>* Write(
      grpc::CallbackServerContext* context, v1::WriteBufferResponse* response) override;
  grpc::ServerWriteReactor<v1::ReadBufferResponse>* Read(
      grpc::CallbackServerContext* context, const v1::ReadBufferRequest* request) override;

 private:
  absl::Status FillPage(const Caller& caller, const v1::ListBuffersRequest& request,
                        v1::ListBuffersResponse& response) const;

  const Parts p_;
};

}  // namespace weft::daemon
