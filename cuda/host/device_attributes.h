// What a CPU device says of itself: the limits of the GPUs that Weft runs on, so that what one
// refuses the other does.
#pragma once

#include <cstdint>
#include <optional>

#include "cuda/host/cuda_api.h"

namespace weft::hostcuda {

// The limits of compute capability 9.0 (CUDA C++ Programming Guide, "Compute Capabilities").
inline constexpr uint32_t kMaxGridX = 0x7fffffff;
inline constexpr uint32_t kMaxGridYZ = 65535;
inline constexpr uint32_t kMaxThreads = 1024;
inline constexpr uint32_t kMaxBlockZ = 64;
inline constexpr uint32_t kMaxParameterBytes = 32764;
inline constexpr int kMaxPitch = 0x7fffffff;  // bytes from row to row of a copy
inline constexpr int kWarpSize = 32;
inline constexpr int kSharedBytes = 48 * 1024;        // of a block, static and dynamic
inline constexpr int kSharedBytesOptin = 227 * 1024;  // of a block, when its function asks for it
inline constexpr int kReservedSharedBytes = 1024;     // of every block, by the system
inline constexpr int kSharedBytesPerMultiprocessor = 228 * 1024;
inline constexpr int kMaxThreadsPerMultiprocessor = 2048;
inline constexpr int kMaxBlocksPerMultiprocessor = 32;
inline constexpr int kTextureAlignment = 512;      // of addresses
inline constexpr int kTexturePitchAlignment = 32;  // of bytes from row to row
inline constexpr int kComputeCapabilityMajor = 9;
inline constexpr int kComputeCapabilityMinor = 0;

// How a CPU device is told from a GPU: by its name, or by the first bytes of its UUID (the last one
// is the device's number).
inline constexpr char kDeviceName[] = "Weft CPU device";
CUuuid UuidOf(int device);

// The attribute's value. 0 for the capabilities of GPUs that a CPU device has not; nothing for a
// number that is no attribute.
std::optional<int> AttributeOf(CUdevice_attribute attribute, int device, int workers);

}  // namespace weft::hostcuda
