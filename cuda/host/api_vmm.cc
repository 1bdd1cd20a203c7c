// Virtual memory management.
#include "base/unique_fd.h"
#include "cuda/host/api_call.h"

namespace weft::hostcuda {
namespace {

// What a block of memory may be asked to be. Errors: INVALID_VALUE, INVALID_DEVICE, NOT_SUPPORTED
// (memory of the host, compression, handles that are no descriptors).
CUresult CheckProperties(const Runtime& runtime, const CUmemAllocationProp* prop) {
  if (prop == nullptr || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  switch (prop->location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      break;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return CUDA_ERROR_NOT_SUPPORTED;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  if (!runtime.IsDevice(prop->location.id)) return CUDA_ERROR_INVALID_DEVICE;
  const bool plain_handles = prop->requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE ||
                             prop->requestedHandleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  const bool special = prop->allocFlags.compressionType != 0 || prop->allocFlags.usage != 0 ||
                       prop->allocFlags.gpuDirectRDMACapable != 0;
  return plain_handles && !special ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

bool ToAccess(CUmemAccess_flags flags, Access* access) {
  switch (flags) {
    case CU_MEM_ACCESS_FLAGS_PROT_NONE:
      *access = Access::kNone;
      return true;
    case CU_MEM_ACCESS_FLAGS_PROT_READ:
      *access = Access::kRead;
      return true;
    case CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
      *access = Access::kReadWrite;
      return true;
    default:
      return false;
  }
}

CUresult CheckAccess(const Runtime& runtime, const CUmemAccessDesc& desc, Access* access) {
  if (!ToAccess(desc.flags, access)) return CUDA_ERROR_INVALID_VALUE;
  if (desc.location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
  return runtime.IsDevice(desc.location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

}  // namespace
}  // namespace weft::hostcuda

using namespace weft::hostcuda;  // NOLINT(google-build-using-namespace): the functions are global

extern "C" {

CUresult CUDAAPI cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* prop,
                                               CUmemAllocationGranularity_flags option) {
  return Call(ApiFunction::k_cuMemGetAllocationGranularity, [&](Runtime& runtime) -> CUresult {
    if (granularity == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
        option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    WEFT_CU_RETURN_IF_ERROR(CheckProperties(runtime, prop));
    *granularity = DeviceMemory::kGranularity;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size,
                             const CUmemAllocationProp* prop, unsigned long long flags) {
  return CallOnDevice(ApiFunction::k_cuMemCreate, [&](Runtime& runtime) -> CUresult {
    if (handle == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (size == 0 || size % DeviceMemory::kGranularity != 0) return CUDA_ERROR_INVALID_VALUE;
    WEFT_CU_RETURN_IF_ERROR(CheckProperties(runtime, prop));
    const bool exportable = prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE;
    std::shared_ptr<MemoryBlock> block;
    WEFT_CU_RETURN_IF_ERROR(runtime.memory.Allocate(prop->location.id, size, &block));
    *handle = runtime.blocks.Insert(std::make_shared<BlockHandle>(std::move(block), exportable));
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMemRelease(CUmemGenericAllocationHandle handle) {
  return CallToEnd(ApiFunction::k_cuMemRelease, [&](Runtime& runtime) -> CUresult {
    return runtime.blocks.Remove(handle) == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMemAddressReserve(CUdeviceptr* address, size_t size, size_t alignment,
                                     CUdeviceptr hint, unsigned long long flags) {
  return CallOnDevice(ApiFunction::k_cuMemAddressReserve, [&](Runtime& runtime) -> CUresult {
    if (address == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    uint64_t base = 0;
    WEFT_CU_RETURN_IF_ERROR(runtime.virtual_memory.Reserve(size, alignment, hint, &base));
    *address = base;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMemAddressFree(CUdeviceptr address, size_t size) {
  return CallToEnd(ApiFunction::k_cuMemAddressFree,
                   [&](Runtime& runtime) { return runtime.virtual_memory.Free(address, size); });
}

CUresult CUDAAPI cuMemMap(CUdeviceptr address, size_t size, size_t offset,
                          CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return CallOnDevice(ApiFunction::k_cuMemMap, [&](Runtime& runtime) -> CUresult {
    if (offset != 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    const std::shared_ptr<BlockHandle> found = runtime.blocks.Find(handle);
    if (found == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return runtime.virtual_memory.Map(address, size, found->block);
  });
}

CUresult CUDAAPI cuMemUnmap(CUdeviceptr address, size_t size) {
  return CallToEnd(ApiFunction::k_cuMemUnmap,
                   [&](Runtime& runtime) { return runtime.virtual_memory.Unmap(address, size); });
}

CUresult CUDAAPI cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc* descs,
                                size_t count) {
  return CallOnDevice(ApiFunction::k_cuMemSetAccess, [&](Runtime& runtime) -> CUresult {
    if (descs == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    Access access = Access::kNone;
    for (size_t i = 0; i < count; ++i) {
      WEFT_CU_RETURN_IF_ERROR(CheckAccess(runtime, descs[i], &access));
    }
    for (size_t i = 0; i < count; ++i) {
      WEFT_CU_RETURN_IF_ERROR(CheckAccess(runtime, descs[i], &access));
      WEFT_CU_RETURN_IF_ERROR(
          runtime.virtual_memory.SetAccess(address, size, descs[i].location.id, access));
    }
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMemExportToShareableHandle(void* shareable, CUmemGenericAllocationHandle handle,
                                              CUmemAllocationHandleType type,
                                              unsigned long long flags) {
  return CallOnDevice(ApiFunction::k_cuMemExportToShareableHandle,
                      [&](Runtime& runtime) -> CUresult {
                        if (shareable == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
                        if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
                          return CUDA_ERROR_NOT_SUPPORTED;
                        }
                        const std::shared_ptr<BlockHandle> found = runtime.blocks.Find(handle);
                        if (found == nullptr || !found->exportable) return CUDA_ERROR_INVALID_VALUE;
                        absl::StatusOr<weft::UniqueFd> copy = found->block->file().Duplicate();
                        if (!copy.ok()) return CUDA_ERROR_OPERATING_SYSTEM;
                        *static_cast<int*>(shareable) = copy->release();
                        return CUDA_SUCCESS;
                      });
}

CUresult CUDAAPI cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle,
                                                void* shareable, CUmemAllocationHandleType type) {
  return CallOnDevice(
      ApiFunction::k_cuMemImportFromShareableHandle, [&](Runtime& runtime) -> CUresult {
        if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
        std::shared_ptr<MemoryBlock> block;
        const auto fd = static_cast<int>(reinterpret_cast<intptr_t>(shareable));
        WEFT_CU_RETURN_IF_ERROR(runtime.memory.Import(fd, &block));
        *handle = runtime.blocks.Insert(std::make_shared<BlockHandle>(std::move(block), true));
        return CUDA_SUCCESS;
      });
}

}  // extern "C"
