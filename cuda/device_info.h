// Properties and limits of a device as plain data: what validation and planning read. No CUDA
// header is needed for it; cuda/device_query.h fills it from a driver, weftd gets it from its
// executors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace weft::cuda {

struct DeviceInfo {
  std::string name;
  std::array<uint8_t, 16> uuid = {};
  int ordinal = 0;         // index among the devices of the driver
  int driver_version = 0;  // 1000 * major + 10 * minor, for example 13000
  int compute_major = 0;   // compute capability
  int compute_minor = 0;
  bool is_cpu = false;  // the CPU driver's device: kernels run in a process of this machine

  uint64_t total_memory_bytes = 0;
  uint64_t allocation_granularity_bytes = 0;  // sizes of allocations are rounded up to this
  uint64_t l2_cache_bytes = 0;
  uint64_t max_pitch_bytes = 0;            // from row to row of a copy
  bool concurrent_managed_access = false;  // managed memory that the host may touch at any time
  uint32_t texture_alignment_bytes = 0;

  uint32_t multiprocessor_count = 0;
  uint32_t warp_size = 0;
  uint32_t max_concurrent_kernels = 0;  // kernels that may run at the same time
  uint32_t async_engine_count = 0;      // copies that may run beside kernels

  // Of one launch.
  std::array<uint32_t, 3> max_grid = {};   // blocks in x, y, z
  std::array<uint32_t, 3> max_block = {};  // threads in x, y, z
  uint32_t max_threads_per_block = 0;      // their product at most
  uint32_t max_parameter_bytes = 0;
  uint32_t shared_bytes_per_block = 0;        // static and dynamic together, without opting in
  uint32_t shared_bytes_per_block_optin = 0;  // after Function::SetMaxDynamicSharedBytes

  // Of one multiprocessor.
  uint32_t max_threads_per_multiprocessor = 0;
  uint32_t max_blocks_per_multiprocessor = 0;
  uint32_t shared_bytes_per_multiprocessor = 0;
  uint32_t registers_per_multiprocessor = 0;

  friend bool operator==(const DeviceInfo&, const DeviceInfo&) = default;
};

// "GPU-01234567-89ab-cdef-0123-456789abcdef", as nvidia-smi prints it ("CPU-…" for the CPU driver).
std::string UuidText(const DeviceInfo& info);

// The next three are limits that no attribute of the driver tells.

// Grids that are resident at once: table "Technical Specifications per Compute Capability" of the
// CUDA C++ Programming Guide 13.0 (row "Maximum number of resident grids per device"). Capabilities
// newer than that table get the newest row's.
uint32_t MaxConcurrentKernels(int compute_major, int compute_minor);

// Bytes of kernel parameters: 4,096; 32,764 from compute capability 7.0 with CUDA 12.1 on (same
// guide, "Function Parameters").
uint32_t MaxParameterBytes(int compute_major, int driver_version);

}  // namespace weft::cuda
