#include "tests/unit/client/fake_server.h"

#include <grpcpp/security/server_credentials.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"

namespace weft::client {
namespace {

grpc::Status Lost() { return {grpc::StatusCode::UNAVAILABLE, "the answer was lost"}; }

}  // namespace

void FakeJobService::LoseAnswers(int count) {
  const absl::MutexLock lock(&mutex_);
  answers_to_lose_ = count;
}

void FakeJobService::RefuseNext(grpc::Status status) {
  const absl::MutexLock lock(&mutex_);
  refusal_ = std::make_unique<grpc::Status>(std::move(status));
}

void FakeJobService::SetWatchStreams(std::vector<std::vector<WatchMessage>> streams) {
  const absl::MutexLock lock(&mutex_);
  watch_streams_ = std::move(streams);
}

int FakeJobService::submissions() const {
  const absl::MutexLock lock(&mutex_);
  return submissions_;
}

int FakeJobService::jobs() const {
  const absl::MutexLock lock(&mutex_);
  return jobs_;
}

grpc::Status FakeJobService::Submit(grpc::ServerContext*, const v1::SubmitRequest* request,
                                    v1::SubmitResponse* response) {
  const absl::MutexLock lock(&mutex_);
  ++submissions_;
  if (refusal_ != nullptr) return *std::exchange(refusal_, nullptr);
  std::string& id = job_by_request_[request->request_id()];
  if (id.empty() || request->request_id().empty()) id = absl::StrCat(++jobs_);
  response->set_job_id(id);
  response->mutable_result()->mutable_info()->set_id(id);
  response->mutable_result()->mutable_info()->set_state(v1::JOB_STATE_SUCCEEDED);
  if (answers_to_lose_ == 0) return grpc::Status::OK;
  --answers_to_lose_;
  return Lost();
}

grpc::Status FakeJobService::Wait(grpc::ServerContext*, const v1::WaitRequest* request,
                                  v1::WaitResponse* response) {
  response->mutable_result()->mutable_info()->set_id(request->job_id());
  response->mutable_result()->mutable_info()->set_state(v1::JOB_STATE_SUCCEEDED);
  return grpc::Status::OK;
}

grpc::Status FakeJobService::Watch(grpc::ServerContext*, const v1::WatchRequest* request,
                                   grpc::ServerWriter<v1::WatchResponse>* writer) {
  const absl::MutexLock lock(&mutex_);
  if (watch_streams_.empty()) return {grpc::StatusCode::NOT_FOUND, "no such job"};
  for (const WatchMessage& message : watch_streams_.front()) {
    v1::WatchResponse response;
    if (const auto* output = std::get_if<std::string>(&message)) {
      response.mutable_output()->set_name(*output);
    } else {
      response.mutable_info()->set_id(request->job_id());
      response.mutable_info()->set_state(std::get<v1::JobState>(message));
    }
    writer->Write(response);
  }
  watch_streams_.erase(watch_streams_.begin());
  return watch_streams_.empty() ? grpc::Status::OK : Lost();
}

std::string FakeBufferService::bytes() const {
  const absl::MutexLock lock(&mutex_);
  return bytes_;
}

int FakeBufferService::writes() const {
  const absl::MutexLock lock(&mutex_);
  return writes_;
}

grpc::Status FakeBufferService::Create(grpc::ServerContext*, const v1::CreateBufferRequest*,
                                       v1::CreateBufferResponse*) {
  return Lost();
}

grpc::Status FakeBufferService::Write(grpc::ServerContext*,
                                      grpc::ServerReader<v1::WriteBufferRequest>* reader,
                                      v1::WriteBufferResponse* response) {
  const absl::MutexLock lock(&mutex_);
  v1::WriteBufferRequest request;
  while (reader->Read(&request)) {
    if (request.has_buffer() != (writes_ == 0)) {
      return {grpc::StatusCode::INVALID_ARGUMENT, "only the first message names the buffer"};
    }
    ++writes_;
    bytes_.resize(std::max<size_t>(bytes_.size(), request.offset_bytes()));
    bytes_.append(request.data());
  }
  response->set_written_bytes(bytes_.size());
  return grpc::Status::OK;
}

grpc::Status FakeBufferService::Read(grpc::ServerContext*, const v1::ReadBufferRequest* request,
                                     grpc::ServerWriter<v1::ReadBufferResponse>* writer) {
  const absl::MutexLock lock(&mutex_);
  v1::ReadBufferResponse response;
  for (uint64_t i = request->offset_bytes(); i < bytes_.size(); ++i) {
    response.set_data(bytes_.substr(i, 1));
    if (!writer->Write(response)) break;
  }
  return grpc::Status::OK;
}

FakeServer::FakeServer(const std::string& socket) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
  builder.RegisterService(&jobs);
  builder.RegisterService(&buffers);
  server_ = builder.BuildAndStart();
}

FakeServer::~FakeServer() {
  if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
}

}  // namespace weft::client
