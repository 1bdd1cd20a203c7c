#pragma once

#include <cstdint>

namespace weft::hostcuda {

// The host pointer to a device address: on this driver both name the same byte.
inline void* HostPointer(uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace weft::hostcuda
