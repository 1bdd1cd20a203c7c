#include "server/executor/executor.h"

#include <grpcpp/grpcpp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "cuda/memory.h"
#include "server/executor/device_limits.h"
#include "server/executor/executor_service.h"
#include "server/executor/graph_preparer.h"
#include "server/executor/graph_store.h"
#include "server/executor/launch_loop.h"
#include "server/executor/memory_map.h"
#include "server/executor/transfer_area.h"
#include "server/executor/weftd_channel.h"
#include "transport/ring_server.h"
#include "weft/executor/v1/executor.pb.h"

namespace weft::executor {
namespace {

// For calls in progress when the executor ends in good order: the reply of Shutdown among them.
constexpr std::chrono::seconds kShutdownGrace{2};

v1::Hello HelloOf(const absl::StatusOr<std::unique_ptr<DeviceEnvironment>>& device) {
  v1::Hello hello;
  if (!device.ok()) {
    hello.set_error(std::string(device.status().message()));
    hello.set_error_code(static_cast<int32_t>(device.status().code()));
    return hello;
  }
  *hello.mutable_device() = ToDeviceLimits((*device)->info());
  const absl::StatusOr<cuda::MemoryInfo> memory = cuda::QueryMemory((*device)->context());
  if (memory.ok()) hello.mutable_device()->set_free_memory_bytes(memory->free_bytes);
  return hello;
}

std::string FaultBody(const ContextLoss& loss) {
  v1::GetLaunchReportResponse report;
  report.set_error_code(static_cast<int32_t>(loss.status.code()));
  report.set_error_message(std::string(loss.status.message()));
  report.set_error_node(loss.node);
  return report.SerializeAsString();
}

// What serves once weftd has attached, in the order of making.
class Executor {
 public:
  static absl::StatusOr<std::unique_ptr<Executor>> Create(const ExecutorOptions& options,
                                                          DeviceEnvironment& device,
                                                          WeftdChannel& channel,
                                                          Attachment attachment);
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Until Shutdown or a fault; ends the process itself when weftd is gone.
  int Serve();

 private:
  Executor(const ExecutorOptions& options, WeftdChannel& channel)
      : options_(options), channel_(channel) {}
  absl::Status SetUp(DeviceEnvironment& device, Attachment attachment);
  absl::Status StartServer();
  void TellContextLost(const ContextLoss& loss);
  [[noreturn]] void EndAtOnce(int status) const;

