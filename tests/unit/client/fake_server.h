// An in-process gRPC server on a Unix socket whose answers a test scripts: what the connection is
// tested against.
#pragma once

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "weft/v1/service.grpc.pb.h"

namespace weft::client {

// Accepts jobs the way weftd does: a request id that it knows is answered with the earlier job.
class FakeJobService final : public v1::JobService::Service {
 public:
  // The next `count` submissions are carried out, but their answers are lost (UNAVAILABLE).
  void LoseAnswers(int count);
  // The next submission is refused with this.
  void RefuseNext(grpc::Status status);
  // States that the next streams of Watch send before they break; the last stream ends well. A text
  // is an output of that name.
  using WatchMessage = std::variant<v1::JobState, std::string>;
  void SetWatchStreams(std::vector<std::vector<WatchMessage>> streams);

  int submissions() const;
  int jobs() const;

  grpc::Status Submit(grpc::ServerContext*, const v1::SubmitRequest* request,
                      v1::SubmitResponse* response) override;
  grpc::Status Wait(grpc::ServerContext*, const v1::WaitRequest* request,
                    v1::WaitResponse* response) override;
  grpc::Status Watch(grpc::ServerContext*, const v1::WatchRequest* request,
                     grpc::ServerWriter<v1::WatchResponse>* writer) override;

 private:
  mutable absl::Mutex mutex_;
  int answers_to_lose_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<grpc::Status> refusal_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::vector<WatchMessage>> watch_streams_ ABSL_GUARDED_BY(mutex_);
  int submissions_ ABSL_GUARDED_BY(mutex_) = 0;
  int jobs_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::string> job_by_request_ ABSL_GUARDED_BY(mutex_);
};

// One buffer of bytes.
class FakeBufferService final : public v1::BufferService::Service {
 public:
  std::string bytes() const;
  int writes() const;  // messages of Write

  grpc::Status Create(grpc::ServerContext*, const v1::CreateBufferRequest*,
                      v1::CreateBufferResponse*) override;
  grpc::Status Write(grpc::ServerContext*, grpc::ServerReader<v1::WriteBufferRequest>* reader,
                     v1::WriteBufferResponse* response) override;
  grpc::Status Read(grpc::ServerContext*, const v1::ReadBufferRequest* request,
                    grpc::ServerWriter<v1::ReadBufferResponse>* writer) override;

 private:
  mutable absl::Mutex mutex_;
  std::string bytes_ ABSL_GUARDED_BY(mutex_);
  int writes_ ABSL_GUARDED_BY(mutex_) = 0;
};

class FakeServer {
 public:
  explicit FakeServer(const std::string& socket);
  ~FakeServer();

  FakeJobService jobs;
  FakeBufferService buffers;

 private:
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace weft::client
