// DeviceService of the API: devices, kernels, the state of the server.
//
// Thread safety: gRPC's.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "server/daemon/buffer_registry.h"
#include "server/daemon/config.h"
#include "server/daemon/executor_directory.h"
#include "server/daemon/graph_cache.h"
#include "server/daemon/job_table.h"
#include "server/daemon/server_state.h"
#include "server/daemon/session_registry.h"
#include "weft/v1/service.grpc.pb.h"

namespace weft::daemon {

class DeviceService final : public v1::DeviceService::CallbackService {
 public:
  // REQUIRES: all outlive the server that this is registered with.
  struct Parts {
    const SessionRegistry& sessions;
    ExecutorDirectory& executors;
    const JobTable& table;
    const BufferRegistry& buffers;
    const GraphCache& cache;
    const Config& config;
    const ServerState& state;
  };
  explicit DeviceService(const Parts& parts) : p_(parts) {}

  grpc::ServerUnaryReactor* ListDevices(grpc::CallbackServerContext* context,
                                        const v1::ListDevicesRequest* request,
                                        v1::ListDevicesResponse* response) override;
  grpc::ServerUnaryReactor* ListKernels(grpc::CallbackServerContext* context,
                                        const v1::ListKernelsRequest* request,
                                        v1::ListKernelsResponse* response) override;
  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context,
                                      const v1::GetStatusRequest* request,
                                      v1::GetStatusResponse* response) override;

 private:
  // Asks every executor for its free memory, then calls `then`.
  void RefreshMemory(std::function<void()> then);
  void FillStatus(v1::ServerStatus& status) const;
  void FillLimits(v1::ServerStatus& status) const;

  const Parts p_;
};

}  // namespace weft::daemon
