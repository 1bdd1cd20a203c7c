// The ranges of addresses that the driver knows: what a copy, a fill or a wait on a value may touch.
// A device address is an address of this process, so kernels use it as it is; copies and fills are
// checked here first, and a wrong address is an error of the call and not a crash of the process.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "cuda/host/cuda_api.h"
#include "cuda/host/device_memory.h"
#include "cuda/host/mutex.h"

namespace weft::hostcuda {

enum class RegionKind : uint8_t {
  kDevice,          // cuMemAlloc
  kManaged,         // cuMemAllocManaged
  kMapping,         // cuMemMap
  kIpc,             // cuIpcOpenMemHandle
  kHostAllocated,   // cuMemHostAlloc
  kHostRegistered,  // cuMemHostRegister
  kModuleGlobal,    // a symbol of a module
};

// What may be done with a range; the values are those of CUmemAccess_flags.
enum class Access : uint8_t { kNone = 0, kRead = 1, kReadWrite = 3 };

struct Region {
  uint64_t base = 0;
  uint64_t size = 0;
  RegionKind kind = RegionKind::kDevice;
  Access access = Access::kReadWrite;
  const void* owner = nullptr;         // the context that it ends with; null: none
  std::shared_ptr<MemoryBlock> block;  // null: host memory, or managed
  uint32_t opened = 1;                 // kIpc: times that it was opened

  bool on_device() const {
    return kind != RegionKind::kHostAllocated && kind != RegionKind::kHostRegistered;
  }
};

// What is known of a range of addresses.
enum class RangeState {
  kUnknown,  // no byte of it is the driver's: host memory, or nothing
  kInvalid,  // begins in a region or a reservation, but is not wholly inside or not accessible
  kDevice,   // wholly inside accessible device memory
  kHost,     // wholly inside page-locked host memory
};

// Regions do not overlap. Thread safety: all members may be called from any thread.
class RegionMap {
 public:
  // False when the region overlaps a known one.
  bool Insert(Region region);
  // The region that begins at `base` and is of this kind, taken out; nothing when there is none.
  std::optional<Region> Remove(uint64_t base, RegionKind kind);
  // All regions that end with `owner`, taken out.
  std::vector<Region> RemoveOwnedBy(const void* owner);
  // A copy of the region that holds `address`.
  std::optional<Region> Find(uint64_t address) const;
  // The regions that make up exactly [base, base + size); empty when none do.
  std::vector<Region> Cover(uint64_t base, uint64_t size, RegionKind kind) const;
  // REQUIRES: a region begins at `base`.
  void SetAccess(uint64_t base, Access access);

  // Opened-counts of kIpc regions: the one that maps this file, opened once more; and the opposite,
  // which takes the region out when its last opening ends.
  std::optional<uint64_t> OpenAgain(MemoryBlock::FileId file);
  enum class Closed { kNotOpen, kStillOpen, kLast };
  Closed CloseOnce(uint64_t base, Region* last);

  // Ranges that are reserved: not accessible unless a region lies in them.
  void AddReservation(uint64_t base, uint64_t size);
  void RemoveReservation(uint64_t base);

  // An empty range is what its first byte is. Mappings that touch count as one range.
  RangeState Check(uint64_t address, uint64_t size, Access needed) const;

  // One 64-bit word, while it surely is mapped. Nothing (false): `address` is not valid for it.
  // REQUIRES: address is a multiple of 8.
  std::optional<uint64_t> Load64(uint64_t address) const;
  bool Store64(uint64_t address, uint64_t value) const;

 private:
  using Map = std::map<uint64_t, Region>;
  Map::const_iterator Containing(uint64_t address) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  RangeState CheckLocked(uint64_t address, uint64_t size, Access needed) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  mutable Mutex mu_;
  Map regions_ ABSL_GUARDED_BY(mu_);
  std::map<uint64_t, uint64_t> reservations_ ABSL_GUARDED_BY(mu_);  // base → size
};

// True when every page of host memory [address, address + size) is mapped in this process.
bool IsMappedHostMemory(uint64_t address, uint64_t size);

}  // namespace weft::hostcuda
