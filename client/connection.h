// What a Client needs of a server: one function for each RPC of weft/v1/service.proto. Programs
// talk to Client (client.h); tests of such programs put a mock in its place (mock_connection.h).
//
// Errors are the server's status codes, with the field violations of INVALID_ARGUMENT attached
// (weft::ViolationsOf in base/error_context.h). UNAVAILABLE says what to do about it.
//
// Thread safety: every member may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "weft/v1/service.pb.h"

namespace weft {
class Clock;
}  // namespace weft

namespace weft::client {

// When a call is tried again: only after UNAVAILABLE (the server is starting, draining or its
// executor restarts, or the connection broke), and only calls that are safe to repeat — those that
// carry a request id, those that change nothing, and those whose repetition has no second effect.
struct RetryOptions {
  absl::Duration initial_backoff = absl::Milliseconds(20);  // before the second try; then doubled
  absl::Duration max_backoff = absl::Seconds(1);
  // From the first try on; no try starts later than this. Zero: never retry.
  absl::Duration total = absl::Seconds(10);
};

struct ConnectionOptions {
  // Path of weftd's Unix socket. Empty: DefaultSocket() of socket_path.h.
  std::string socket;
  RetryOptions retry;
  // Limit for one try of a call that does not wait for a job. Calls that wait have none of their
  // own.
  absl::Duration call_timeout = absl::Seconds(60);
  // How long the thread of a call that blocks spins at most before it sleeps. A spinning one has its
  // answer sooner, by what it takes to wake a thread; how long pays is learnt from the last calls, and
  // calls that last longer than this soon spin no more. Zero: never. On fewer than 4 processors no
  // call spins.
  absl::Duration spin = absl::Microseconds(500);
  // Bytes of one message of Write.
  size_t chunk_bytes = 1 << 20;
  // nullptr: the system's.
  const Clock* clock = nullptr;
};

enum class WatchNext { kContinue, kStop };

class Connection {
 public:
  template <typename Response>
  using Callback = std::function<void(absl::StatusOr<Response>)>;
  // Called for each message of a watch (a state of the job, or an output that is delivered while it
  // runs), in order, on the thread that called Watch.
  using WatchCallback = std::function<WatchNext(const v1::WatchResponse&)>;
  // Called for each piece of a buffer, in order, on the thread that called Read. An error ends the
  // call with it.
  using ChunkCallback = std::function<absl::Status(absl::string_view)>;

  virtual ~Connection() = default;

  // JobService. Submit with `wait` and Wait block until the job has ended. A request without
  // request id is not retried.
  virtual absl::StatusOr<v1::SubmitResponse> Submit(const v1::SubmitRequest& request) = 0;
  virtual absl::StatusOr<v1::WaitResponse> Wait(const v1::WaitRequest& request) = 0;
  virtual absl::StatusOr<v1::GetJobResponse> GetJob(const v1::GetJobRequest& request) = 0;
  virtual absl::StatusOr<v1::ListJobsResponse> ListJobs(const v1::ListJobsRequest& request) = 0;
  virtual absl::StatusOr<v1::CancelResponse> Cancel(const v1::CancelRequest& request) = 0;
  // Blocks until the last state was delivered or the callback says kStop (both OK). After a broken
  // connection goes on without repeating a state or an output.
  virtual absl::Status Watch(const v1::WatchRequest& request, const WatchCallback& on_message) = 0;

  // The same without blocking: `done` is called exactly once, on a thread of gRPC, and must not
  // block. The connection lives on until then, even when its owners are gone.
  virtual void SubmitAsync(const v1::SubmitRequest& request, Callback<v1::SubmitResponse> done) = 0;
  virtual void WaitAsync(const v1::WaitRequest& request, Callback<v1::WaitResponse> done) = 0;

  // BufferService. CreateBuffer and Write are not retried.
  virtual absl::StatusOr<v1::CreateBufferResponse> CreateBuffer(
      const v1::CreateBufferRequest& request) = 0;
  virtual absl::StatusOr<v1::GetBufferResponse> GetBuffer(const v1::GetBufferRequest& request) = 0;
  virtual absl::StatusOr<v1::ListBuffersResponse> ListBuffers(
      const v1::ListBuffersRequest& request) = 0;
  virtual absl::StatusOr<v1::DeleteBufferResponse> DeleteBuffer(
      const v1::DeleteBufferRequest& request) = 0;
  // Sends `bytes` in chunks; returns when all are in the buffer.
  virtual absl::StatusOr<v1::WriteBufferResponse> Write(const v1::BufferRef& buffer,
                                                        uint64_t offset_bytes,
                                                        std::span<const std::byte> bytes) = 0;
  virtual absl::Status Read(const v1::ReadBufferRequest& request,
                            const ChunkCallback& on_chunk) = 0;

  // GraphService. Launch as Submit.
  virtual absl::StatusOr<v1::PrepareResponse> Prepare(const v1::PrepareRequest& request) = 0;
  virtual absl::StatusOr<v1::LaunchResponse> Launch(const v1::LaunchRequest& request) = 0;
  virtual void LaunchAsync(const v1::LaunchRequest& request, Callback<v1::LaunchResponse> done) = 0;
  virtual absl::StatusOr<v1::ReleaseResponse> Release(const v1::ReleaseRequest& request) = 0;

  // DeviceService.
  virtual absl::StatusOr<v1::ListDevicesResponse> ListDevices(
      const v1::ListDevicesRequest& request) = 0;
  virtual absl::StatusOr<v1::ListKernelsResponse> ListKernels(
      const v1::ListKernelsRequest& request) = 0;
  virtual absl::StatusOr<v1::GetStatusResponse> GetStatus(const v1::GetStatusRequest& request) = 0;
};

// A connection over gRPC. It is a session of its own: what the server ties to a connection
// (unnamed buffers, prepared graphs) ends with it, also when the connection breaks; calls after
// that connect anew by themselves.
//
// Blocks for one connect(2). UNAVAILABLE when no weftd listens at the socket, PERMISSION_DENIED
// when it may not be opened; both say what to do. Cost: a socket, and gRPC's threads once a
// process.
absl::StatusOr<std::shared_ptr<Connection>> ConnectOverGrpc(ConnectionOptions options);

// A text that no other submission has: 128 random bits as 32 hexadecimal digits.
std::string NewRequestId();

}  // namespace weft::client
