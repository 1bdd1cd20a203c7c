#include "cuda/host/device_attributes.h"

#include <cstring>

namespace weft::hostcuda {
namespace {

struct AttributeRow {
  CUdevice_attribute attribute;
  int value;
};

// In the order of the enumeration. What is not here is 0.
constexpr AttributeRow kAttributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kMaxThreads},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, kMaxThreads},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, kMaxThreads},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, kMaxBlockZ},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, kMaxGridX},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, kMaxGridYZ},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, kMaxGridYZ},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, kSharedBytes},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 64 * 1024},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, kWarpSize},
    {CU_DEVICE_ATTRIBUTE_MAX_PITCH, kMaxPitch},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1000000},  // kHz
    {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, kTextureAlignment},
    {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
    {CU_DEVICE_ATTRIBUTE_INTEGRATED, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, CU_COMPUTEMODE_DEFAULT},
    {CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1000000},  // kHz
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 64},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 1 << 20},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, kMaxThreadsPerMultiprocessor},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 2},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, kTexturePitchAlignment},
    // The rules that a CPU device follows are those of this architecture.
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, kComputeCapabilityMajor},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, kComputeCapabilityMinor},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, kSharedBytesPerMultiprocessor},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 2},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, kSharedBytesOptin},
    {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, kMaxBlocksPerMultiprocessor},
    {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, kReservedSharedBytes},
    {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR, 1},
};

}  // namespace

CUuuid UuidOf(int device) {
  CUuuid uuid{};
  static_assert(sizeof(kDeviceName) == sizeof(uuid.bytes));  // its final zero becomes the number
  std::memcpy(uuid.bytes, kDeviceName, sizeof(uuid.bytes));
  uuid.bytes[sizeof(uuid.bytes) - 1] = static_cast<char>(device);
  return uuid;
}

std::optional<int> AttributeOf(CUdevice_attribute attribute, int device, int workers) {
  if (attribute < CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK ||
      attribute >= CU_DEVICE_ATTRIBUTE_MAX) {
    return std::nullopt;
  }
  // As many kernels as there are threads run at the same time.
  if (attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) return workers;
  if (attribute == CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID) return device;
  if (attribute == CU_DEVICE_ATTRIBUTE_NUMA_ID || attribute == CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID) {
    return -1;  // unknown
  }
  for (const AttributeRow& row : kAttributes) {
    if (row.attribute == attribute) return row.value;
  }
  return 0;
}

}  // namespace weft::hostcuda
