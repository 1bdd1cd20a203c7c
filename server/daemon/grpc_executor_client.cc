#include "server/daemon/grpc_executor_client.h"

#include <grpcpp/grpcpp.h>

#include <cstring>
#include <functional>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/error_context.h"
#include "base/log.h"
#include "server/daemon/errors.h"
#include "weft/executor/v1/executor.grpc.pb.h"
#include "weft/v1/job.pb.h"

namespace weft::daemon {

namespace executor_v1 = executor::v1;
using transport::ExecutorMessage;

namespace {

// The state of the server is shown although an executor does not answer.
constexpr absl::Duration kStatusTimeout = absl::Seconds(1);

absl::Status FromGrpc(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

std::unique_ptr<executor_v1::ExecutorService::Stub> Connect(const std::string& path) {
  grpc::ChannelArguments arguments;
  // Executors of one device listen at the same path one after the other; a shared subchannel would
  // keep the state of the one before.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  return executor_v1::ExecutorService::NewStub(grpc::CreateCustomChannel(
      absl::StrCat("unix:", path), grpc::InsecureChannelCredentials(), arguments));
}

LaunchReport ReportFrom(const executor_v1::GetLaunchReportResponse& response) {
  LaunchReport report;
  report.status =
      absl::Status(static_cast<absl::StatusCode>(response.error_code()), response.error_message());
  report.error_node = response.error_node();
  for (const weft::v1::NodeTiming& timing : response.timeline()) {
    report.timeline.push_back({.node = timing.node(),
                               .kind = timing.kind(),
                               .lane = timing.lane(),
                               .start_ns = timing.start_ns(),
                               .end_ns = timing.end_ns(),
                               .occupancy = timing.occupancy()});
  }
  return report;
}

using AsyncStub =
    std::remove_pointer_t<decltype(std::declval<executor_v1::ExecutorService::Stub&>().async())>;
template <typename Request, typename Response>
using Method = void (AsyncStub::*)(grpc::ClientContext*, const Request*, Response*,
                                   std::function<void(grpc::Status)>);

}  // namespace

struct GrpcExecutorClient::Stub {
  std::unique_ptr<executor_v1::ExecutorService::Stub> service;

  // Sends `request`; `done` gets the reply, or the error as Fail words it.
  template <typename Request, typename Response>
  void Start(GrpcExecutorClient& client, Method<Request, Response> method, Request request,
             Done<Response> done, absl::Duration timeout = absl::InfiniteDuration()) {
    struct Call {
      grpc::ClientContext context;
      Request request;
      Response response;
      Done<Response> done;
    };
    if (const absl::Status health = client.BeginCall(); !health.ok()) {
      return std::move(done)(health);
    }
    // Shared, because gRPC's callback is a std::function and those are copied.
    auto call = std::make_shared<Call>();
    call->request = std::move(request);
    call->done = std::move(done);
    if (timeout != absl::InfiniteDuration()) {
      call->context.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
    }
    // `client` outlives its calls: Retire waits for them.
    (service->async()->*method)(&call->context, &call->request, &call->response,
                                [call, &client](const grpc::Status& status) {
                                  if (status.ok()) {
                                    std::move(call->done)(std::move(call->response));
                                  } else {
                                    client.Fail(
                                        FromGrpc(status),
                                        status.error_details() == transport::kContextLostDetail
                                            ? Failure::kExecutorEnds
                                            : Failure::kAny,
                                        std::move(call->done));
                                  }
                                  client.EndCall();
                                });
  }
};

std::shared_ptr<GrpcExecutorClient> GrpcExecutorClient::Create(Connection connection) {
  return std::shared_ptr<GrpcExecutorClient>(new GrpcExecutorClient(std::move(connection)));
}

GrpcExecutorClient::GrpcExecutorClient(Connection connection)
    : connection_(std::move(connection)),
      stub_(std::make_unique<Stub>()),
      transfer_(std::move(connection_.transfer_memory)),
      launcher_(std::move(connection_.ring)) {
  stub_->service = Connect(connection_.grpc_socket);
}

