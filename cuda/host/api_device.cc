// Devices, and the addresses of functions.
#include <algorithm>
#include <cstring>
#include <optional>

#include "cuda/host/api_call.h"
#include "cuda/host/device_attributes.h"

namespace weft::hostcuda {
namespace {

struct ProcRow {
  const char* name;
  int version;
  void* address;
};

const ProcRow kProcs[] = {
#define WEFT_DRIVER_FUNCTION(name, version) {#name, version, reinterpret_cast<void*>(&::name)},
#define WEFT_DRIVER_OPTIONAL(name, version) {#name, version, reinterpret_cast<void*>(&::name)},
#include "cuda/driver_functions.inc"
#undef WEFT_DRIVER_FUNCTION
#undef WEFT_DRIVER_OPTIONAL
    {"cuGetProcAddress", 12000, reinterpret_cast<void*>(&::cuGetProcAddress_v2)},
};

CUdriverProcAddressQueryResult FindProc(const char* name, int version, void** address) {
  *address = nullptr;
  for (const ProcRow& row : kProcs) {
    if (std::strcmp(row.name, name) != 0) continue;
    if (version < row.version) return CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    *address = row.address;
    return CU_GET_PROC_ADDRESS_SUCCESS;
  }
  return CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
}

}  // namespace
}  // namespace weft::hostcuda

using namespace weft::hostcuda;  // NOLINT(google-build-using-namespace): the functions are global

extern "C" {

// Functions with a default stream for each thread (a flag asks for them) are not there.
CUresult CUDAAPI cuGetProcAddress_v2(const char* symbol, void** address, int version,
                                     cuuint64_t flags, CUdriverProcAddressQueryResult* status) {
  if (symbol == nullptr || address == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const cuuint64_t known =
      CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if ((flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
  if ((flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  const CUdriverProcAddressQueryResult found = FindProc(symbol, version, address);
  if (status != nullptr) *status = found;
  return found == CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult CUDAAPI cuDeviceGetCount(int* count) {
  return Call(ApiFunction::k_cuDeviceGetCount, [&](Runtime& runtime) -> CUresult {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = runtime.device_count();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGet(CUdevice* device, int ordinal) {
  return Call(ApiFunction::k_cuDeviceGet, [&](Runtime& runtime) -> CUresult {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!runtime.IsDevice(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetName(char* name, int length, CUdevice device) {
  return Call(ApiFunction::k_cuDeviceGetName, [&](Runtime& runtime) -> CUresult {
    if (name == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    if (!runtime.IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
    const size_t room = static_cast<size_t>(length) - 1;
    const size_t size = std::min(room, sizeof(kDeviceName) - 1);
    std::memcpy(name, kDeviceName, size);
    name[size] = '\0';
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return Call(ApiFunction::k_cuDeviceGetUuid, [&](Runtime& runtime) -> CUresult {
    if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!runtime.IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
    *uuid = UuidOf(device);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  return Call(ApiFunction::k_cuDeviceTotalMem, [&](Runtime& runtime) -> CUresult {
    if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!runtime.IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
    *bytes = runtime.memory.total_bytes();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return Call(ApiFunction::k_cuDeviceGetAttribute, [&](Runtime& runtime) -> CUresult {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!runtime.IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
    const std::optional<int> found = AttributeOf(attribute, device, runtime.settings().workers);
    if (!found.has_value()) return CUDA_ERROR_INVALID_VALUE;
    *value = *found;
    return CUDA_SUCCESS;
  });
}

// Every device reaches the memory of every other: it is one machine's. None is a peer of its own.
CUresult CUDAAPI cuDeviceCanAccessPeer(int* can_access, CUdevice device, CUdevice peer) {
  return Call(ApiFunction::k_cuDeviceCanAccessPeer, [&](Runtime& runtime) -> CUresult {
    if (can_access == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!runtime.IsDevice(device) || !runtime.IsDevice(peer)) return CUDA_ERROR_INVALID_DEVICE;
    *can_access = device != peer ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
