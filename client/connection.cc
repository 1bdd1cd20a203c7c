#include "client/connection.h"

#include <grpc/grpc.h>
#include <grpcpp/alarm.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/support/async_unary_call.h>
#include <grpcpp/support/client_callback.h>
#include <grpcpp/support/sync_stream.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/synchronization/notification.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "client/call_waiter.h"
#include "client/channel.h"
#include "client/errors.h"
#include "client/grpc_status.h"
#include "client/random_bits.h"
#include "client/retry.h"
#include "client/socket_path.h"
#include "weft/v1/service.grpc.pb.h"

namespace weft::client {
namespace {

using std::chrono::system_clock;

enum class Repeat { kSafe, kNever };
enum class Duration { kShort, kWaitsForJobs };

// How a call may be tried, and for how long.
struct CallRules {
  Repeat repeat = Repeat::kSafe;
  Duration duration = Duration::kShort;
};

absl::Status ToStatus(const grpc::Status& status) {
  return FromGrpcStatus(status.error_code(), status.error_message(), status.error_details());
}

// The stub's function that begins a unary call whose answer comes through a completion queue. Its
// blocking function would do, but for how it waits (call_waiter.h).
template <typename Stub, typename Request, typename Response>
using BeginUnary = std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> (Stub::*)(
    grpc::ClientContext*, const Request&, grpc::CompletionQueue*);

// A request without id may have been carried out although its answer was lost.
Repeat RepeatOf(const std::string& request_id) {
  return request_id.empty() ? Repeat::kNever : Repeat::kSafe;
}

bool HasEnded(const v1::JobInfo& info) { return info.state() >= v1::JOB_STATE_SUCCEEDED; }

// The channel and the calls that go through it.
struct Wire {
  explicit Wire(const std::shared_ptr<grpc::Channel>& channel)
      : jobs(channel), buffers(channel), graphs(channel), devices(channel) {}

