// Buffers together with their memory on the executors: what buffer_registry.h keeps, made and freed
// there; and the transfers of their bytes.
//
// Thread safety: all members may be called from any thread. Callbacks run on a thread of the
// executor's client, or on the calling one when nothing had to be asked.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/byte_range.h"
#include "base/ids.h"
#include "kernels/schema.h"
#include "server/daemon/buffer_registry.h"
#include "server/daemon/caller.h"
#include "server/daemon/executor_client.h"
#include "server/daemon/executor_directory.h"
#include "server/daemon/graph_cache.h"
#include "server/daemon/job_order.h"
#include "server/daemon/session_registry.h"

namespace weft::daemon {

class BufferTransfer;

class BufferManager {
 public:
  using Created = absl::AnyInvocable<void(absl::StatusOr<BufferSnapshot>) &&>;
  using DoneStatus = absl::AnyInvocable<void(absl::Status) &&>;

  // REQUIRES: the referenced objects outlive this.
  BufferManager(BufferRegistry& registry, const SessionRegistry& sessions,
                const ExecutorDirectory& executors, GraphCache& cache, JobOrder& order)
      : registry_(registry),
        sessions_(sessions),
        executors_(executors),
        cache_(cache),
        order_(order) {}

  void Create(const Caller& caller, BufferSpec spec, Created created);
  void Delete(const Caller& caller, absl::string_view reference, DoneStatus done);
  void EndSession(SessionId session);

  absl::Status AddUses(absl::Span<const BufferId> ids) { return registry_.AddUses(ids); }
  // Also frees buffers that waited for it.
  void ReleaseUses(absl::Span<const BufferId> ids);

  // A transfer of bytes of a buffer, with its place in the order between jobs. It starts with
  // BufferTransfer::Open. A size of 0 means up to the end of the buffer.
  // NOT_FOUND, PERMISSION_DENIED, INVALID_ARGUMENT (range).
  absl::StatusOr<std::shared_ptr<BufferTransfer>> Begin(const Caller& caller,
                                                        absl::string_view reference,
                                                        ByteRange range, kernels::Access access,
                                                        absl::AnyInvocable<void() &&> ready);

 private:
  friend class BufferTransfer;
  struct CreateCall;
  struct FreeCall;

  void Allocate(std::unique_ptr<CreateCall> call);
  void RetryAllocate(std::unique_ptr<CreateCall> call, const absl::Status& error);
  void OnAllocated(std::unique_ptr<CreateCall> call, absl::StatusOr<DeviceMemory> memory);
  void FreeMemory(const RemovedBuffer& removed, DoneStatus done);
  void OnFreed(FreeCall& call, const absl::Status& status);
  void FreeAll(const std::vector<RemovedBuffer>& removed);

  BufferRegistry& registry_;
  const SessionRegistry& sessions_;
  const ExecutorDirectory& executors_;
  GraphCache& cache_;
  JobOrder& order_;
};

// One transfer between Begin and its end. While it lives, the buffer is in use and conflicting jobs
// wait.
// Thread safety: one call at a time, except End; shared because the stream may end before the last
// reply of the executor comes.
class BufferTransfer {
 public:
  BufferTransfer(BufferManager& manager, BufferSnapshot buffer, ByteRange range)
      : manager_(manager), buffer_(std::move(buffer)), range_(range) {}
  ~BufferTransfer() { End(); }
  BufferTransfer(const BufferTransfer&) = delete;
  BufferTransfer& operator=(const BufferTransfer&) = delete;

  // Calls `ready` of Begin when nothing conflicts any more, perhaps before it returns.
  void Open() { manager_.order_.Open(unit_); }
  // Gives place and buffer back; a second call does nothing. REQUIRES: no Write or Read in
  // progress.
  void End();

  // Writes `bytes` behind those written before. INVALID_ARGUMENT when they reach beyond the range.
  void Write(std::string bytes, ExecutorClient::DoneStatus done);
  // Reads the next bytes, at most kMaxTransferBytes. REQUIRES: left() > 0.
  void Read(ExecutorClient::Done<std::string> done);

  uint64_t left() const { return range_.size - done_bytes_; }
  uint64_t done_bytes() const { return done_bytes_; }

 private:
  friend class BufferManager;
  BufferManager& manager_;
  const BufferSnapshot buffer_;
  const ByteRange range_;
  uint64_t done_bytes_ = 0;
  JobOrder::UnitId unit_;  // set by Begin
  std::atomic<bool> ended_{false};
};

}  // namespace weft::daemon
