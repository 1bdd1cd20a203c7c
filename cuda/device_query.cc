#include "cuda/device_query.h"

#include <algorithm>
#include <iterator>

#include "base/status_macros.h"
#include "cuda/status.h"

namespace weft::cuda {
namespace {

struct AttributeField {
  CUdevice_attribute attribute;
  uint32_t* field;
};

absl::Status ReadAttribute(const Driver& driver, CUdevice device, const AttributeField& wanted) {
  int value = 0;
  WEFT_RETURN_IF_ERROR(
      WEFT_DRIVER_CALL(driver, cuDeviceGetAttribute, &value, wanted.attribute, device));
  *wanted.field = static_cast<uint32_t>(std::max(value, 0));
  return absl::OkStatus();
}

absl::Status ReadLaunchLimits(const Driver& driver, CUdevice device, DeviceInfo& info) {
  for (const AttributeField& wanted : {
           AttributeField{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, &info.max_grid[0]},
           AttributeField{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, &info.max_grid[1]},
           AttributeField{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, &info.max_grid[2]},
           AttributeField{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, &info.max_block[0]},
           AttributeField{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, &info.max_block[1]},
           AttributeField{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, &info.max_block[2]},
           AttributeField{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &info.max_threads_per_block},
           AttributeField{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
                          &info.shared_bytes_per_block},
           AttributeField{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                          &info.shared_bytes_per_block_optin},
       }) {
    WEFT_RETURN_IF_ERROR(ReadAttribute(driver, device, wanted));
  }
  return absl::OkStatus();
}

absl::Status ReadProperties(const Driver& driver, CUdevice device, DeviceInfo& info) {
  uint32_t major = 0;
  uint32_t minor = 0;
  uint32_t l2_bytes = 0;
  uint32_t max_pitch = 0;
  uint32_t concurrent_managed_access = 0;
  for (const AttributeField& wanted : {
           AttributeField{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major},
           AttributeField{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor},
           AttributeField{CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &l2_bytes},
           AttributeField{CU_DEVICE_ATTRIBUTE_MAX_PITCH, &max_pitch},
           AttributeField{CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
                          &concurrent_managed_access},
           AttributeField{CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, &info.texture_alignment_bytes},
           AttributeField{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &info.multiprocessor_count},
           AttributeField{CU_DEVICE_ATTRIBUTE_WARP_SIZE, &info.warp_size},
           AttributeField{CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, &info.async_engine_count},
           AttributeField{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
                          &info.max_threads_per_multiprocessor},
           AttributeField{CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR,
                          &info.max_blocks_per_multiprocessor},
           AttributeField{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
                          &info.shared_bytes_per_multiprocessor},
           AttributeField{CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR,
                          &info.registers_per_multiprocessor},
       }) {
    WEFT_RETURN_IF_ERROR(ReadAttribute(driver, device, wanted));
  }
  info.compute_major = static_cast<int>(major);
  info.compute_minor = static_cast<int>(minor);
  info.l2_cache_bytes = l2_bytes;
  info.max_pitch_bytes = max_pitch;
  // Without the functions by location it is of no use.
  info.concurrent_managed_access = concurrent_managed_access != 0 &&
                                   driver.cuMemPrefetchAsync != nullptr &&
                                   driver.cuMemAdvise != nullptr;
  return absl::OkStatus();
}

absl::Status ReadIdentity(const Driver& driver, CUdevice device, DeviceInfo& info) {
  char name[256] = {};
  WEFT_RETURN_IF_ERROR(
      WEFT_DRIVER_CALL(driver, cuDeviceGetName, name, static_cast<int>(sizeof name - 1), device));
  info.name = name;
  CUuuid uuid = {};
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(driver, cuDeviceGetUuid, &uuid, device));
  std::transform(std::begin(uuid.bytes), std::end(uuid.bytes), info.uuid.begin(),
                 [](char byte) { return static_cast<uint8_t>(byte); });
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(driver, cuDriverGetVersion, &info.driver_version));
  info.is_cpu = driver.kind == DriverKind::kHost;
  return absl::OkStatus();
}

absl::Status ReadMemory(const Driver& driver, CUdevice device, DeviceInfo& info) {
  size_t total_bytes = 0;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(driver, cuDeviceTotalMem, &total_bytes, device));
  info.total_memory_bytes = total_bytes;
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  size_t granularity = 0;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(driver, cuMemGetAllocationGranularity, &granularity,
                                        &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  info.allocation_granularity_bytes = granularity;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int> DeviceCount(const Driver& driver) {
  int count = 0;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(driver, cuDeviceGetCount, &count));
  return count;
}

absl::StatusOr<DeviceInfo> QueryDeviceInfo(const Driver& driver, int ordinal) {
  CUdevice device = 0;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(driver, cuDeviceGet, &device, ordinal));
  DeviceInfo info;
  info.ordinal = ordinal;
  WEFT_RETURN_IF_ERROR(ReadIdentity(driver, device, info));
  WEFT_RETURN_IF_ERROR(ReadProperties(driver, device, info));
  WEFT_RETURN_IF_ERROR(ReadLaunchLimits(driver, device, info));
  WEFT_RETURN_IF_ERROR(ReadMemory(driver, device, info));
  info.max_parameter_bytes = MaxParameterBytes(info.compute_major, info.driver_version);
  // The CPU driver runs one kernel a worker thread, and reports its workers as multiprocessors.
  info.max_concurrent_kernels = info.is_cpu
                                    ? info.multiprocessor_count
                                    : MaxConcurrentKernels(info.compute_major, info.compute_minor);
  return info;
}

absl::StatusOr<bool> CanAccessPeer(const Driver& driver, int ordinal, int peer) {
  CUdevice device = 0;
  CUdevice other = 0;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(driver, cuDeviceGet, &device, ordinal));
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(driver, cuDeviceGet, &other, peer));
  int can_access = 0;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(driver, cuDeviceCanAccessPeer, &can_access, device, other));
  return can_access != 0;
}

}  // namespace weft::cuda
