// Memory, copies and fills.
#include "cuda/host/api_call.h"
#include "cuda/host/capture.h"
#include "cuda/host/memory_actions.h"
#include "cuda/host/operations.h"

namespace weft::hostcuda {
namespace {

// Up to this size an asynchronous copy from pageable memory takes the bytes along and returns at
// once; larger ones return when the copy is over ("API synchronization behavior" in the API's manual).
constexpr uint64_t kMaxStagedBytes = uint64_t{64} * 1024;

uint64_t Address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

// Runs an action behind all that the legacy stream waits for, and waits until it is over.
CUresult RunAndWait(const ContextPtr& context, ActionPtr action) {
  const std::shared_ptr<Stream> stream = context->legacy_stream();
  if (stream == nullptr) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return context->SubmitAndWait(stream, std::make_unique<ActionOperation>(std::move(action)));
}

CUresult CopyAndWait(Runtime& runtime, const ContextPtr& context, CopyEnd dst, CopyEnd src,
                     uint64_t size) {
  ActionPtr action;
  WEFT_CU_RETURN_IF_ERROR(MakeCopy(runtime.regions, dst, src, size, &action));
  return RunAndWait(context, std::move(action));
}

CUresult CopyInStream(Runtime& runtime, const std::shared_ptr<Stream>& stream, CopyEnd dst,
                      CopyEnd src, uint64_t size) {
  const auto pageable = [&](CopyEnd end, Access access) {
    return size > 0 && runtime.regions.Check(end.address, size, access) == RangeState::kUnknown;
  };
  const bool to_pageable = pageable(dst, Access::kReadWrite);
  const bool from_pageable = pageable(src, Access::kRead);
  ActionPtr action;
  if (from_pageable && !to_pageable && size <= kMaxStagedBytes) {
    WEFT_CU_RETURN_IF_ERROR(MakeStagedCopy(runtime.regions, dst, src, size, &action));
  } else {
    WEFT_CU_RETURN_IF_ERROR(MakeCopy(runtime.regions, dst, src, size, &action));
  }
  const bool must_wait = to_pageable || (from_pageable && size > kMaxStagedBytes);
  if (!must_wait) return SubmitAction(stream, CU_GRAPH_NODE_TYPE_MEMCPY, std::move(action));
  WEFT_CU_RETURN_IF_ERROR(RefuseCapture(*stream));
  return stream->context().SubmitAndWait(stream,
                                         std::make_unique<ActionOperation>(std::move(action)));
}

CUresult FillInStream(Runtime& runtime, const ContextPtr& current, CUstream handle,
                      const CUDA_MEMSET_NODE_PARAMS& fill) {
  std::shared_ptr<Stream> stream;
  WEFT_CU_RETURN_IF_ERROR(FindStream(runtime, current, handle, &stream));
  ActionPtr action;
  WEFT_CU_RETURN_IF_ERROR(MakeFill(runtime.regions, fill, &action));
  return SubmitAction(stream, CU_GRAPH_NODE_TYPE_MEMSET, std::move(action));
}

// Memory is only freed when no work can still touch it, as cuMemFree of a GPU's driver does.
void WaitForOwner(Runtime& runtime, uint64_t address) {
  const std::optional<Region> region = runtime.regions.Find(address);
  if (!region.has_value()) return;
  for (int device = 0; device < runtime.device_count(); ++device) {
    const ContextPtr context = runtime.ActiveContext(device);
    if (context != nullptr && context.get() == region->owner) context->Synchronize();
  }
}

}  // namespace
}  // namespace weft::hostcuda

using namespace weft::hostcuda;  // NOLINT(google-build-using-namespace): the functions are global

extern "C" {

CUresult CUDAAPI cuMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return CallInContext(ApiFunction::k_cuMemGetInfo,
                       [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
                         if (free_bytes == nullptr || total_bytes == nullptr) {
                           return CUDA_ERROR_INVALID_VALUE;
                         }
                         *free_bytes = runtime.memory.free_bytes(context->device());
                         *total_bytes = runtime.memory.total_bytes();
                         return CUDA_SUCCESS;
                       });
}

CUresult CUDAAPI cuMemAlloc(CUdeviceptr* address, size_t size) {
  return CallInContext(
      ApiFunction::k_cuMemAlloc, [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
        if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
        uint64_t base = 0;
        WEFT_CU_RETURN_IF_ERROR(
            runtime.plain_memory.Allocate(context->device(), size, context.get(), &base));
        *address = base;
        return CUDA_SUCCESS;
      });
}

CUresult CUDAAPI cuMemFree(CUdeviceptr address) {
  return CallToEnd(ApiFunction::k_cuMemFree, [&](Runtime& runtime) -> CUresult {
    WaitForOwner(runtime, address);
    return runtime.plain_memory.Free(address);
  });
}

CUresult CUDAAPI cuMemHostAlloc(void** pointer, size_t size, unsigned int flags) {
  return CallInContext(
      ApiFunction::k_cuMemHostAlloc, [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
        constexpr unsigned int kKnown =
            CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
        if (pointer == nullptr || (flags & ~kKnown) != 0) return CUDA_ERROR_INVALID_VALUE;
        return runtime.plain_memory.HostAllocate(size, context.get(), pointer);
      });
}

