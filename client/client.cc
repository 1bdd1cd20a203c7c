#include "client/client.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "client/errors.h"

namespace weft::client {
namespace {

// The result of an ended job, or the error with which it ended.
absl::StatusOr<v1::JobResult> ResultOrError(v1::JobResult result) {
  WEFT_RETURN_IF_ERROR(StatusOfJob(result.info()));
  return result;
}

v1::SubmitRequest MakeSubmitRequest(v1::Job job) {
  v1::SubmitRequest request;
  *request.mutable_job() = std::move(job);
  request.set_request_id(NewRequestId());
  return request;
}

// Adapts the answer of an RPC that carries a result to the callback of a user.
template <typename Response>
Connection::Callback<Response> ForResult(ResultCallback done) {
  return [done = std::move(done)](absl::StatusOr<Response> response) {
    if (!response.ok()) return done(response.status());
    done(ResultOrError(std::move(*response->mutable_result())));
  };
}

}  // namespace

absl::StatusOr<Client> Client::Connect(ConnectionOptions options) {
  WEFT_ASSIGN_OR_RETURN(auto connection, ConnectOverGrpc(std::move(options)));
  return Client(std::move(connection));
}

Client::Client(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

absl::StatusOr<Job> Client::Submit(v1::Job job) const {
  WEFT_ASSIGN_OR_RETURN(auto response, connection_->Submit(MakeSubmitRequest(std::move(job))));
  return Job(connection_, response.job_id());
}

absl::StatusOr<v1::JobResult> Client::Run(v1::Job job) const {
  v1::SubmitRequest request = MakeSubmitRequest(std::move(job));
  request.set_wait(true);
  WEFT_ASSIGN_OR_RETURN(auto response, connection_->Submit(request));
  return ResultOrError(std::move(*response.mutable_result()));
}

void Client::RunAsync(v1::Job job, ResultCallback done) const {
  v1::SubmitRequest request = MakeSubmitRequest(std::move(job));
  request.set_wait(true);
  connection_->SubmitAsync(request, ForResult<v1::SubmitResponse>(std::move(done)));
}

Job Client::FindJob(std::string id) const { return Job(connection_, std::move(id)); }

absl::StatusOr<Buffer> Client::CreateBuffer(const BufferOptions& options) const {
  v1::CreateBufferRequest request;
  request.set_name(options.name);
  request.set_data_type(options.data_type);
  request.mutable_shape()->Assign(options.shape.begin(), options.shape.end());
  request.set_device(options.device);
  WEFT_ASSIGN_OR_RETURN(auto response, connection_->CreateBuffer(request));
  return Buffer(connection_, std::move(*response.mutable_buffer()));
}

absl::StatusOr<Buffer> Client::OpenBuffer(absl::string_view name) const {
  v1::GetBufferRequest request;
  request.mutable_buffer()->set_name(name.data(), name.size());
  WEFT_ASSIGN_OR_RETURN(auto response, connection_->GetBuffer(request));
  return Buffer(connection_, std::move(*response.mutable_buffer()));
}

absl::StatusOr<PreparedGraph> Client::Prepare(v1::Job job) const {
  v1::PrepareRequest request;
  *request.mutable_job() = std::move(job);
  WEFT_ASSIGN_OR_RETURN(auto response, connection_->Prepare(request));
  return PreparedGraph(connection_, std::move(response));
}

absl::StatusOr<std::vector<v1::DeviceInfo>> Client::ListDevices() const {
  WEFT_ASSIGN_OR_RETURN(auto response, connection_->ListDevices({}));
  return std::vector<v1::DeviceInfo>(response.devices().begin(), response.devices().end());
}

absl::StatusOr<v1::ServerStatus> Client::GetStatus() const {
  WEFT_ASSIGN_OR_RETURN(auto response, connection_->GetStatus({}));
  return std::move(*response.mutable_status());
}

Job::Job(std::shared_ptr<Connection> connection, std::string id)
    : connection_(std::move(connection)), id_(std::move(id)) {}

absl::StatusOr<v1::JobResult> Job::Wait(absl::Duration timeout) const {
  v1::WaitRequest request;
  request.set_job_id(id_);
  if (timeout != absl::InfiniteDuration()) {
    // 0 on the wire means "no limit": a limit of less than a millisecond is one millisecond.
    request.set_timeout_ms(std::max<int64_t>(1, absl::ToInt64Milliseconds(timeout)));
  }
  WEFT_ASSIGN_OR_RETURN(auto response, connection_->Wait(request));
  return ResultOrError(std::move(*response.mutable_result()));
}

void Job::OnDone(ResultCallback done) const {
  v1::WaitRequest request;
  request.set_job_id(id_);
  connection_->WaitAsync(request, ForResult<v1::WaitResponse>(std::move(done)));
}

absl::Status Job::Watch(const StateCallback& on_state, const OutputCallback& on_output) const {
  v1::WatchRequest request;
  request.set_job_id(id_);
  return connection_->Watch(request, [&](const v1::WatchResponse& message) {
    if (!message.has_output()) return on_state(message.info());
    return on_output == nullptr ? WatchNext::kContinue : on_output(message.output());
  });
}

absl::Status Job::Cancel() const {
  v1::CancelRequest request;
  request.set_job_id(id_);
  return connection_->Cancel(request).status();
}

absl::StatusOr<v1::JobInfo> Job::Get() const {
  v1::GetJobRequest request;
  request.set_job_id(id_);
  WEFT_ASSIGN_OR_RETURN(auto response, connection_->GetJob(request));
  return std::move(*response.mutable_info());
}

Buffer::Buffer(std::shared_ptr<Connection> connection, v1::BufferInfo info)
    : connection_(std::move(connection)), info_(std::move(info)) {}

Buffer::Buffer(Buffer&& other) noexcept = default;

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this == &other) return *this;
  DeleteUnnamed();
  connection_ = std::move(other.connection_);
  info_ = std::move(other.info_);
  return *this;
}