GrpcExecutorClient::~GrpcExecutorClient() = default;

void GrpcExecutorClient::OnMessage(transport::FdMessage message) {
  switch (static_cast<ExecutorMessage>(message.kind)) {
    case ExecutorMessage::kAllocation:
    case ExecutorMessage::kStaging:
      if (message.fds_lost) {
        inbox_.Put(static_cast<ExecutorMessage>(message.kind), message.tag,
                   NoDescriptorError(connection_.device));
        return;
      }
      if (message.fds.size() == 1) {
        inbox_.Put(static_cast<ExecutorMessage>(message.kind), message.tag,
                   std::move(message.fds[0]));
        return;
      }
      break;
    case ExecutorMessage::kFault: {
      executor_v1::GetLaunchReportResponse body;
      if (!body.ParseFromString(message.body)) break;
      fault_graph_ = GraphId(message.tag);
      fault_ = std::make_shared<const LaunchReport>(ReportFrom(body));
      return;
    }
    default:
      break;
  }
  log::Error("unexpected message of an executor",
             {{"kind", absl::StrCat(message.kind)}, {"fds", absl::StrCat(message.fds.size())}});
}

void GrpcExecutorClient::MarkLost(absl::string_view what_happened) {
  const absl::Status why = ExecutorLostError(
      connection_.device,
      fault_ == nullptr ? std::string(what_happened) : std::string(fault_->status.message()));
  std::vector<Failed> parked;
  {
    absl::MutexLock lock(&mutex_);
    health_ = why;
    parked.swap(parked_);
  }
  inbox_.Close(why);
  launcher_.Stop(why, fault_graph_, fault_);
  for (Failed& failed : parked) std::move(failed)(why);
}

absl::Status GrpcExecutorClient::BeginCall() {
  absl::MutexLock lock(&mutex_);
  if (health_.ok()) ++calls_;
  return health_;
}

void GrpcExecutorClient::EndCall() {
  absl::MutexLock lock(&mutex_);
  if (--calls_ == 0) no_calls_.SignalAll();
}

void GrpcExecutorClient::Retire() {
  {
    absl::MutexLock lock(&mutex_);
    while (calls_ > 0) no_calls_.Wait(&mutex_);
  }
  stub_->service = nullptr;
}

absl::Status GrpcExecutorClient::health() const {
  absl::MutexLock lock(&mutex_);
  return health_;
}

void GrpcExecutorClient::Fail(absl::Status status, Failure failure, Failed failed) {
  if (absl::IsUnavailable(status) || failure == Failure::kExecutorEnds) {
    absl::MutexLock lock(&mutex_);
    if (health_.ok()) {
      // Ends the supervisor's wait, whatever the process is doing; MarkLost follows. Not where the
      // executor ends by itself: its last word is still to come.
      if (failure != Failure::kExecutorEnds) connection_.socket->Shutdown();
      parked_.push_back(std::move(failed));
      return;
    }
    status = health_;
  }
  std::move(failed)(status);
}

void GrpcExecutorClient::Allocate(BufferId buffer, uint64_t size_bytes, Done<DeviceMemory> done) {
  executor_v1::AllocateRequest request;
  request.set_tag(buffer.value());
  request.set_size_bytes(size_bytes);
  stub_->Start<executor_v1::AllocateRequest, executor_v1::AllocateResponse>(
      *this, &AsyncStub::Allocate, std::move(request),
      [this, buffer,
       done = std::move(done)](absl::StatusOr<executor_v1::AllocateResponse> reply) mutable {
        if (!reply.ok()) return std::move(done)(reply.status());
        inbox_.Take(ExecutorMessage::kAllocation, buffer.value(),
                    [this, buffer, reply = *std::move(reply),
                     done = std::move(done)](absl::StatusOr<UniqueFd> fd) mutable {
                      if (!fd.ok()) {
                        Free(buffer, [](const absl::Status&) {});
                        return std::move(done)(fd.status());
                      }
                      std::move(done)(
                          DeviceMemory{reply.address(), reply.allocated_bytes(), *std::move(fd)});
                    });
      });
}