CUresult CUDAAPI cuMemFreeHost(void* pointer) {
  return CallToEnd(ApiFunction::k_cuMemFreeHost, [&](Runtime& runtime) -> CUresult {
    WaitForOwner(runtime, Address(pointer));
    return runtime.plain_memory.HostFree(pointer);
  });
}

CUresult CUDAAPI cuMemHostRegister(void* pointer, size_t size, unsigned int flags) {
  return CallInContext(ApiFunction::k_cuMemHostRegister,
                       [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
                         constexpr unsigned int kPlain =
                             CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP;
                         constexpr unsigned int kSpecial =
                             CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
                         if ((flags & ~(kPlain | kSpecial)) != 0) return CUDA_ERROR_INVALID_VALUE;
                         if ((flags & kSpecial) != 0) return CUDA_ERROR_NOT_SUPPORTED;
                         return runtime.plain_memory.HostRegister(pointer, size, context.get());
                       });
}

CUresult CUDAAPI cuMemHostUnregister(void* pointer) {
  return CallToEnd(ApiFunction::k_cuMemHostUnregister, [&](Runtime& runtime) -> CUresult {
    WaitForOwner(runtime, Address(pointer));
    return runtime.plain_memory.HostUnregister(pointer);
  });
}

CUresult CUDAAPI cuMemHostGetDevicePointer(CUdeviceptr* address, void* pointer,
                                           unsigned int flags) {
  return CallInContext(
      ApiFunction::k_cuMemHostGetDevicePointer,
      [&](Runtime& runtime, const ContextPtr& /*context*/) -> CUresult {
        if (address == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
        if (runtime.regions.Check(Address(pointer), 1, Access::kRead) != RangeState::kHost) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        *address = Address(pointer);
        return CUDA_SUCCESS;
      });
}

CUresult CUDAAPI cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t size) {
  return CallInContext(ApiFunction::k_cuMemcpy, [&](Runtime& runtime, const ContextPtr& context) {
    return CopyAndWait(runtime, context, {dst, Side::kUnified}, {src, Side::kUnified}, size);
  });
}

CUresult CUDAAPI cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream handle) {
  return CallInContext(
      ApiFunction::k_cuMemcpyAsync, [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
        std::shared_ptr<Stream> stream;
        WEFT_CU_RETURN_IF_ERROR(FindStream(runtime, context, handle, &stream));
        return CopyInStream(runtime, stream, {dst, Side::kUnified}, {src, Side::kUnified}, size);
      });
}

CUresult CUDAAPI cuMemcpyHtoD(CUdeviceptr dst, const void* src, size_t size) {
  return CallInContext(ApiFunction::k_cuMemcpyHtoD, [&](Runtime& runtime,
                                                        const ContextPtr& context) {
    return CopyAndWait(runtime, context, {dst, Side::kDevice}, {Address(src), Side::kHost}, size);
  });
}

CUresult CUDAAPI cuMemcpyDtoH(void* dst, CUdeviceptr src, size_t size) {
  return CallInContext(ApiFunction::k_cuMemcpyDtoH, [&](Runtime& runtime,
                                                        const ContextPtr& context) {
    return CopyAndWait(runtime, context, {Address(dst), Side::kHost}, {src, Side::kDevice}, size);
  });
}

CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t count,
                                 CUstream stream) {
  return CallInContext(
      ApiFunction::k_cuMemsetD8Async, [&](Runtime& runtime, const ContextPtr& context) {
        return FillInStream(runtime, context, stream, {dst, 0, value, 1, count, 1});
      });
}

CUresult CUDAAPI cuMemsetD16Async(CUdeviceptr dst, unsigned short value, size_t count,
                                  CUstream stream) {
  return CallInContext(
      ApiFunction::k_cuMemsetD16Async, [&](Runtime& runtime, const ContextPtr& context) {
        return FillInStream(runtime, context, stream, {dst, 0, value, 2, count, 1});
      });
}

CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr dst, unsigned int value, size_t count,
                                  CUstream stream) {
  return CallInContext(
      ApiFunction::k_cuMemsetD32Async, [&](Runtime& runtime, const ContextPtr& context) {
        return FillInStream(runtime, context, stream, {dst, 0, value, 4, count, 1});
      });
}

CUresult CUDAAPI cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
  return CallInContext(ApiFunction::k_cuIpcGetMemHandle,
                       [&](Runtime& runtime, const ContextPtr& /*context*/) -> CUresult {
                         if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
                         return runtime.plain_memory.IpcGet(address, handle);
                       });
}

CUresult CUDAAPI cuIpcOpenMemHandle(CUdeviceptr* address, CUipcMemHandle handle,
                                    unsigned int flags) {
  return CallInContext(
      ApiFunction::k_cuIpcOpenMemHandle,
      [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
        if (address == nullptr || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        uint64_t base = 0;
        WEFT_CU_RETURN_IF_ERROR(runtime.plain_memory.IpcOpen(handle, context.get(), &base));
        *address = base;
        return CUDA_SUCCESS;
      });
}

CUresult CUDAAPI cuIpcCloseMemHandle(CUdeviceptr address) {
  return CallToEnd(ApiFunction::k_cuIpcCloseMemHandle, [&](Runtime& runtime) -> CUresult {
    WaitForOwner(runtime, address);
    return runtime.plain_memory.IpcClose(address);
  });
}

}  // extern "C"
