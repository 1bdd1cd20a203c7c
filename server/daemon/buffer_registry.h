// The buffers of the server: names, owners, the descriptor of each one's memory, who uses it.
//
// A buffer's life:
//
//   Reserve ──▶ (executor allocates) ──▶ Commit ──▶ in use by jobs and transfers ──▶ Remove
//      │                                    │              (AddUses … ReleaseUses)
//      └──────────▶ Abandon ◀───────────────┘ session or executor gone meanwhile
//
// Removed buffers come out as RemovedBuffer, whose memory the caller has every executor free that
// has mapped it (its own device's, and those of jobs that copy from it or to it); until then their
// bytes count against the quota (ReleaseQuota). The descriptor kept here is what makes the memory
// outlive its executor.
//
// Thread safety: all members may be called from any thread; none calls out.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/ids.h"
#include "base/unique_fd.h"
#include "kernels/dtype.h"
#include "server/daemon/caller.h"

namespace weft::daemon {

struct BufferLimits {
  uint32_t max_buffers = 0;
  uint64_t max_device_bytes = 0;  // of each device's buffers; 0: 90 % of the device's memory
};

// What is asked for. REQUIRES: size_bytes > 0 and is shape × dtype.
struct BufferSpec {
  std::string name;  // empty: unnamed; ends with its session
  kernels::DType dtype = kernels::DType::kU8;
  std::vector<uint64_t> shape;
  uint64_t size_bytes = 0;
  uint32_t device = 0;
};

// A buffer at one moment. A value.
struct BufferSnapshot {
  BufferId id;
  BufferSpec spec;
  uid_t owner = 0;
  uint64_t address = 0;
  uint64_t allocated_bytes = 0;
  Generation generation{1};
  uint32_t uses = 0;  // jobs and transfers in flight
  absl::Time created;
};

// Memory that the executor holds for a committed buffer.
struct DeviceMemory {
  uint64_t address = 0;
  uint64_t allocated_bytes = 0;
  UniqueFd fd;
};

// A buffer that is gone from the registry, while its memory still lies on the device.
struct RemovedBuffer {
  BufferId id;
  uint32_t device = 0;
  uint64_t quota_bytes = 0;
  std::vector<uint32_t> peers;  // other devices whose executors may have mapped it
};

// A committed buffer's memory, to be mapped by an executor: a new one of its device, at its
// address, or one of another device, anywhere.
struct ImportEntry {
  BufferId id;
  uint32_t device = 0;  // whose memory it is
  uint64_t address = 0;
  uint64_t allocated_bytes = 0;
  std::shared_ptr<const UniqueFd> fd;  // stays open though the buffer may be deleted meanwhile
};

// A page of a listing: `items`, and the id behind which the next page starts (nullopt: the last).
struct BufferPage {
  std::vector<BufferSnapshot> items;
  std::optional<BufferId> next;
};

class BufferRegistry {
 public:
  explicit BufferRegistry(const BufferLimits& limits) : limits_(limits) {}

  // What quotas of a device are counted with. Called before the first buffer of the device.
  void SetDevice(uint32_t device, uint64_t total_memory_bytes, uint64_t granularity_bytes);

  // Takes name, place and quota for a buffer that is being allocated.
  // ALREADY_EXISTS, RESOURCE_EXHAUSTED.
  absl::StatusOr<BufferId> Reserve(const Caller& caller, BufferSpec spec);
  // Makes a reserved buffer visible. `epoch` is the device's from before the allocation:
  // UNAVAILABLE when the executor was replaced since (the memory is dropped, the reservation ends).
  absl::StatusOr<BufferSnapshot> Commit(BufferId id, DeviceMemory memory, uint64_t epoch);
  // Ends a reservation.
  void Abandon(BufferId id);

  // By name or "#<id>". NOT_FOUND, PERMISSION_DENIED.
  absl::StatusOr<BufferSnapshot> Find(const Caller& caller, absl::string_view reference) const;
  // Those that `caller` may use, by id, at most `limit` behind `after`.
  BufferPage List(const Caller& caller, BufferId after, uint32_t limit) const;

  // Counts one use of each; a buffer in use is not deleted. All or none: NOT_FOUND when one is
  // gone.
  absl::Status AddUses(absl::Span<const BufferId> ids);
  // Gives the uses back; returns the buffers that waited for it to be removed.
  std::vector<RemovedBuffer> ReleaseUses(absl::Span<const BufferId> ids);

  // NOT_FOUND, PERMISSION_DENIED, FAILED_PRECONDITION (in use).
  absl::StatusOr<RemovedBuffer> Remove(const Caller& caller, absl::string_view reference);
  // Removes the unnamed buffers of a session; those in use when their last use ends.
  std::vector<RemovedBuffer> EndSession(SessionId session);
  // The memory of a removed buffer is free on the device.
  void ReleaseQuota(const RemovedBuffer& removed);

  // Replacement of a device's executor: the epoch that ends with it, and all that the new one must
  // map.
  uint64_t Epoch(uint32_t device) const;
  std::vector<ImportEntry> BeginImport(uint32_t device);
  bool Contains(BufferId id) const;

  // The memory of a buffer for the executor of another device, `peer`. From now on the buffer's end
  // is that executor's affair too (RemovedBuffer::peers). NOT_FOUND when the buffer is gone.
  absl::StatusOr<ImportEntry> ImportForPeer(BufferId id, uint32_t peer);

  struct Totals {
    uint64_t count = 0;
    uint64_t allocated_bytes = 0;
    uint64_t limit_bytes = 0;  // of all devices
  };
  Totals totals() const;

 private:
  struct Record {
    BufferSnapshot info;
    SessionId session;
    std::shared_ptr<const UniqueFd> fd;
    uint64_t quota_bytes = 0;
    std::vector<uint32_t> peers;  // without duplicates
    enum class State { kReserved, kLive, kDoomed } state = State::kReserved;
  };
  struct Device {
    uint64_t limit_bytes = 0;
    uint64_t granularity_bytes = 1;
    uint64_t used_bytes = 0;
    uint64_t epoch = 1;
  };
  using Records = std::map<BufferId, Record>;

  absl::StatusOr<Records::const_iterator> FindLocked(const Caller& caller,
                                                     absl::string_view reference) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  RemovedBuffer EraseLocked(Records::const_iterator it) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const BufferLimits limits_;
  mutable absl::Mutex mutex_;
  Records records_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, BufferId> names_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint32_t, Device> devices_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_id_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace weft::daemon