// Without the descriptor the executor would wait for it; it is being lost in any case.
absl::Status GrpcExecutorClient::SendMemory(const ImportEntry& entry) {
  transport::FdMessage message;
  message.kind = static_cast<uint32_t>(ExecutorMessage::kImport);
  message.tag = entry.id.value();
  const absl::Status sent = connection_.socket->Send(message, {entry.fd->get()});
  return sent.ok() ? sent : absl::UnavailableError(sent.message());
}

void GrpcExecutorClient::Import(const ImportEntry& entry, DoneStatus done) {
  if (absl::Status sent = SendMemory(entry); !sent.ok()) {
    return Fail(std::move(sent), Failure::kAny, std::move(done));
  }
  executor_v1::ImportRequest request;
  request.set_tag(entry.id.value());
  request.set_allocated_bytes(entry.allocated_bytes);
  request.set_address(entry.address);
  stub_->Start<executor_v1::ImportRequest, executor_v1::ImportResponse>(
      *this, &AsyncStub::Import, std::move(request),
      [done = std::move(done)](const absl::StatusOr<executor_v1::ImportResponse>& reply) mutable {
        std::move(done)(reply.status());
      });
}

void GrpcExecutorClient::MapPeer(const ImportEntry& entry, DoneStatus done) {
  if (absl::Status sent = SendMemory(entry); !sent.ok()) {
    return Fail(std::move(sent), Failure::kAny, std::move(done));
  }
  executor_v1::MapPeerRequest request;
  request.set_tag(entry.id.value());
  request.set_allocated_bytes(entry.allocated_bytes);
  request.set_device(entry.device);
  stub_->Start<executor_v1::MapPeerRequest, executor_v1::MapPeerResponse>(
      *this, &AsyncStub::MapPeer, std::move(request),
      [done = std::move(done)](const absl::StatusOr<executor_v1::MapPeerResponse>& reply) mutable {
        std::move(done)(reply.status());
      });
}

void GrpcExecutorClient::Free(BufferId buffer, DoneStatus done) {
  executor_v1::FreeRequest request;
  request.set_tag(buffer.value());
  stub_->Start<executor_v1::FreeRequest, executor_v1::FreeResponse>(
      *this, &AsyncStub::Free, std::move(request),
      [done = std::move(done)](const absl::StatusOr<executor_v1::FreeResponse>& reply) mutable {
        std::move(done)(reply.status());
      });
}

void GrpcExecutorClient::Prepare(GraphId graph, const executor_v1::PrepareRequest& request,
                                 Done<PreparedGraph> done) {
  executor_v1::PrepareRequest numbered = request;
  numbered.set_graph_id(graph.value());
  stub_->Start<executor_v1::PrepareRequest, executor_v1::PrepareResponse>(
      *this, &AsyncStub::Prepare, std::move(numbered),
      [this, graph,
       done = std::move(done)](absl::StatusOr<executor_v1::PrepareResponse> reply) mutable {
        if (!reply.ok()) return std::move(done)(reply.status());
        const uint64_t staging_bytes = reply->staging_bytes();
        if (staging_bytes == 0) return std::move(done)(PreparedGraph());
        inbox_.Take(ExecutorMessage::kStaging, graph.value(),
                    [this, graph, staging_bytes,
                     done = std::move(done)](absl::StatusOr<UniqueFd> fd) mutable {
                      absl::StatusOr<transport::SharedMemory> staging =
                          fd.ok() ? transport::SharedMemory::Map(*std::move(fd), staging_bytes)
                                  : fd.status();
                      if (!staging.ok()) {
                        Release(graph, [](const absl::Status&) {});
                        return std::move(done)(staging.status());
                      }
                      std::move(done)(PreparedGraph{*std::move(staging)});
                    });
      });
}

