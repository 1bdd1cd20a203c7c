// Virtual memory management: reserved ranges of addresses, and blocks mapped into them.
//
// Errors are those of the driver functions of the same names (cuMemAddressReserve, cuMemMap, …).
// Thread safety: all members may be called from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "cuda/host/cuda_api.h"
#include "cuda/host/device_memory.h"
#include "cuda/host/mutex.h"
#include "cuda/host/region_map.h"

namespace weft::hostcuda {

class VirtualMemory {
 public:
  explicit VirtualMemory(RegionMap& regions) : regions_(regions) {}
  ~VirtualMemory();  // unmaps all
  VirtualMemory(const VirtualMemory&) = delete;
  VirtualMemory& operator=(const VirtualMemory&) = delete;

  // `alignment` 0 means the granularity. `hint` 0 means anywhere; a range that is taken already is
  // not an error, the range is then made elsewhere.
  CUresult Reserve(uint64_t size, uint64_t alignment, uint64_t hint, uint64_t* address);
  // REQUIRES of the caller: the exact range of a reservation, with nothing mapped in it.
  CUresult Free(uint64_t address, uint64_t size);
  // Not accessible before SetAccess.
  CUresult Map(uint64_t address, uint64_t size, std::shared_ptr<MemoryBlock> block);
  // The range must be made of whole mappings; so must that of SetAccess.
  CUresult Unmap(uint64_t address, uint64_t size);
  // One process cannot tell its devices' accesses apart: the range gets the widest access that any
  // device has.
  CUresult SetAccess(uint64_t address, uint64_t size, int device, Access access);

 private:
  struct Reservation {
    uint64_t size;
    std::map<uint64_t, std::map<int, Access>> mappings;  // base → access of each device
  };
  // The reservation that holds the whole range, or null.
  Reservation* Holding(uint64_t address, uint64_t size) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // True when some mapping shares a byte with the range.
  bool HasMapping(const Reservation& reservation, uint64_t address, uint64_t size) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  RegionMap& regions_;
  Mutex mu_;
  std::map<uint64_t, Reservation> reservations_ ABSL_GUARDED_BY(mu_);
};

}  // namespace weft::hostcuda
