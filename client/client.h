// The client library of Weft.
//
//   WEFT_ASSIGN_OR_RETURN(auto client, weft::client::Client::Connect());
//   weft::client::JobBuilder job("double");                          // job_builder.h
//   auto x = job.Upload("x", {4}, std::span<const float>(values));
//   auto y = job.Buffer("y", weft::v1::DATA_TYPE_F32, {4});
//   job.Kernel("scale").Arg("x", x).Arg("alpha", 2.0).Arg("y", y);
//   job.Download("result", y);
//   WEFT_ASSIGN_OR_RETURN(auto result, client.Run(job.proto()));
//   WEFT_ASSIGN_OR_RETURN(auto doubled, weft::client::OutputAs<float>(result, "result"));
//
// Every error is an absl::Status that says what to do. A job refused for what is in it is
// INVALID_ARGUMENT, with all its faults in weft::ViolationsOf(status).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/connection.h"
#include "weft/v1/buffer.pb.h"
#include "weft/v1/device.pb.h"
#include "weft/v1/job.pb.h"

namespace weft::client {

class Buffer;
class Job;
class PreparedGraph;

// Called once when a job has ended: its result, or why there is none (as Job::Wait).
using ResultCallback = std::function<void(absl::StatusOr<v1::JobResult>)>;

struct BufferOptions {
  std::string name;  // empty: unnamed, deleted with the Buffer and at the latest with the session
  v1::DataType data_type = v1::DATA_TYPE_U8;
  std::vector<int64_t> shape;  // elements by dimension, outermost first
  uint32_t device = 0;
};

// A session with a weftd.
//
// Ownership: a value; copies share one connection, which closes when the last Client, Job, Buffer
// and PreparedGraph made from it is gone and no callback is outstanding.
// Thread safety: every member may be called from any thread.
// Cost: Connect makes a socket; keep one Client for the life of the program. Each member is one RPC
// (about 0.1 ms on a local socket, plus the bytes), unless it says otherwise. Jobs are taken by
// value: move those with large uploads.
class Client {
 public:
  // Errors: UNAVAILABLE (no weftd there), PERMISSION_DENIED.
  static absl::StatusOr<Client> Connect(ConnectionOptions options = {});
  // REQUIRES: connection is not null. For mocks, and for options of one's own.
  explicit Client(std::shared_ptr<Connection> connection);

  // Accepts the job and returns at once. The request carries an id, by which a retry after a broken
  // connection finds the job of the first try, as long as weftd remembers it. A weftd that was
  // restarted in between, or that has dropped the ended job for newer ones (max_kept_jobs), runs it
  // again.
  absl::StatusOr<Job> Submit(v1::Job job) const;
  // Submits and waits in one RPC. An error unless the job SUCCEEDED (see Job::Wait).
  absl::StatusOr<v1::JobResult> Run(v1::Job job) const;
  // Run without blocking; no thread is kept for it. `done` is called exactly once, on a thread of
  // gRPC, and must not block.
  void RunAsync(v1::Job job, ResultCallback done) const;
  // A handle of a job that was submitted elsewhere. No RPC; a wrong id shows at the first use.
  Job FindJob(std::string id) const;

  // New memory, zeroed.
  absl::StatusOr<Buffer> CreateBuffer(const BufferOptions& options) const;
  // A buffer of the server, by name. NOT_FOUND.
  absl::StatusOr<Buffer> OpenBuffer(absl::string_view name) const;

  // Validates, plans and instantiates a job, to be launched many times.
  absl::StatusOr<PreparedGraph> Prepare(v1::Job job) const;

  absl::StatusOr<std::vector<v1::DeviceInfo>> ListDevices() const;
  absl::StatusOr<v1::ServerStatus> GetStatus() const;

  // For what this class has no word for.
  Connection& connection() const { return *connection_; }

 private:
  std::shared_ptr<Connection> connection_;
};

// A submitted job. A handle: dropping it neither waits nor cancels.
//
// Thread safety: every member may be called from any thread.
class Job {
 public:
  Job(std::shared_ptr<Connection> connection, std::string id);

  const std::string& id() const { return id_; }

  // Blocks until the job has ended. An error unless it SUCCEEDED: that of the job (StatusOfJob), or
  // that of the call. DEADLINE_EXCEEDED after `timeout`, which leaves the job as it is.
  absl::StatusOr<v1::JobResult> Wait(absl::Duration timeout = absl::InfiniteDuration()) const;
  // Wait without blocking; as RunAsync.
  void OnDone(ResultCallback done) const;
  // The state now and every change until the job has ended or a callback returns kStop; called on this
  // thread. Blocks meanwhile. `on_output`, where given, gets each output that is delivered while the
  // job runs (JobBuilder::HostOutput), those delivered already at once.
  using StateCallback = std::function<WatchNext(const v1::JobInfo&)>;
  using OutputCallback = std::function<WatchNext(const v1::JobOutput&)>;
  absl::Status Watch(const StateCallback& on_state,
                     const OutputCallback& on_output = nullptr) const;
  // A queued job ends as CANCELLED; a running one ends as it ends. FAILED_PRECONDITION when it has
  // ended already.
  absl::Status Cancel() const;
  absl::StatusOr<v1::JobInfo> Get() const;