void GrpcExecutorClient::Release(GraphId graph, DoneStatus done) {
  executor_v1::ReleaseRequest request;
  request.set_graph_id(graph.value());
  stub_->Start<executor_v1::ReleaseRequest, executor_v1::ReleaseResponse>(
      *this, &AsyncStub::Release, std::move(request),
      [done = std::move(done)](const absl::StatusOr<executor_v1::ReleaseResponse>& reply) mutable {
        std::move(done)(reply.status());
      });
}

absl::Status GrpcExecutorClient::Launch(GraphId graph, LaunchCalls calls) {
  return launcher_.Launch(graph, std::move(calls));
}

void GrpcExecutorClient::GetLaunchReport(GraphId graph, Done<LaunchReport> done) {
  executor_v1::GetLaunchReportRequest request;
  request.set_graph_id(graph.value());
  stub_->Start<executor_v1::GetLaunchReportRequest, executor_v1::GetLaunchReportResponse>(
      *this, &AsyncStub::GetLaunchReport, std::move(request),
      [done = std::move(done)](
          const absl::StatusOr<executor_v1::GetLaunchReportResponse>& reply) mutable {
        if (!reply.ok()) return std::move(done)(reply.status());
        std::move(done)(ReportFrom(*reply));
      });
}

void GrpcExecutorClient::TransferSlot(Direction direction, uint64_t address, uint64_t size_bytes,
                                      uint32_t slot, DoneStatus done) {
  executor_v1::TransferRequest request;
  request.set_direction(direction == Direction::kToDevice
                            ? executor_v1::TransferRequest::DIRECTION_TO_DEVICE
                            : executor_v1::TransferRequest::DIRECTION_FROM_DEVICE);
  request.set_address(address);
  request.set_offset_bytes(TransferArea::OffsetOf(slot));
  request.set_size_bytes(size_bytes);
  stub_->Start<executor_v1::TransferRequest, executor_v1::TransferResponse>(
      *this, &AsyncStub::Transfer, std::move(request),
      [done = std::move(done)](const absl::StatusOr<executor_v1::TransferResponse>& reply) mutable {
        std::move(done)(reply.status());
      });
}

void GrpcExecutorClient::Write(uint64_t address, std::string bytes, DoneStatus done) {
  transfer_.Acquire([self = shared_from_this(), address, bytes = std::move(bytes),
                     done = std::move(done)](uint32_t slot) mutable {
    std::memcpy(self->transfer_.DataOf(slot), bytes.data(), bytes.size());
    GrpcExecutorClient& client = *self;
    client.TransferSlot(
        Direction::kToDevice, address, bytes.size(), slot,
        [self = std::move(self), slot, done = std::move(done)](absl::Status status) mutable {
          self->transfer_.Release(slot);
          std::move(done)(std::move(status));
        });
  });
}

void GrpcExecutorClient::Read(uint64_t address, uint64_t size_bytes, Done<std::string> done) {
  transfer_.Acquire([self = shared_from_this(), address, size_bytes,
                     done = std::move(done)](uint32_t slot) mutable {
    GrpcExecutorClient& client = *self;
    client.TransferSlot(
        Direction::kFromDevice, address, size_bytes, slot,
        [self = std::move(self), slot, size_bytes,
         done = std::move(done)](const absl::Status& status) mutable {
          std::string bytes;
          if (status.ok()) {
            bytes.assign(reinterpret_cast<const char*>(self->transfer_.DataOf(slot)), size_bytes);
          }
          self->transfer_.Release(slot);
          if (!status.ok()) return std::move(done)(status);
          std::move(done)(std::move(bytes));
        });
  });
}

void GrpcExecutorClient::GetMemory(Done<DeviceMemoryUse> done) {
  stub_->Start<executor_v1::GetMemoryRequest, executor_v1::GetMemoryResponse>(
      *this, &AsyncStub::GetMemory, {},
      [done =
           std::move(done)](const absl::StatusOr<executor_v1::GetMemoryResponse>& reply) mutable {
        if (!reply.ok()) return std::move(done)(reply.status());
        std::move(done)(DeviceMemoryUse{reply->free_bytes(), reply->total_bytes()});
      },
      kStatusTimeout);
}

}  // namespace weft::daemon
