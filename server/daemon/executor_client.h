// What weftd asks of one executor: memory, prepared graphs, launches, transfers. One object is one
// executor process; when that process is lost, the object stays lost and another takes its place.
// GrpcExecutorClient speaks to a real executor; tests have FakeExecutorClient.
//
// Every call is asynchronous. `done` is called exactly once, never from within the call itself, on
// a thread of the client; it must not block. When the executor is lost, every call in progress and
// every later one answers UNAVAILABLE (errors.h, ExecutorLostError).
//
// Thread safety: all members may be called from any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "base/unique_fd.h"
#include "cuda/device_info.h"
#include "server/daemon/buffer_registry.h"
#include "server/daemon/job_table.h"
#include "transport/shared_memory.h"

namespace weft::executor::v1 {
class PrepareRequest;
}

namespace weft::daemon {

// A graph that an executor holds ready. Its staging area is shared with the executor: inline bytes
// go in before a launch, outputs come out after it.
struct PreparedGraph {
  transport::SharedMemory staging;  // empty: the graph has neither uploads nor downloads
};

// What the executor knows of a graph's last launch.
struct LaunchReport {
  absl::Status status;
  std::string error_node;
  std::vector<NodeTime> timeline;
};

// The end of one launch.
struct LaunchResult {
  // The job's own error when not kOk; GetLaunchReport says more.
  absl::StatusCode code = absl::StatusCode::kOk;
  // The executor was lost before the launch had ended.
  bool executor_lost = false;
  // Set when this launch is what the executor was lost by: what it said of it last.
  std::shared_ptr<const LaunchReport> report;
};

struct DeviceMemoryUse {
  uint64_t free_bytes = 0;
  uint64_t total_bytes = 0;
};

class ExecutorClient {
 public:
  template <typename T>
  using Done = absl::AnyInvocable<void(absl::StatusOr<T>) &&>;
  using DoneStatus = absl::AnyInvocable<void(absl::Status) &&>;
  using LaunchDone = absl::AnyInvocable<void(const LaunchResult&) &&>;
  using LaunchNotice = std::function<void()>;
  struct LaunchCalls {
    LaunchDone done;
    // Called on the thread that calls `done`, any number of times before it, when outputs of some
    // launch in flight have become ready. Null for a launch that has none to deliver before its end.
    std::shared_ptr<const LaunchNotice> on_notice = nullptr;
  };

  virtual ~ExecutorClient() = default;

  virtual const cuda::DeviceInfo& device() const = 0;
  virtual pid_t pid() const = 0;
  // OK while the executor lives; else why it was lost.
  virtual absl::Status health() const = 0;

  // New device memory that reads as zeros.
  virtual void Allocate(BufferId buffer, uint64_t size_bytes, Done<DeviceMemory> done) = 0;
  // Maps memory of an earlier executor at its old address.
  virtual void Import(const ImportEntry& entry, DoneStatus done) = 0;
  // Maps memory of another device; does nothing when it is mapped. FAILED_PRECONDITION: the device
  // cannot reach it.
  virtual void MapPeer(const ImportEntry& entry, DoneStatus done) = 0;
  // Unmaps what Allocate, Import or MapPeer mapped. NOT_FOUND.
  virtual void Free(BufferId buffer, DoneStatus done) = 0;

  // Builds the graph of `request` (whose graph_id is ignored) as `graph`.
  virtual void Prepare(GraphId graph, const executor::v1::PrepareRequest& request,
                       Done<PreparedGraph> done) = 0;
  virtual void Release(GraphId graph, DoneStatus done) = 0;

  // Launches a prepared graph that has no launch in flight. Not OK: nothing was launched, and
  // `calls` are dropped without a call.
  virtual absl::Status Launch(GraphId graph, LaunchCalls calls) = 0;
  // REQUIRES: the last launch of `graph` has ended, and no other was made since.
  virtual void GetLaunchReport(GraphId graph, Done<LaunchReport> done) = 0;

  // Copies between host and device, at most kMaxTransferBytes at a time.
  virtual void Write(uint64_t address, std::string bytes, DoneStatus done) = 0;
  virtual void Read(uint64_t address, uint64_t size_bytes, Done<std::string> done) = 0;

  virtual void GetMemory(Done<DeviceMemoryUse> done) = 0;
};

// One chunk of a transfer: as much as the API advises for one message of a stream.
inline constexpr uint64_t kMaxTransferBytes = 1 << 20;

}  // namespace weft::daemon
