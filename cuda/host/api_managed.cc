// Managed memory. Host and device are one memory here, so that nothing ever moves; what a GPU's
// driver refuses is refused.
#include "cuda/host/api_call.h"
#include "cuda/host/capture.h"
#include "cuda/host/memory_actions.h"
#include "cuda/host/operations.h"

namespace weft::hostcuda {
namespace {

bool IsPlace(const Runtime& runtime, const CUmemLocation& location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return runtime.IsDevice(location.id);
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return true;
    default:  // nodes of the host are not told apart
      return false;
  }
}

bool IsAdvice(CUmem_advise advice) {
  return advice >= CU_MEM_ADVISE_SET_READ_MOSTLY && advice <= CU_MEM_ADVISE_UNSET_ACCESSED_BY;
}

bool NamesAPlace(CUmem_advise advice) {
  return advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION ||
         advice == CU_MEM_ADVISE_SET_ACCESSED_BY || advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
}

}  // namespace
}  // namespace weft::hostcuda

using namespace weft::hostcuda;  // NOLINT(google-build-using-namespace): the functions are global

extern "C" {

CUresult CUDAAPI cuMemAllocManaged(CUdeviceptr* address, size_t size, unsigned int flags) {
  return CallInContext(
      ApiFunction::k_cuMemAllocManaged,
      [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
        if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        uint64_t base = 0;
        WEFT_CU_RETURN_IF_ERROR(runtime.plain_memory.AllocateManaged(size, context.get(), &base));
        *address = base;
        return CUDA_SUCCESS;
      });
}

CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr address, size_t size, CUmemLocation location,
                                    unsigned int flags, CUstream handle) {
  return CallInContext(
      ApiFunction::k_cuMemPrefetchAsync,
      [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
        if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
        if (!IsPlace(runtime, location)) return CUDA_ERROR_INVALID_DEVICE;
        std::shared_ptr<Stream> stream;
        WEFT_CU_RETURN_IF_ERROR(FindStream(runtime, context, handle, &stream));
        ActionPtr action;
        WEFT_CU_RETURN_IF_ERROR(RefuseCapture(*stream));
        WEFT_CU_RETURN_IF_ERROR(MakePrefetch(runtime.regions, address, size, &action));
        return stream->context().Submit(stream,
                                        std::make_unique<ActionOperation>(std::move(action)));
      });
}

CUresult CUDAAPI cuMemAdvise(CUdeviceptr address, size_t size, CUmem_advise advice,
                             CUmemLocation location) {
  return CallInContext(
      ApiFunction::k_cuMemAdvise, [&](Runtime& runtime, const ContextPtr& /*context*/) -> CUresult {
        if (!IsAdvice(advice)) return CUDA_ERROR_INVALID_VALUE;
        if (NamesAPlace(advice) && !IsPlace(runtime, location)) {
          return CUDA_ERROR_INVALID_DEVICE;
        }
        return IsManaged(runtime.regions, address, size) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
      });
}

}  // extern "C"
