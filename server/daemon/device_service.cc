#include "server/daemon/device_service.h"

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <utility>

#include "kernels/registry.h"
#include "server/daemon/executor_client.h"
#include "server/daemon/request_context.h"
#include "server/daemon/to_proto.h"
#include "weft/config/v1/daemon_config.pb.h"

namespace weft::daemon {
namespace {

// Runs `then` when its last copy ends: when the last of several replies has come.
class WhenAllEnd {
 public:
  explicit WhenAllEnd(std::function<void()> then) : then_(std::move(then)) {}
  ~WhenAllEnd() { then_(); }
  WhenAllEnd(const WhenAllEnd&) = delete;
  WhenAllEnd& operator=(const WhenAllEnd&) = delete;

 private:
  const std::function<void()> then_;
};

}  // namespace

void DeviceService::RefreshMemory(std::function<void()> then) {
  const auto all = std::make_shared<WhenAllEnd>(std::move(then));
  for (const ExecutorDirectory::Entry& entry : p_.executors.Entries()) {
    if (entry.client == nullptr) continue;
    entry.client->GetMemory(
        [this, all, device = entry.device](const absl::StatusOr<DeviceMemoryUse>& use) {
          if (use.ok()) p_.executors.SetFreeMemory(device, use->free_bytes);
        });
  }
}

grpc::ServerUnaryReactor* DeviceService::ListDevices(grpc::CallbackServerContext* context,
                                                     const v1::ListDevicesRequest*,
                                                     v1::ListDevicesResponse* response) {
  const absl::StatusOr<Caller> caller = CallerOf(*context, p_.sessions);
  if (!caller.ok()) return Answer(*context, caller.status());
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  RefreshMemory([this, response, reactor] {
    for (const ExecutorDirectory::Entry& entry : p_.executors.Entries()) {
      ToProto(entry, *response->add_devices());
    }
    reactor->Finish(grpc::Status::OK);
  });
  return reactor;
}

grpc::ServerUnaryReactor* DeviceService::ListKernels(grpc::CallbackServerContext* context,
                                                     const v1::ListKernelsRequest*,
                                                     v1::ListKernelsResponse* response) {
  for (const kernels::KernelSchema& schema : kernels::Registry::Builtin().schemas()) {
    ToProto(schema, *response->add_kernels());
  }
  return Answer(*context, absl::OkStatus());
}

grpc::ServerUnaryReactor* DeviceService::GetStatus(grpc::CallbackServerContext* context,
                                                   const v1::GetStatusRequest*,
                                                   v1::GetStatusResponse* response) {
  const absl::StatusOr<Caller> caller = CallerOf(*context, p_.sessions);
  if (!caller.ok()) return Answer(*context, caller.status());
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  RefreshMemory([this, response, reactor] {
    FillStatus(*response->mutable_status());
    reactor->Finish(grpc::Status::OK);
  });
  return reactor;
}

void DeviceService::FillStatus(v1::ServerStatus& status) const {
  status.set_version(WEFT_VERSION);
  const absl::Duration uptime = p_.state.clock.Now() - p_.state.started;
  status.set_uptime_ms(static_cast<uint64_t>(absl::ToInt64Milliseconds(uptime)));
  status.set_pid(static_cast<uint32_t>(::getpid()));
  status.set_draining(p_.state.draining);
  for (const ExecutorDirectory::Entry& entry : p_.executors.Entries()) {
    ToProto(entry, *status.add_devices());
  }
  const JobTable::Totals jobs = p_.table.totals();
  status.set_jobs_queued(jobs.queued);
  status.set_jobs_running(jobs.running);
  status.set_jobs_ended(jobs.ended);
  const BufferRegistry::Totals buffers = p_.buffers.totals();
  status.set_buffers(buffers.count);
  status.set_buffer_bytes(buffers.allocated_bytes);
  status.set_sessions(p_.sessions.size());
  status.set_prepared_graphs(p_.cache.instance_count());
  FillLimits(status);
}

void DeviceService::FillLimits(v1::ServerStatus& status) const {
  const auto add = [&status](const char* name, uint64_t limit, uint64_t used, const char* unit) {
    v1::Limit& message = *status.add_limits();
    message.set_name(name);
    message.set_limit(limit);
    message.set_used(used);
    message.set_unit(unit);
  };
  const Config& config = p_.config;
  const JobTable::Totals jobs = p_.table.totals();
  add("max_job_bytes", config.max_job_bytes(), 0, "bytes");
  add("max_nodes", config.max_nodes(), 0, "nodes");
  add("max_buffers_per_job", config.max_buffers_per_job(), 0, "buffers");
  add("max_queued_jobs", config.max_queued_jobs(), jobs.queued + jobs.running, "jobs");
  add("max_kept_jobs", config.max_kept_jobs(), jobs.kept, "jobs");
  add("max_kept_result_bytes", config.max_kept_result_bytes(), jobs.kept_result_bytes, "bytes");
  add("max_buffers", config.max_buffers(), status.buffers(), "buffers");
  add("max_buffer_bytes", p_.buffers.totals().limit_bytes, status.buffer_bytes(), "bytes");
  add("max_sessions", config.max_sessions(), status.sessions(), "sessions");
  add("max_pinned_bytes", config.max_pinned_bytes(), 0, "bytes");
  add("max_prepared_graphs", config.max_prepared_graphs(), status.prepared_graphs(), "graphs");
}

}  // namespace weft::daemon
