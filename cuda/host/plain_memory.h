// Memory that the user does not place by address: cuMemAlloc, managed memory, page-locked host
// memory, and legacy inter-process handles.
//
// Errors are those of the driver functions of the same names.
// Thread safety: all members may be called from any thread.
#pragma once

#include <cstdint>

#include "cuda/host/cuda_api.h"
#include "cuda/host/device_memory.h"
#include "cuda/host/region_map.h"

namespace weft::hostcuda {

class PlainMemory {
 public:
  PlainMemory(DeviceMemory& memory, RegionMap& regions) : memory_(memory), regions_(regions) {}

  // `owner`: the context that the memory ends with.
  CUresult Allocate(int device, uint64_t size, const void* owner, uint64_t* address);
  // Memory from Allocate or AllocateManaged.
  CUresult Free(uint64_t address);
  // Plain memory of this process, which does not count as the device's: as on a GPU, it may be more
  // than the device has.
  CUresult AllocateManaged(uint64_t size, const void* owner, uint64_t* address);

  CUresult HostAllocate(uint64_t size, const void* owner, void** pointer);
  CUresult HostFree(void* pointer);
  // The memory stays the caller's.
  CUresult HostRegister(void* pointer, uint64_t size, const void* owner);
  CUresult HostUnregister(void* pointer);

  // A handle of memory from Allocate, which another process can open while this one lives.
  CUresult IpcGet(uint64_t address, CUipcMemHandle* handle) const;
  // Opening the same memory again gives the same address, which is then closed as often.
  CUresult IpcOpen(const CUipcMemHandle& handle, const void* owner, uint64_t* address);
  CUresult IpcClose(uint64_t address);

  // Ends all that ends with the context.
  void ReleaseOwnedBy(const void* owner);

 private:
  CUresult MapAnonymous(RegionKind kind, uint64_t size, const void* owner, void** pointer);
  CUresult MapBlock(Region region, uint64_t* address);

  DeviceMemory& memory_;
  RegionMap& regions_;
};

}  // namespace weft::hostcuda
