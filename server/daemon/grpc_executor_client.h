// ExecutorClient over what really connects weftd and an executor: the private gRPC service for
// requests, the ring for launches, the fd socket for descriptors, a memfd for bytes of transfers.
//
// The supervisor owns the connection's life: it feeds OnMessage with what comes over the fd socket,
// and calls MarkLost, once, when the process is gone.
//
// Thread safety: all members may be called from any thread, except OnMessage and MarkLost (the
// supervisor's thread).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/daemon/executor_client.h"
#include "server/daemon/fd_inbox.h"
#include "server/daemon/ring_launcher.h"
#include "server/daemon/transfer_area.h"
#include "transport/fd_socket.h"

namespace weft::daemon {

class GrpcExecutorClient final : public ExecutorClient,
                                 public std::enable_shared_from_this<GrpcExecutorClient> {
 public:
  // An executor that has said Hello and is ready.
  struct Connection {
    uint32_t device = 0;
    pid_t pid = 0;
    cuda::DeviceInfo info;
    std::shared_ptr<transport::FdSocket> socket;
    std::unique_ptr<transport::RingClient> ring;
    transport::SharedMemory transfer_memory;
    std::string grpc_socket;  // path
  };
  static std::shared_ptr<GrpcExecutorClient> Create(Connection connection);
  ~GrpcExecutorClient() override;

  // A message of the fd socket, from the executor's kReady on.
  void OnMessage(transport::FdMessage message);
  // The process is gone: answers everything in progress. Blocks until no callback of a launch runs.
  void MarkLost(absl::string_view what_happened);
  // After MarkLost: blocks until no call is in progress (the process being gone, they end at once),
  // then gives up the channel. Here, because gRPC must not end a channel on a thread of its own.
  void Retire();

  const cuda::DeviceInfo& device() const override { return connection_.info; }
  pid_t pid() const override { return connection_.pid; }
  absl::Status health() const override;
  void Allocate(BufferId buffer, uint64_t size_bytes, Done<DeviceMemory> done) override;
  void Import(const ImportEntry& entry, DoneStatus done) override;
  void MapPeer(const ImportEntry& entry, DoneStatus done) override;
  void Free(BufferId buffer, DoneStatus done) override;
  void Prepare(GraphId graph, const executor::v1::PrepareRequest& request,
               Done<PreparedGraph> done) override;
  void Release(GraphId graph, DoneStatus done) override;
  absl::Status Launch(GraphId graph, LaunchCalls calls) override;
  void GetLaunchReport(GraphId graph, Done<LaunchReport> done) override;
  void Write(uint64_t address, std::string bytes, DoneStatus done) override;
  void Read(uint64_t address, uint64_t size_bytes, Done<std::string> done) override;
  void GetMemory(Done<DeviceMemoryUse> done) override;

 private:
  struct Stub;  // keeps gRPC out of this header
  using Failed = absl::AnyInvocable<void(const absl::Status&) &&>;
  enum class Direction { kToDevice, kFromDevice };
  enum class Failure { kAny, kExecutorEnds };

  explicit GrpcExecutorClient(Connection connection);
  // Calls `failed` with `status`; when that says that the executor cannot be reached, only once it
  // is known to be lost, and why.
  void Fail(absl::Status status, Failure failure, Failed failed);
  // Sends the descriptor that a call for its memory is about to name.
  absl::Status SendMemory(const ImportEntry& entry);
  absl::Status BeginCall();  // the health; a call has begun when it is OK
  void EndCall();
  void TransferSlot(Direction direction, uint64_t address, uint64_t size_bytes, uint32_t slot,
                    DoneStatus done);

  Connection connection_;
  std::unique_ptr<Stub> stub_;
  FdInbox inbox_;
  TransferArea transfer_;
  RingLauncher launcher_;
  mutable absl::Mutex mutex_;
  absl::Status health_ ABSL_GUARDED_BY(mutex_);
  std::vector<Failed> parked_ ABSL_GUARDED_BY(mutex_);  // failures that wait for the cause
  uint64_t calls_ ABSL_GUARDED_BY(mutex_) = 0;          // in progress
  absl::CondVar no_calls_;
  // Of the supervisor's thread: the executor's last word.
  GraphId fault_graph_;
  std::shared_ptr<const LaunchReport> fault_;
};

}  // namespace weft::daemon