Buffer::~Buffer() { DeleteUnnamed(); }

void Buffer::DeleteUnnamed() noexcept {
  if (connection_ == nullptr || !info_.name().empty()) return;
  if (absl::Status status = Delete(); !status.ok()) {
    log::Warning("unnamed buffer was not deleted",
                 {{"buffer", absl::StrCat("#", info_.id())}, {"error", status.ToString()}});
  }
}

std::string Buffer::reference() const {
  return info_.name().empty() ? absl::StrCat("#", info_.id()) : info_.name();
}

v1::BufferRef Buffer::Ref() const {
  v1::BufferRef ref;
  ref.set_id(info_.id());
  return ref;
}

absl::Status Buffer::Upload(std::span<const std::byte> bytes, uint64_t offset_bytes) const {
  if (connection_ == nullptr) return HandleGoneError("buffer");
  return connection_->Write(Ref(), offset_bytes, bytes).status();
}

absl::Status Buffer::Download(std::span<std::byte> bytes, uint64_t offset_bytes) const {
  if (connection_ == nullptr) return HandleGoneError("buffer");
  if (bytes.empty()) return absl::OkStatus();  // size 0 on the wire means "up to the end"
  v1::ReadBufferRequest request;
  *request.mutable_buffer() = Ref();
  request.set_offset_bytes(offset_bytes);
  request.set_size_bytes(bytes.size());
  size_t done = 0;
  WEFT_RETURN_IF_ERROR(connection_->Read(request, [&](absl::string_view chunk) {
    if (chunk.size() > bytes.size() - done) {
      return ReadSizeError(done + chunk.size(), bytes.size());
    }
    std::memcpy(bytes.data() + done, chunk.data(), chunk.size());
    done += chunk.size();
    return absl::OkStatus();
  }));
  return done == bytes.size() ? absl::OkStatus() : ReadSizeError(done, bytes.size());
}

