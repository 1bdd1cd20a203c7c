#include "cuda/host/virtual_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <utility>

#include "base/byte_range.h"
#include "cuda/host/host_pointer.h"

namespace weft::hostcuda {
namespace {

// Reserved pages: no access, no memory.
constexpr int kReservedFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
// Above this no process has user addresses (47 bits); keeps sums far from overflow.
constexpr uint64_t kMaxAddress = uint64_t{1} << 47;

bool IsGranular(uint64_t value) { return value % DeviceMemory::kGranularity == 0; }

int ProtectionOf(Access access) {
  switch (access) {
    case Access::kNone:
      return PROT_NONE;
    case Access::kRead:
      return PROT_READ;
    case Access::kReadWrite:
      return PROT_READ | PROT_WRITE;
  }
  return PROT_NONE;
}

// Reserves at exactly `address`; false when something is there.
bool ReserveAt(uint64_t address, uint64_t size) {
  void* got =
      ::mmap(HostPointer(address), size, PROT_NONE, kReservedFlags | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == MAP_FAILED) return false;
  if (got == HostPointer(address)) return true;
  ::munmap(got, size);  // a kernel that does not know MAP_FIXED_NOREPLACE
  return false;
}

// Reserves anywhere, aligned: takes more and gives the ends back.
uint64_t ReserveAnywhere(uint64_t size, uint64_t alignment) {
  const uint64_t taken = size + alignment;
  void* got = ::mmap(nullptr, taken, PROT_NONE, kReservedFlags, -1, 0);
  if (got == MAP_FAILED) return 0;
  const auto first = reinterpret_cast<uint64_t>(got);
  const uint64_t aligned = AlignUp(first, alignment);
  if (aligned > first) ::munmap(got, aligned - first);
  const uint64_t tail = first + taken - (aligned + size);
  if (tail > 0) ::munmap(HostPointer(aligned + size), tail);
  return aligned;
}

Access Widest(const std::map<int, Access>& by_device) {
  Access widest = Access::kNone;
  for (const auto& [device, access] : by_device) widest = std::max(widest, access);
  return widest;
}

}  // namespace

VirtualMemory::~VirtualMemory() {
  MutexLock lock(mu_);
  for (const auto& [base, reservation] : reservations_)
    ::munmap(HostPointer(base), reservation.size);
}

CUresult VirtualMemory::Reserve(uint64_t size, uint64_t alignment, uint64_t hint,
                                uint64_t* address) {
  if (alignment == 0) alignment = DeviceMemory::kGranularity;
  if (size == 0 || !IsGranular(size) || (alignment & (alignment - 1)) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  alignment = std::max(alignment, DeviceMemory::kGranularity);
  if (size > kMaxAddress || alignment > kMaxAddress) return CUDA_ERROR_OUT_OF_MEMORY;
  MutexLock lock(mu_);
  uint64_t base = 0;
  if (hint != 0 && hint % alignment == 0 && ReserveAt(hint, size)) base = hint;
  if (base == 0) base = ReserveAnywhere(size, alignment);
  if (base == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  reservations_[base] = Reservation{size, {}};
  regions_.AddReservation(base, size);
  *address = base;
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::Free(uint64_t address, uint64_t size) {
  MutexLock lock(mu_);
  const auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second.size != size ||
      !found->second.mappings.empty()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  regions_.RemoveReservation(address);
  reservations_.erase(found);
  return ::munmap(HostPointer(address), size) == 0 ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

VirtualMemory::Reservation* VirtualMemory::Holding(uint64_t address, uint64_t size) {
  auto it = reservations_.upper_bound(address);
  if (it == reservations_.begin()) return nullptr;
  --it;
  const ByteRange range{address - it->first, size};
  return range.within(it->second.size) ? &it->second : nullptr;
}

CUresult VirtualMemory::Map(uint64_t address, uint64_t size, std::shared_ptr<MemoryBlock> block) {
  if (size == 0 || !IsGranular(size) || !IsGranular(address) || size > block->size()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  MutexLock lock(mu_);
  Reservation* reservation = Holding(address, size);
  if (reservation == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const int fd = block->fd();
  Region region;
  region.base = address;
  region.size = size;
  region.kind = RegionKind::kMapping;
  region.access = Access::kNone;
  region.block = std::move(block);
  if (!regions_.Insert(std::move(region))) return CUDA_ERROR_INVALID_VALUE;  // mapped already
  if (::mmap(HostPointer(address), size, PROT_NONE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
    const int error = errno;
    regions_.Remove(address, RegionKind::kMapping);
    return error == ENOMEM ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_OPERATING_SYSTEM;
  }
  reservation->mappings[address] = {};
  return CUDA_SUCCESS;
}

bool VirtualMemory::HasMapping(const Reservation& reservation, uint64_t address,
                               uint64_t size) const {
  // The last mapping that begins before the range's end; a mapping lies wholly in its reservation.
  auto next = reservation.mappings.lower_bound(address + size);
  if (next == reservation.mappings.begin()) return false;
  const std::optional<Region> last = regions_.Find(std::prev(next)->first);
  return last.has_value() && last->base + last->size > address;
}

CUresult VirtualMemory::Unmap(uint64_t address, uint64_t size) {
  MutexLock lock(mu_);
  Reservation* reservation = Holding(address, size);
  if (reservation == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!HasMapping(*reservation, address, size))
    return CUDA_SUCCESS;  // as a GPU's driver (580) does
  const std::vector<Region> cover = regions_.Cover(address, size, RegionKind::kMapping);
  if (cover.empty()) return CUDA_ERROR_INVALID_VALUE;
  for (const Region& region : cover) {
    regions_.Remove(region.base, RegionKind::kMapping);
    reservation->mappings.erase(region.base);
  }
  void* reserved = ::mmap(HostPointer(address), size, PROT_NONE, kReservedFlags | MAP_FIXED, -1, 0);
  return reserved == MAP_FAILED ? CUDA_ERROR_UNMAP_FAILED : CUDA_SUCCESS;
}

CUresult VirtualMemory::SetAccess(uint64_t address, uint64_t size, int device, Access access) {
  MutexLock lock(mu_);
  Reservation* reservation = Holding(address, size);
  if (reservation == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::vector<Region> cover = regions_.Cover(address, size, RegionKind::kMapping);
  if (cover.empty()) return CUDA_ERROR_INVALID_VALUE;
  for (const Region& region : cover) {
    std::map<int, Access>& by_device = reservation->mappings[region.base];
    by_device[device] = access;
    const Access widest = Widest(by_device);
    if (::mprotect(HostPointer(region.base), region.size, ProtectionOf(widest)) != 0) {
      return CUDA_ERROR_OPERATING_SYSTEM;
    }
    regions_.SetAccess(region.base, widest);
  }
  return CUDA_SUCCESS;
}

}  // namespace weft::hostcuda
