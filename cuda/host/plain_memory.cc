#include "cuda/host/plain_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/byte_range.h"
#include "base/unique_fd.h"
#include "cuda/host/host_pointer.h"

namespace weft::hostcuda {
namespace {

constexpr uint64_t kPage = 4096;
// Larger than any address range; keeps the rounding up to pages from overflowing.
constexpr uint64_t kMaxSize = uint64_t{1} << 47;
constexpr uint64_t kIpcMagic = 0x31435049'54464557;  // "WEFTIPC1"

// What lies in a CUipcMemHandle. It comes from another process: nothing in it is believed before
// the file that it leads to turns out to be the one it names.
struct IpcPayload {
  uint64_t magic;
  uint64_t device;  // of the file system
  uint64_t inode;
  int32_t pid;
  int32_t fd;
};
static_assert(sizeof(IpcPayload) <= sizeof(CUipcMemHandle));

uint64_t Address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

}  // namespace

CUresult PlainMemory::MapBlock(Region region, uint64_t* address) {
  const uint64_t mapped = AlignUp(region.size, kPage);
  void* at = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, region.block->fd(), 0);
  if (at == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  region.base = Address(at);
  if (!regions_.Insert(std::move(region))) {
    // The kernel's choice overlaps a range that the user registered and then unmapped.
    ::munmap(at, mapped);
    return CUDA_ERROR_OPERATING_SYSTEM;
  }
  *address = Address(at);
  return CUDA_SUCCESS;
}

CUresult PlainMemory::Allocate(int device, uint64_t size, const void* owner, uint64_t* address) {
  if (size == 0) return CUDA_ERROR_INVALID_VALUE;
  if (size > kMaxSize) return CUDA_ERROR_OUT_OF_MEMORY;
  Region region;
  region.size = size;
  region.kind = RegionKind::kDevice;
  region.owner = owner;
  const CUresult result = memory_.Allocate(device, AlignUp(size, kPage), &region.block);
  return result != CUDA_SUCCESS ? result : MapBlock(std::move(region), address);
}

CUresult PlainMemory::Free(uint64_t address) {
  std::optional<Region> region = regions_.Remove(address, RegionKind::kDevice);
  if (!region.has_value()) region = regions_.Remove(address, RegionKind::kManaged);
  if (!region.has_value()) return CUDA_ERROR_INVALID_VALUE;
  ::munmap(HostPointer(address), AlignUp(region->size, kPage));
  return CUDA_SUCCESS;
}

CUresult PlainMemory::AllocateManaged(uint64_t size, const void* owner, uint64_t* address) {
  void* pointer = nullptr;
  const CUresult result = MapAnonymous(RegionKind::kManaged, size, owner, &pointer);
  if (result == CUDA_SUCCESS) *address = Address(pointer);
  return result;
}

CUresult PlainMemory::HostAllocate(uint64_t size, const void* owner, void** pointer) {
  return MapAnonymous(RegionKind::kHostAllocated, size, owner, pointer);
}

CUresult PlainMemory::MapAnonymous(RegionKind kind, uint64_t size, const void* owner,
                                   void** pointer) {
  if (size == 0) return CUDA_ERROR_INVALID_VALUE;
  if (size > kMaxSize) return CUDA_ERROR_OUT_OF_MEMORY;
  const uint64_t mapped = AlignUp(size, kPage);
  void* at = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  Region region;
  region.base = Address(at);
  region.size = size;
  region.kind = kind;
  region.owner = owner;
  if (!regions_.Insert(std::move(region))) {
    ::munmap(at, mapped);
    return CUDA_ERROR_OPERATING_SYSTEM;
  }
  *pointer = at;
  return CUDA_SUCCESS;
}

CUresult PlainMemory::HostFree(void* pointer) {
  const std::optional<Region> region =
      regions_.Remove(Address(pointer), RegionKind::kHostAllocated);
  if (!region.has_value()) return CUDA_ERROR_INVALID_VALUE;
  ::munmap(pointer, AlignUp(region->size, kPage));
  return CUDA_SUCCESS;
}

CUresult PlainMemory::HostRegister(void* pointer, uint64_t size, const void* owner) {
  const ByteRange range{Address(pointer), size};
  if (pointer == nullptr || size == 0 || !range.valid()) return CUDA_ERROR_INVALID_VALUE;
  Region region;
  region.base = range.offset;
  region.size = size;
  region.kind = RegionKind::kHostRegistered;
  region.owner = owner;
  if (regions_.Check(range.offset, 1, Access::kNone) == RangeState::kDevice) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!IsMappedHostMemory(range.offset, size)) return CUDA_ERROR_INVALID_VALUE;
  return regions_.Insert(std::move(region)) ? CUDA_SUCCESS
                                            : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}