  v1::JobService::Stub jobs;
  v1::BufferService::Stub buffers;
  v1::GraphService::Stub graphs;
  v1::DeviceService::Stub devices;
};

// Lets go of `wire` on a thread of gRPC that runs no callback of a call. The last channel to go
// joins the threads that run those, which breaks on one of them: a user's callback, or the end of a
// call that nobody else remembers, may hold the last reference to a connection.
void ReleaseElsewhere(std::shared_ptr<Wire> wire) {
  auto alarm = std::make_shared<grpc::Alarm>();
  grpc::Alarm& timer = *alarm;
  timer.Set(system_clock::now(), [alarm = std::move(alarm), wire = std::move(wire)](bool) mutable {
    wire.reset();
    alarm.reset();  // keeps this function, which keeps it
  });
}

class GrpcConnection final : public Connection,
                             public std::enable_shared_from_this<GrpcConnection> {
 public:
  explicit GrpcConnection(ConnectionOptions options)
      : options_(std::move(options)),
        clock_(options_.clock != nullptr ? *options_.clock : Clock::Real()),
        waiter_(SpinLimit(options_.spin, std::thread::hardware_concurrency())),
        wire_(std::make_shared<Wire>(MakeChannel(options_.socket))) {}
  ~GrpcConnection() override {
    if (has_called_back_) ReleaseElsewhere(std::move(wire_));
  }

  absl::StatusOr<v1::SubmitResponse> Submit(const v1::SubmitRequest& request) override {
    const Duration duration = request.wait() ? Duration::kWaitsForJobs : Duration::kShort;
    return Call(wire_->jobs, &v1::JobService::Stub::AsyncSubmit, request,
                {RepeatOf(request.request_id()), duration});
  }
  absl::StatusOr<v1::WaitResponse> Wait(const v1::WaitRequest& request) override {
    return Call(wire_->jobs, &v1::JobService::Stub::AsyncWait, request,
                {Repeat::kSafe, Duration::kWaitsForJobs});
  }
  absl::StatusOr<v1::GetJobResponse> GetJob(const v1::GetJobRequest& request) override {
    return Call(wire_->jobs, &v1::JobService::Stub::AsyncGet, request, {});
  }
  absl::StatusOr<v1::ListJobsResponse> ListJobs(const v1::ListJobsRequest& request) override {
    return Call(wire_->jobs, &v1::JobService::Stub::AsyncList, request, {});
  }
  absl::StatusOr<v1::CancelResponse> Cancel(const v1::CancelRequest& request) override {
    return Call(wire_->jobs, &v1::JobService::Stub::AsyncCancel, request, {});
  }
  absl::Status Watch(const v1::WatchRequest& request, const WatchCallback& on_message) override;

  void SubmitAsync(const v1::SubmitRequest& request, Callback<v1::SubmitResponse> done) override;
  void WaitAsync(const v1::WaitRequest& request, Callback<v1::WaitResponse> done) override;

  // Not repeated: the second try would find the buffer that the first one made.
  absl::StatusOr<v1::CreateBufferResponse> CreateBuffer(
      const v1::CreateBufferRequest& request) override {
    return Call(wire_->buffers, &v1::BufferService::Stub::AsyncCreate, request, {Repeat::kNever});
  }
  absl::StatusOr<v1::GetBufferResponse> GetBuffer(const v1::GetBufferRequest& request) override {
    return Call(wire_->buffers, &v1::BufferService::Stub::AsyncGet, request, {});
  }
  absl::StatusOr<v1::ListBuffersResponse> ListBuffers(
      const v1::ListBuffersRequest& request) override {
    return Call(wire_->buffers, &v1::BufferService::Stub::AsyncList, request, {});
  }
  absl::StatusOr<v1::DeleteBufferResponse> DeleteBuffer(
      const v1::DeleteBufferRequest& request) override {
    return Call(wire_->buffers, &v1::BufferService::Stub::AsyncDelete, request, {Repeat::kNever});
  }
  absl::StatusOr<v1::WriteBufferResponse> Write(const v1::BufferRef& buffer, uint64_t offset_bytes,
                                                std::span<const std::byte> bytes) override;
  absl::Status Read(const v1::ReadBufferRequest& request, const ChunkCallback& on_chunk) override;

  // Repeated: what a lost answer left prepared went with the broken connection.
  absl::StatusOr<v1::PrepareResponse> Prepare(const v1::PrepareRequest& request) override {
    return Call(wire_->graphs, &v1::GraphService::Stub::AsyncPrepare, request, {});
  }
  absl::StatusOr<v1::LaunchResponse> Launch(const v1::LaunchRequest& request) override {
    const Duration duration = request.wait() ? Duration::kWaitsForJobs : Duration::kShort;
    return Call(wire_->graphs, &v1::GraphService::Stub::AsyncLaunch, request,
                {RepeatOf(request.request_id()), duration});
  }
  void LaunchAsync(const v1::LaunchRequest& request, Callback<v1::LaunchResponse> done) override;
  absl::StatusOr<v1::ReleaseResponse> Release(const v1::ReleaseRequest& request) override {
    return Call(wire_->graphs, &v1::GraphService::Stub::AsyncRelease, request, {Repeat::kNever});
  }

  absl::StatusOr<v1::ListDevicesResponse> ListDevices(
      const v1::ListDevicesRequest& request) override {
    return Call(wire_->devices, &v1::DeviceService::Stub::AsyncListDevices, request, {});
  }
  absl::StatusOr<v1::ListKernelsResponse> ListKernels(
      const v1::ListKernelsRequest& request) override {
    return Call(wire_->devices, &v1::DeviceService::Stub::AsyncListKernels, request, {});
  }
  absl::StatusOr<v1::GetStatusResponse> GetStatus(const v1::GetStatusRequest& request) override {
    return Call(wire_->devices, &v1::DeviceService::Stub::AsyncGetStatus, request, {});
  }

  // Of every call: no system call here. Connections differ by their first seed.
  Backoff MakeBackoff() { return Backoff(options_.retry, clock_, seed_.fetch_add(0x9e3779b9)); }

  // What a call that will not be tried again ends with: says what to do where gRPC's text does not.
  absl::Status Explain(absl::Status status, Duration duration) const {
    if (absl::IsUnavailable(status)) {
      const absl::Status probe = ProbeSocket(options_.socket);
      return probe.ok() ? status : probe;
    }
    if (absl::IsDeadlineExceeded(status) && duration == Duration::kShort) {
      return NoAnswerError(options_.socket, options_.call_timeout);
    }
    return status;
  }

 private:
  // One try, and further ones as `rules` allow.
  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> Call(Stub& stub, BeginUnary<Stub, Request, Response> begin,
                                const Request& request, CallRules rules) {
    Response response;
    const absl::Status status = Retry(rules, [&](grpc::ClientContext& context) {
      response.Clear();
      grpc::CompletionQueue queue;
      grpc::Status answer;
      (stub.*begin)(&context, request, &queue)->Finish(&response, &answer, nullptr);
      waiter_.Wait(queue);
      return ToStatus(answer);
    });
    if (!status.ok()) return status;
    return response;
  }

  template <typename Try>
  absl::Status Retry(CallRules rules, const Try& attempt) {
    Backoff backoff = MakeBackoff();
    while (true) {
      grpc::ClientContext context;
      if (rules.duration == Duration::kShort) {
        context.set_deadline(system_clock::now() +
                             absl::ToChronoMicroseconds(options_.call_timeout));
      }
      absl::Status status = attempt(context);
      if (!absl::IsUnavailable(status) || rules.repeat == Repeat::kNever || !PassBackoff(backoff)) {
        return Explain(std::move(status), rules.duration);
      }
    }
  }

  // Blocks for the next wait of `backoff`. False: give up.
  static bool PassBackoff(Backoff& backoff) {
    const std::optional<absl::Duration> delay = backoff.Next();
    if (!delay.has_value()) return false;
    absl::Notification never;
    never.WaitForNotificationWithTimeout(*delay);
    return true;
  }

  const ConnectionOptions options_;
  const Clock& clock_;
  CallWaiter waiter_;
  std::shared_ptr<Wire> wire_;
  std::atomic<uint32_t> seed_ = static_cast<uint32_t>(RandomBits());
  std::atomic<bool> has_called_back_ = false;  // a call that does not block was made
};

// A call that does not block, with its retries. Owned by the callbacks of gRPC that are outstanding
// (the call's, or the alarm's of a wait before the next try): one at any time.
template <typename Request, typename Response>
class AsyncCall : public std::enable_shared_from_this<AsyncCall<Request, Response>> {
 public:
  using Begin = std::function<void(grpc::ClientContext*, const Request*, Response*,
                                   std::function<void(grpc::Status)>)>;

