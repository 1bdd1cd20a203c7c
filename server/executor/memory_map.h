// The device memory of weftd's buffers, mapped in this executor, by weftd's tags.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/byte_range.h"
#include "base/unique_fd.h"
#include "cuda/context.h"
#include "cuda/stream.h"
#include "server/executor/device_region.h"

namespace weft::executor {

// New memory, as weftd hears of it. weftd keeps the descriptor: the memory outlives this process.
struct AllocatedMemory {
  CUdeviceptr address = 0;
  uint64_t size_bytes = 0;  // as the device gives it
  UniqueFd fd;
};

// Memory of an earlier executor.
struct ImportedMemory {
  int fd = -1;  // borrowed
  uint64_t size_bytes = 0;
  CUdeviceptr address = 0;
};

// Memory of another device.
struct PeerMemory {
  int fd = -1;  // borrowed
  uint64_t size_bytes = 0;
  int device = 0;  // whose it is
};

// Thread safety: all members may be called from any thread; driver calls are made outside the lock,
// so that a slow one stops nobody else. The context outlives it.
class MemoryMap {
 public:
  static absl::StatusOr<std::unique_ptr<MemoryMap>> Create(const cuda::Context& context);
  MemoryMap(const MemoryMap&) = delete;
  MemoryMap& operator=(const MemoryMap&) = delete;

  // New memory that reads as zeros. Blocks until it does.
  // Errors: ALREADY_EXISTS (tag), RESOURCE_EXHAUSTED, INVALID_ARGUMENT (size 0).
  absl::StatusOr<AllocatedMemory> Allocate(uint64_t tag, uint64_t size_bytes);

  // Errors: ALREADY_EXISTS (tag, or the address is taken), and what the driver says of the fd.
  absl::Status Import(uint64_t tag, const ImportedMemory& memory);

  // Makes memory of another device usable here, where the driver likes: no executor after this one
  // needs to have it at the same address. Does nothing when the tag is mapped, also from another
  // thread.
  // Errors: FAILED_PRECONDITION (this device cannot reach that one's memory), and what the driver
  // says of the fd.
  absl::Status MapPeer(uint64_t tag, const PeerMemory& memory);

  // Unmaps. REQUIRES: no launch in flight uses the memory (GraphStore::RetireUsersOf). NOT_FOUND.
  absl::Status Free(uint64_t tag);

  // Where the memory of `tag` lies. NOT_FOUND.
  absl::StatusOr<ByteRange> RangeOf(uint64_t tag) const;
  // True when one mapping holds all of `range`.
  bool Contains(const ByteRange& range) const;

 private:
  MemoryMap(const cuda::Context& context, cuda::Stream stream)
      : context_(context), zeroing_(std::move(stream)) {}
  absl::Status CheckFree(uint64_t tag) const;
  absl::Status CheckPeer(int device) const;
  absl::Status Insert(uint64_t tag, DeviceRegion region);
  absl::Status Zero(const DeviceRegion& region) const;

  const cuda::Context& context_;
  const cuda::Stream zeroing_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<uint64_t, DeviceRegion> regions_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, uint64_t> size_at_ ABSL_GUARDED_BY(mutex_);  // by address
};

}  // namespace weft::executor