CUresult PlainMemory::HostUnregister(void* pointer) {
  return regions_.Remove(Address(pointer), RegionKind::kHostRegistered).has_value()
             ? CUDA_SUCCESS
             : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

CUresult PlainMemory::IpcGet(uint64_t address, CUipcMemHandle* handle) const {
  const std::optional<Region> region = regions_.Find(address);
  if (!region.has_value() || region->kind != RegionKind::kDevice || region->base != address) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  IpcPayload payload{};
  payload.magic = kIpcMagic;
  payload.device = region->block->file_id().first;
  payload.inode = region->block->file_id().second;
  payload.pid = ::getpid();
  payload.fd = region->block->fd();
  std::memset(handle, 0, sizeof(*handle));
  std::memcpy(handle, &payload, sizeof(payload));
  return CUDA_SUCCESS;
}

CUresult PlainMemory::IpcOpen(const CUipcMemHandle& handle, const void* owner, uint64_t* address) {
  IpcPayload payload;
  std::memcpy(&payload, &handle, sizeof(payload));
  if (payload.magic != kIpcMagic || payload.pid <= 0 || payload.fd < 0) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (payload.pid == ::getpid()) return CUDA_ERROR_INVALID_CONTEXT;  // as a GPU's driver does
  const std::string path = absl::StrCat("/proc/", payload.pid, "/fd/", payload.fd);
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) return CUDA_ERROR_INVALID_HANDLE;
  Region region;
  if (memory_.Import(fd.get(), &region.block) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_HANDLE;
  const MemoryBlock::FileId file = region.block->file_id();
  if (file != MemoryBlock::FileId{payload.device, payload.inode}) return CUDA_ERROR_INVALID_HANDLE;
  if (const std::optional<uint64_t> open = regions_.OpenAgain(file)) {
    *address = *open;
    return CUDA_SUCCESS;
  }
  region.size = region.block->size();
  region.kind = RegionKind::kIpc;
  region.owner = owner;
  return MapBlock(std::move(region), address);
}

CUresult PlainMemory::IpcClose(uint64_t address) {
  Region last;
  switch (regions_.CloseOnce(address, &last)) {
    case RegionMap::Closed::kNotOpen:
      return CUDA_ERROR_INVALID_VALUE;
    case RegionMap::Closed::kStillOpen:
      return CUDA_SUCCESS;
    case RegionMap::Closed::kLast:
      break;
  }
  ::munmap(HostPointer(address), AlignUp(last.size, kPage));
  return CUDA_SUCCESS;
}

void PlainMemory::ReleaseOwnedBy(const void* owner) {
  for (const Region& region : regions_.RemoveOwnedBy(owner)) {
    switch (region.kind) {
      case RegionKind::kDevice:
      case RegionKind::kManaged:
      case RegionKind::kIpc:
      case RegionKind::kHostAllocated:
        ::munmap(HostPointer(region.base), AlignUp(region.size, kPage));
        break;
      case RegionKind::kMapping:         // ends with its reservation, not with a context
      case RegionKind::kHostRegistered:  // the caller's
      case RegionKind::kModuleGlobal:    // the module's
        break;
    }
  }
}

}  // namespace weft::hostcuda