absl::Status Buffer::Delete() {
  if (connection_ == nullptr) return HandleGoneError("buffer");
  v1::DeleteBufferRequest request;
  *request.mutable_buffer() = Ref();
  WEFT_RETURN_IF_ERROR(connection_->DeleteBuffer(request).status());
  connection_.reset();
  return absl::OkStatus();
}

PreparedGraph::PreparedGraph(std::shared_ptr<Connection> connection, v1::PrepareResponse prepared)
    : connection_(std::move(connection)), prepared_(std::move(prepared)) {}

PreparedGraph::PreparedGraph(PreparedGraph&& other) noexcept = default;

PreparedGraph& PreparedGraph::operator=(PreparedGraph&& other) noexcept {
  if (this == &other) return *this;
  ReleaseQuietly();
  connection_ = std::move(other.connection_);
  prepared_ = std::move(other.prepared_);
  return *this;
}

PreparedGraph::~PreparedGraph() { ReleaseQuietly(); }

void PreparedGraph::ReleaseQuietly() noexcept {
  if (connection_ == nullptr) return;
  if (absl::Status status = Release(); !status.ok()) {
    log::Warning("prepared graph was not released",
                 {{"graph", prepared_.graph_id()}, {"error", status.ToString()}});
  }
}

absl::StatusOr<v1::LaunchRequest> PreparedGraph::MakeRequest(const UploadBytes& uploads) const {
  if (connection_ == nullptr) return HandleGoneError("prepared graph");
  v1::LaunchRequest request;
  request.set_graph_id(prepared_.graph_id());
  request.set_request_id(NewRequestId());
  for (const auto& [node, bytes] : uploads) {
    v1::UploadData* upload = request.add_uploads();
    upload->set_node(node);
    upload->set_data(bytes.data(), bytes.size());
  }
  return request;
}

absl::StatusOr<v1::JobResult> PreparedGraph::Launch(const UploadBytes& uploads) const {
  WEFT_ASSIGN_OR_RETURN(v1::LaunchRequest request, MakeRequest(uploads));
  request.set_wait(true);
  WEFT_ASSIGN_OR_RETURN(auto response, connection_->Launch(request));
  return ResultOrError(std::move(*response.mutable_result()));
}

void PreparedGraph::LaunchAsync(const UploadBytes& uploads, ResultCallback done) const {
  absl::StatusOr<v1::LaunchRequest> request = MakeRequest(uploads);
  if (!request.ok()) return done(request.status());
  request->set_wait(true);
  connection_->LaunchAsync(*request, ForResult<v1::LaunchResponse>(std::move(done)));
}

absl::StatusOr<Job> PreparedGraph::Start(const UploadBytes& uploads) const {
  WEFT_ASSIGN_OR_RETURN(v1::LaunchRequest request, MakeRequest(uploads));
  WEFT_ASSIGN_OR_RETURN(auto response, connection_->Launch(request));
  return Job(connection_, response.job_id());
}

absl::Status PreparedGraph::Release() {
  if (connection_ == nullptr) return HandleGoneError("prepared graph");
  v1::ReleaseRequest request;
  request.set_graph_id(prepared_.graph_id());
  WEFT_RETURN_IF_ERROR(connection_->Release(request).status());
  connection_.reset();
  return absl::OkStatus();
}

absl::Status StatusOfJob(const v1::JobInfo& info) {
  switch (info.state()) {
    case v1::JOB_STATE_SUCCEEDED:
      return absl::OkStatus();
    case v1::JOB_STATE_FAILED:
    case v1::JOB_STATE_CANCELLED:
    case v1::JOB_STATE_DEADLINE_EXCEEDED:
    case v1::JOB_STATE_ABORTED:
      return JobEndedError(info);
    default:
      return JobNotEndedError(info);
  }
}

absl::StatusOr<const v1::JobOutput*> FindOutput(const v1::JobResult& result,
                                                absl::string_view name) {
  std::vector<std::string> present;
  for (const v1::JobOutput& output : result.outputs()) {
    if (output.name() == name) return &output;
    present.push_back(output.name());
  }
  return NoSuchOutputError(name, present);
}

}  // namespace weft::client