  AsyncCall(std::shared_ptr<GrpcConnection> connection, Request request, Repeat repeat, Begin begin,
            Connection::Callback<Response> done)
      : connection_(std::move(connection)),
        request_(std::move(request)),
        repeat_(repeat),
        begin_(std::move(begin)),
        done_(std::move(done)),
        backoff_(connection_->MakeBackoff()) {}

  void Start() {
    context_ = std::make_unique<grpc::ClientContext>();
    response_.Clear();
    begin_(context_.get(), &request_, &response_,
           [self = this->shared_from_this()](const grpc::Status& status) {
             self->Finish(ToStatus(status));
           });
  }

 private:
  void Finish(absl::Status status) {
    if (status.ok()) return done_(std::move(response_));
    if (absl::IsUnavailable(status) && repeat_ == Repeat::kSafe) {
      if (const std::optional<absl::Duration> delay = backoff_.Next(); delay.has_value()) {
        alarm_ = std::make_unique<grpc::Alarm>();
        alarm_->Set(system_clock::now() + absl::ToChronoMicroseconds(*delay),
                    [self = this->shared_from_this()](bool) {
                      // It keeps this function, which keeps the call, which keeps it.
                      const std::unique_ptr<grpc::Alarm> alarm = std::move(self->alarm_);
                      self->Start();
                    });
        return;
      }
    }
    done_(connection_->Explain(std::move(status), Duration::kWaitsForJobs));
  }

