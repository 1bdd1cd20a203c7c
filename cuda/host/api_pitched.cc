// Copies and fills of rows that lie a pitch apart.
#include "cuda/host/api_call.h"
#include "cuda/host/capture.h"
#include "cuda/host/memory_actions.h"
#include "cuda/host/operations.h"

namespace weft::hostcuda {
namespace {

// Host memory that is not page-locked.
bool IsPageable(const RegionMap& regions, CUmemorytype type, const void* host, CUdeviceptr device) {
  const uint64_t address = type == CU_MEMORYTYPE_HOST ? reinterpret_cast<uint64_t>(host) : device;
  return regions.Check(address, 1, Access::kRead) == RangeState::kUnknown;
}

// As CopyInStream in api_memory.cc has it, but that no bytes are taken along: the call waits for
// copies of pageable memory of any size.
CUresult CopyBoxInStream(Runtime& runtime, const ContextPtr& current, CUstream handle,
                         const CUDA_MEMCPY3D& copy) {
  std::shared_ptr<Stream> stream;
  WEFT_CU_RETURN_IF_ERROR(FindStream(runtime, current, handle, &stream));
  ActionPtr action;
  WEFT_CU_RETURN_IF_ERROR(MakeCopy3D(runtime.regions, copy, &action));
  const bool waits =
      IsPageable(runtime.regions, copy.dstMemoryType, copy.dstHost, copy.dstDevice) ||
      IsPageable(runtime.regions, copy.srcMemoryType, copy.srcHost, copy.srcDevice);
  if (!waits) return SubmitAction(stream, CU_GRAPH_NODE_TYPE_MEMCPY, std::move(action));
  WEFT_CU_RETURN_IF_ERROR(RefuseCapture(*stream));
  return stream->context().SubmitAndWait(stream,
                                         std::make_unique<ActionOperation>(std::move(action)));
}

CUresult FillRowsInStream(ApiFunction function, CUstream handle,
                          const CUDA_MEMSET_NODE_PARAMS& fill) {
  return CallInContext(function, [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
    std::shared_ptr<Stream> stream;
    WEFT_CU_RETURN_IF_ERROR(FindStream(runtime, context, handle, &stream));
    ActionPtr action;
    WEFT_CU_RETURN_IF_ERROR(MakeFill(runtime.regions, fill, &action));
    return SubmitAction(stream, CU_GRAPH_NODE_TYPE_MEMSET, std::move(action));
  });
}

}  // namespace
}  // namespace weft::hostcuda

using namespace weft::hostcuda;  // NOLINT(google-build-using-namespace): the functions are global

extern "C" {

CUresult CUDAAPI cuMemcpy3DAsync(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return CallInContext(ApiFunction::k_cuMemcpy3DAsync,
                       [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
                         if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
                         return CopyBoxInStream(runtime, context, stream, *copy);
                       });
}

CUresult CUDAAPI cuMemsetD2D8Async(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width,
                                   size_t height, CUstream stream) {
  return FillRowsInStream(ApiFunction::k_cuMemsetD2D8Async, stream,
                          {dst, pitch, value, 1, width, height});
}

CUresult CUDAAPI cuMemsetD2D16Async(CUdeviceptr dst, size_t pitch, unsigned short value,
                                    size_t width, size_t height, CUstream stream) {
  return FillRowsInStream(ApiFunction::k_cuMemsetD2D16Async, stream,
                          {dst, pitch, value, 2, width, height});
}

CUresult CUDAAPI cuMemsetD2D32Async(CUdeviceptr dst, size_t pitch, unsigned int value, size_t width,
                                    size_t height, CUstream stream) {
  return FillRowsInStream(ApiFunction::k_cuMemsetD2D32Async, stream,
                          {dst, pitch, value, 4, width, height});
}

}  // extern "C"