 private:
  std::shared_ptr<Connection> connection_;
  std::string id_;
};

// Memory of the server. Move-only.
//
// Ownership: an unnamed buffer is deleted by the destructor (one RPC; a failure is logged). A named
// one stays until Delete, for others to open.
// Thread safety: Upload and Download from any thread; the server orders them with jobs that touch
// the same bytes. Moving, Delete and destruction need the buffer for themselves.
class Buffer {
 public:
  // REQUIRES: connection is not null; `info` is as the server gave it.
  Buffer(std::shared_ptr<Connection> connection, v1::BufferInfo info);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  const v1::BufferInfo& info() const { return info_; }
  uint64_t size_bytes() const { return info_.size_bytes(); }
  // How a job names it (BufferDecl.shared): its name, or "#<id>".
  std::string reference() const;

  // Copies into the buffer; blocks until the bytes are there. INVALID_ARGUMENT past the end.
  absl::Status Upload(std::span<const std::byte> bytes, uint64_t offset_bytes = 0) const;
  // Fills `bytes` from the buffer; blocks.
  absl::Status Download(std::span<std::byte> bytes, uint64_t offset_bytes = 0) const;

  // Deletes the buffer on the server. FAILED_PRECONDITION while jobs use it (it then stays usable).
  // A second call, or one on a moved-from buffer, is FAILED_PRECONDITION.
  absl::Status Delete();

 private:
  v1::BufferRef Ref() const;
  void DeleteUnnamed() noexcept;

  std::shared_ptr<Connection> connection_;  // null: moved from, or deleted
  v1::BufferInfo info_;
};

// New bytes for uploads of a prepared graph, by node name. The spans are read during the call only.
using UploadBytes = std::map<std::string, std::span<const std::byte>>;

// A job that the server has validated, planned and instantiated. Move-only; the destructor releases
// it (one RPC; a failure is logged). It ends with the connection: after the server was restarted or
// the connection broke, launches are NOT_FOUND, and the job has to be prepared again.
//
// Thread safety: launches from any thread (they run one after another); moving and destruction need
// it for themselves.
class PreparedGraph {
 public:
  PreparedGraph(std::shared_ptr<Connection> connection, v1::PrepareResponse prepared);
  PreparedGraph(PreparedGraph&& other) noexcept;
  PreparedGraph& operator=(PreparedGraph&& other) noexcept;
  PreparedGraph(const PreparedGraph&) = delete;
  PreparedGraph& operator=(const PreparedGraph&) = delete;
  ~PreparedGraph();

  const std::string& id() const { return prepared_.graph_id(); }
  // As `weft plan` prints it.
  const std::string& plan_text() const { return prepared_.plan_text(); }
  uint64_t scratch_bytes() const { return prepared_.scratch_bytes(); }

  // One run, as Client::Run, Client::RunAsync and Client::Submit. Uploads that are not named keep
  // the bytes of the job.
  absl::StatusOr<v1::JobResult> Launch(const UploadBytes& uploads = {}) const;
  void LaunchAsync(const UploadBytes& uploads, ResultCallback done) const;
  absl::StatusOr<Job> Start(const UploadBytes& uploads = {}) const;

  // Releases it on the server. FAILED_PRECONDITION while a launch has not ended (it then stays
  // usable), and when it was released or moved from.
  absl::Status Release();

 private:
  absl::StatusOr<v1::LaunchRequest> MakeRequest(const UploadBytes& uploads) const;
  void ReleaseQuietly() noexcept;

  std::shared_ptr<Connection> connection_;  // null: moved from, or released
  v1::PrepareResponse prepared_;
};

// OK when the job SUCCEEDED; otherwise the job's own error: its code (FAILED: the code of the
// cause; CANCELLED, DEADLINE_EXCEEDED, ABORTED), with job, node and cause in the text. A job that
// has not ended: FAILED_PRECONDITION.
absl::Status StatusOfJob(const v1::JobInfo& info);

// The output of that name. NOT_FOUND names those there are. The pointer lives as long as `result`.
absl::StatusOr<const v1::JobOutput*> FindOutput(const v1::JobResult& result,
                                                absl::string_view name);

// The elements of an output, row-major. INVALID_ARGUMENT when its bytes are not a whole number of
// T.
template <typename T>
absl::StatusOr<std::vector<T>> OutputAs(const v1::JobResult& result, absl::string_view name) {
  static_assert(std::is_trivially_copyable_v<T>);
  absl::StatusOr<const v1::JobOutput*> output = FindOutput(result, name);
  if (!output.ok()) return output.status();
  const std::string& data = (*output)->data();
  if (data.size() % sizeof(T) != 0) {
    return absl::InvalidArgumentError("the bytes of output \"" + (*output)->name() +
                                      "\" are not a whole number of elements of this type");
  }
  std::vector<T> elements(data.size() / sizeof(T));
  if (!elements.empty()) std::memcpy(elements.data(), data.data(), data.size());
  return elements;
}

}  // namespace weft::client