  const std::shared_ptr<GrpcConnection> connection_;
  const Request request_;
  const Repeat repeat_;
  const Begin begin_;
  const Connection::Callback<Response> done_;
  Backoff backoff_;
  std::unique_ptr<grpc::ClientContext> context_;
  std::unique_ptr<grpc::Alarm> alarm_;
  Response response_;
};

void GrpcConnection::SubmitAsync(const v1::SubmitRequest& request,
                                 Callback<v1::SubmitResponse> done) {
  has_called_back_ = true;
  using Async = AsyncCall<v1::SubmitRequest, v1::SubmitResponse>;
  std::make_shared<Async>(
      shared_from_this(), request, RepeatOf(request.request_id()),
      [this](auto* context, auto* message, auto* response, auto on_status) {
        wire_->jobs.async()->Submit(context, message, response, std::move(on_status));
      },
      std::move(done))
      ->Start();
}

void GrpcConnection::WaitAsync(const v1::WaitRequest& request, Callback<v1::WaitResponse> done) {
  has_called_back_ = true;
  using Async = AsyncCall<v1::WaitRequest, v1::WaitResponse>;
  std::make_shared<Async>(
      shared_from_this(), request, Repeat::kSafe,
      [this](auto* context, auto* message, auto* response, auto on_status) {
        wire_->jobs.async()->Wait(context, message, response, std::move(on_status));
      },
      std::move(done))
      ->Start();
}

void GrpcConnection::LaunchAsync(const v1::LaunchRequest& request,
                                 Callback<v1::LaunchResponse> done) {
  has_called_back_ = true;
  using Async = AsyncCall<v1::LaunchRequest, v1::LaunchResponse>;
  std::make_shared<Async>(
      shared_from_this(), request, RepeatOf(request.request_id()),
      [this](auto* context, auto* message, auto* response, auto on_status) {
        wire_->graphs.async()->Launch(context, message, response, std::move(on_status));
      },
      std::move(done))
      ->Start();
}

absl::Status GrpcConnection::Watch(const v1::WatchRequest& request,
                                   const WatchCallback& on_message) {
  Backoff backoff = MakeBackoff();
  std::optional<v1::JobState> last;  // a new stream starts with the state that the broken one had,
  uint64_t outputs = 0;              // and with all outputs from the first on
  while (true) {
    grpc::ClientContext context;
    const auto reader = wire_->jobs.Watch(&context, request);
    v1::WatchResponse response;
    uint64_t outputs_of_stream = 0;
    bool stopped = false;
    while (!stopped && reader->Read(&response)) {
      backoff.Reset();
      if (response.has_output()) {
        if (++outputs_of_stream <= outputs) continue;
        outputs = outputs_of_stream;
      } else {
        if (last == response.info().state()) continue;
        last = response.info().state();
      }
      stopped = on_message(response) == WatchNext::kStop;
    }
    if (stopped) context.TryCancel();
    absl::Status status = ToStatus(reader->Finish());
    if (stopped || (last.has_value() && HasEnded(response.info()))) return absl::OkStatus();
    if (status.ok()) status = absl::UnavailableError("the server ended the watch too early");
    if (!absl::IsUnavailable(status) || !PassBackoff(backoff)) {
      return Explain(std::move(status), Duration::kWaitsForJobs);
    }
  }
}

absl::StatusOr<v1::WriteBufferResponse> GrpcConnection::Write(const v1::BufferRef& buffer,
                                                              uint64_t offset_bytes,
                                                              std::span<const std::byte> bytes) {
  grpc::ClientContext context;
  v1::WriteBufferResponse response;
  const auto writer = wire_->buffers.Write(&context, &response);
  v1::WriteBufferRequest request;
  *request.mutable_buffer() = buffer;
  request.set_offset_bytes(offset_bytes);
  const size_t chunk_bytes = std::max<size_t>(1, options_.chunk_bytes);
  size_t sent = 0;
  do {  // a write of nothing is still one message: the server checks buffer and offset
    const size_t size = std::min(chunk_bytes, bytes.size() - sent);
    request.set_data(bytes.data() + sent, size);
    sent += size;
    // False: the stream has broken, and Finish says why.
    if (!writer->Write(request)) break;
    request.clear_buffer();
    request.clear_offset_bytes();
  } while (sent < bytes.size());
  writer->WritesDone();
  absl::Status status = ToStatus(writer->Finish());
  if (!status.ok()) return Explain(std::move(status), Duration::kWaitsForJobs);
  return response;
}

absl::Status GrpcConnection::Read(const v1::ReadBufferRequest& request,
                                  const ChunkCallback& on_chunk) {
  Backoff backoff = MakeBackoff();
  while (true) {
    grpc::ClientContext context;
    const auto reader = wire_->buffers.Read(&context, request);
    v1::ReadBufferResponse response;
    absl::Status consumed;
    bool started = false;
    while (consumed.ok() && reader->Read(&response)) {
      started = true;
      consumed = on_chunk(response.data());
    }
    if (!consumed.ok()) context.TryCancel();
    absl::Status status = ToStatus(reader->Finish());
    if (!consumed.ok()) return consumed;
    if (status.ok()) return status;
    // Once bytes were handed out, another try would hand them out again.
    if (started || !absl::IsUnavailable(status) || !PassBackoff(backoff)) {
      return Explain(std::move(status), Duration::kWaitsForJobs);
    }
  }
}

}  // namespace

absl::StatusOr<std::shared_ptr<Connection>> ConnectOverGrpc(ConnectionOptions options) {
  if (options.socket.empty()) options.socket = DefaultSocket();
  std::error_code error;
  options.socket = std::filesystem::absolute(options.socket, error).string();
  WEFT_RETURN_IF_ERROR(ProbeSocket(options.socket));
  // Never shut down: with the last connection gone, gRPC would otherwise end its threads there, and
  // wait up to 10 s for one that polls for a write which is long done.
  grpc_init();
  return std::make_shared<GrpcConnection>(std::move(options));
}

std::string NewRequestId() { return absl::StrFormat("%016x%016x", RandomBits(), RandomBits()); }

}  // namespace weft::client
