// Copies, fills, writes of values and host functions as actions, checked when they are made, and
// (memory may have gone meanwhile) once more when they run.
//
// Errors of all Make functions: INVALID_VALUE, for an address that does not hold the range and for
// extents that the API forbids.
#pragma once

#include <cstdint>

#include "cuda/host/action.h"
#include "cuda/host/cuda_api.h"
#include "cuda/host/region_map.h"

namespace weft::hostcuda {

// What a pointer is said to be.
enum class Side {
  kHost,     // a pointer of this process, page-locked or not
  kDevice,   // a device address; page-locked host memory has them too
  kUnified,  // either: its address tells
};

struct CopyEnd {
  uint64_t address = 0;
  Side side = Side::kUnified;
};

// `size` bytes in one run; 0 is nothing to do, whatever the addresses.
CUresult MakeCopy(const RegionMap& regions, CopyEnd dst, CopyEnd src, uint64_t size,
                  ActionPtr* action);
// Like MakeCopy, from a copy of the source's bytes that is taken now.
CUresult MakeStagedCopy(const RegionMap& regions, CopyEnd dst, CopyEnd src, uint64_t size,
                        ActionPtr* action);
// As cuMemcpy3D describes it; arrays are refused, and boxes without a byte.
CUresult MakeCopy3D(const RegionMap& regions, const CUDA_MEMCPY3D& copy, ActionPtr* action);
// As a memset node describes it; without an element it is nothing to do.
CUresult MakeFill(const RegionMap& regions, const CUDA_MEMSET_NODE_PARAMS& fill, ActionPtr* action);
// Moves nothing, since there is one memory; the range must still be managed when its turn comes.
CUresult MakePrefetch(const RegionMap& regions, uint64_t address, uint64_t size, ActionPtr* action);
CUresult MakeValueWrite(const RegionMap& regions, uint64_t address, uint64_t value,
                        ActionPtr* action);
CUresult MakeHostCall(CUhostFn function, void* user_data, ActionPtr* action);

// True for a range, not empty, of one managed allocation.
bool IsManaged(const RegionMap& regions, uint64_t address, uint64_t size);
// True for a word that streams may wait for or write.
bool IsValueAddress(const RegionMap& regions, uint64_t address, Access needed);

}  // namespace weft::hostcuda