  const ExecutorOptions options_;
  WeftdChannel& channel_;
  GraphStore graphs_;
  std::unique_ptr<MemoryMap> memory_;
  std::unique_ptr<TransferArea> transfers_;
  std::unique_ptr<GraphPreparer> preparer_;
  std::unique_ptr<LaunchLoop> loop_;
  std::unique_ptr<ExecutorServiceImpl> service_;
  std::unique_ptr<grpc::Server> server_;
};

absl::StatusOr<std::unique_ptr<Executor>> Executor::Create(const ExecutorOptions& options,
                                                           DeviceEnvironment& device,
                                                           WeftdChannel& channel,
                                                           Attachment attachment) {
  std::unique_ptr<Executor> executor(new Executor(options, channel));
  WEFT_RETURN_IF_ERROR(executor->SetUp(device, std::move(attachment)));
  return executor;
}

absl::Status Executor::SetUp(DeviceEnvironment& device, Attachment attachment) {
  const cuda::Context& context = device.context();
  const cuda::DeviceInfo planned_for = FromDeviceLimits(ToDeviceLimits(device.info()));
  WEFT_ASSIGN_OR_RETURN(memory_, MemoryMap::Create(context));
  WEFT_ASSIGN_OR_RETURN(
      transfers_, TransferArea::Create(context, *memory_, std::move(attachment.transfer_area)));
  device.user_modules().PrepareCompiler();
  WEFT_ASSIGN_OR_RETURN(std::unique_ptr<transport::RingServer> ring,
                        transport::RingServer::Attach(std::move(attachment.ring)));
  WEFT_ASSIGN_OR_RETURN(preparer_, GraphPreparer::Create(context, planned_for, device.functions(),
                                                         device.user_modules(), ring->notice()));
  LaunchLoopOptions loop_options;
  loop_options.spin = options_.spin;
  loop_options.on_context_lost = [this](const ContextLoss& loss) { TellContextLost(loss); };
  loop_ = std::make_unique<LaunchLoop>(context, graphs_, std::move(ring), std::move(loop_options));
  service_ = std::make_unique<ExecutorServiceImpl>(
      ServiceParts{context, channel_, *memory_, *preparer_, graphs_, *transfers_, *loop_});
  return StartServer();
}

absl::Status Executor::StartServer() {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(absl::StrCat("unix:", options_.grpc_socket),
                           grpc::InsecureServerCredentials());
  // A job comes whole in one message; weftd has bounded it.
  builder.SetMaxReceiveMessageSize(-1);
  builder.SetMaxSendMessageSize(-1);
  // One client: more queues would only be more threads.
  builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
  builder.RegisterService(service_.get());
  // The socket has its mode from the first moment: the file is made under this mask.
  const mode_t mask = ::umask(0177);
  server_ = builder.BuildAndStart();
  ::umask(mask);
  if (server_ == nullptr) {
    return absl::InternalError(
        absl::StrCat("cannot serve on ", options_.grpc_socket, ": gRPC's log above says why"));
  }
  return absl::OkStatus();
}

int Executor::Serve() {
  channel_.StartReading([this] {
    log::Info("weftd closed its end of the fd socket; ending");
    EndAtOnce(kExitOk);
  });
  const absl::Status ready = channel_.Send(transport::ExecutorMessage::kReady, 0);
  if (!ready.ok()) EndAtOnce(kExitOk);
  if (loop_->Run() == LaunchLoop::Outcome::kContextLost) EndAtOnce(kExitContextLost);
  server_->Shutdown(std::chrono::system_clock::now() + kShutdownGrace);
  ::unlink(options_.grpc_socket.c_str());
  return kExitOk;
}

void Executor::TellContextLost(const ContextLoss& loss) {
  log::Error("the device's context is lost; the executor ends",
             {{"error", loss.status.ToString()},
              {"graph", absl::StrCat(loss.graph.value())},
              {"node", loss.node}});
  const absl::Status sent =
      channel_.Send(transport::ExecutorMessage::kFault, loss.graph.value(), FaultBody(loss));
  if (!sent.ok()) log::Warning("fault message", {{"error", sent.ToString()}});
}

// Without destructors: they would wait for kernels that may never end, and use a context that may be
// dead. The kernel of the system takes everything back.
void Executor::EndAtOnce(int status) const {
  ::unlink(options_.grpc_socket.c_str());
  ::_exit(status);
}

int CannotServe(const absl::Status& status) {
  log::Error("the executor cannot serve", {{"error", status.ToString()}});
  return kExitCannotServe;
}

}  // namespace

int RunExecutor(const ExecutorOptions& options, UniqueFd fd_socket) {
  // Declared before what uses it, so that its reading thread ends last.
  absl::StatusOr<std::unique_ptr<DeviceEnvironment>> device =
      DeviceEnvironment::Create(options.device);
  WeftdChannel channel(std::move(fd_socket));
  const absl::Status said =
      channel.Send(transport::ExecutorMessage::kHello, 0, HelloOf(device).SerializeAsString());
  if (!device.ok()) return CannotServe(device.status());
  if (!said.ok()) return kExitOk;
  absl::StatusOr<Attachment> attachment = channel.AwaitAttach();
  if (absl::IsUnavailable(attachment.status())) return kExitOk;
  if (!attachment.ok()) return CannotServe(attachment.status());
  absl::StatusOr<std::unique_ptr<Executor>> executor =
      Executor::Create(options, **device, channel, *std::move(attachment));
  if (!executor.ok()) return CannotServe(executor.status());
  return (*executor)->Serve();
}

}  // namespace weft::executor
