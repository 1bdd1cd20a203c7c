#include "server/executor/memory_map.h"

#include <iterator>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "cuda/device_query.h"
#include "cuda/memory.h"
#include "cuda/status.h"
#include "server/executor/errors.h"

namespace weft::executor {

absl::StatusOr<std::unique_ptr<MemoryMap>> MemoryMap::Create(const cuda::Context& context) {
  WEFT_ASSIGN_OR_RETURN(cuda::Stream stream, cuda::Stream::Create(context, {}));
  return std::unique_ptr<MemoryMap>(new MemoryMap(context, std::move(stream)));
}

absl::Status MemoryMap::CheckFree(uint64_t tag) const {
  const absl::MutexLock lock(&mutex_);
  return regions_.contains(tag) ? TagInUseError(tag) : absl::OkStatus();
}

absl::Status MemoryMap::Insert(uint64_t tag, DeviceRegion region) {
  const ByteRange range = region.range();
  const absl::MutexLock lock(&mutex_);
  if (!regions_.try_emplace(tag, std::move(region)).second) return TagInUseError(tag);
  size_at_.emplace(range.offset, range.size);
  return absl::OkStatus();
}

absl::Status MemoryMap::Zero(const DeviceRegion& region) const {
  WEFT_RETURN_IF_ERROR(cuda::FillAsync(zeroing_.ref(), region.address(),
                                       {.value = 0, .element_size = 1}, region.size()));
  return zeroing_.ref().Synchronize();
}

absl::StatusOr<AllocatedMemory> MemoryMap::Allocate(uint64_t tag, uint64_t size_bytes) {
  WEFT_RETURN_IF_ERROR(CheckFree(tag));
  WEFT_ASSIGN_OR_RETURN(const cuda::Allocation allocation, CreateAllocation(context_, size_bytes));
  WEFT_ASSIGN_OR_RETURN(DeviceRegion region, DeviceRegion::Map(context_, allocation));
  WEFT_RETURN_IF_ERROR(Zero(region));
  AllocatedMemory allocated{.address = region.address(), .size_bytes = region.size()};
  WEFT_ASSIGN_OR_RETURN(allocated.fd, allocation.ExportFd());
  WEFT_RETURN_IF_ERROR(Insert(tag, std::move(region)));
  return allocated;
}

absl::Status MemoryMap::Import(uint64_t tag, const ImportedMemory& memory) {
  WEFT_RETURN_IF_ERROR(CheckFree(tag));
  WEFT_ASSIGN_OR_RETURN(const cuda::Allocation allocation,
                        cuda::Allocation::ImportFd(context_, memory.fd, memory.size_bytes));
  WEFT_ASSIGN_OR_RETURN(DeviceRegion region,
                        DeviceRegion::MapAt(context_, allocation, memory.address));
  return Insert(tag, std::move(region));
}

absl::Status MemoryMap::CheckPeer(int device) const {
  const int here = context_.device();
  const absl::StatusOr<bool> can = cuda::CanAccessPeer(context_.driver(), here, device);
  const bool is_told_no = can.ok() && !*can;
  if (is_told_no || cuda::ResultOf(can.status()) == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED) {
    return PeerAccessError(here, device);
  }
  return can.status();
}

absl::Status MemoryMap::MapPeer(uint64_t tag, const PeerMemory& memory) {
  if (!CheckFree(tag).ok()) return absl::OkStatus();
  WEFT_RETURN_IF_ERROR(CheckPeer(memory.device));
  WEFT_ASSIGN_OR_RETURN(const cuda::Allocation allocation,
                        cuda::Allocation::ImportFd(context_, memory.fd, memory.size_bytes));
  WEFT_ASSIGN_OR_RETURN(DeviceRegion region, DeviceRegion::Map(context_, allocation));
  const absl::Status inserted = Insert(tag, std::move(region));
  return absl::IsAlreadyExists(inserted) ? absl::OkStatus() : inserted;
}

absl::Status MemoryMap::Free(uint64_t tag) {
  std::optional<DeviceRegion> region;  // destroyed after the lock: unmapping is a driver call
  const absl::MutexLock lock(&mutex_);
  const auto it = regions_.find(tag);
  if (it == regions_.end()) return UnknownTagError(tag);
  size_at_.erase(it->second.address());
  region = std::move(it->second);
  regions_.erase(it);
  return absl::OkStatus();
}

absl::StatusOr<ByteRange> MemoryMap::RangeOf(uint64_t tag) const {
  const absl::MutexLock lock(&mutex_);
  const auto it = regions_.find(tag);
  if (it == regions_.end()) return UnknownTagError(tag);
  return it->second.range();
}

bool MemoryMap::Contains(const ByteRange& range) const {
  if (!range.valid()) return false;
  const absl::MutexLock lock(&mutex_);
  auto it = size_at_.upper_bound(range.offset);
  if (it == size_at_.begin()) return false;
  it = std::prev(it);
  return ByteRange{it->first, it->second}.contains(range);
}

}  // namespace weft::executor
