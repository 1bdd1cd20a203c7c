// Initialisation, errors and contexts.
#include "cuda/host/api_call.h"
#include "cuda/host/error_names.h"
#include "cuda/host/worker_pool.h"

namespace weft::hostcuda {
namespace {

// The driver's version is that of the API whose behaviour it follows.
constexpr int kDriverVersion = 13000;

CUresult Initialize(unsigned int flags) noexcept {
  try {
    return flags != 0 ? CUDA_ERROR_INVALID_VALUE : Runtime::Initialize();
  } catch (...) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
}

CUresult Describe(const char* text, const char** result) {
  if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *result = text;
  return text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace
}  // namespace weft::hostcuda

using namespace weft::hostcuda;  // NOLINT(google-build-using-namespace): the functions are global

extern "C" {

CUresult CUDAAPI cuInit(unsigned int flags) { return Initialize(flags); }

CUresult CUDAAPI cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = kDriverVersion;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGetErrorName(CUresult error, const char** name) {
  return Describe(ErrorName(error), name);
}

CUresult CUDAAPI cuGetErrorString(CUresult error, const char** text) {
  return Describe(ErrorText(error), text);
}

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return Call(ApiFunction::k_cuDevicePrimaryCtxRetain, [&](Runtime& runtime) -> CUresult {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!runtime.IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
    return runtime.RetainContext(device, context);
  });
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice device) {
  return Call(ApiFunction::k_cuDevicePrimaryCtxRelease, [&](Runtime& runtime) -> CUresult {
    if (!runtime.IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
    return runtime.ReleaseContext(device);
  });
}

// The scheduling flags are hints about how threads of the host wait; here they always sleep on a
// condition variable, which each of them allows. Host memory is always mapped.
CUresult CUDAAPI cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags) {
  return Call(ApiFunction::k_cuDevicePrimaryCtxSetFlags, [&](Runtime& runtime) -> CUresult {
    if (!runtime.IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
    const unsigned int scheduling = flags & CU_CTX_SCHED_MASK;
    if ((scheduling & (scheduling - 1)) != 0) return CUDA_ERROR_INVALID_VALUE;  // more than one
    const unsigned int rest = flags & ~static_cast<unsigned int>(CU_CTX_SCHED_MASK);
    if ((rest & CU_CTX_MAP_HOST) != 0)
      return CUDA_ERROR_INVALID_VALUE;  // as a GPU's driver (580) does
    return rest == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
  });
}

CUresult CUDAAPI cuCtxPushCurrent(CUcontext context) {
  return Call(ApiFunction::k_cuCtxPushCurrent, [&](Runtime& runtime) -> CUresult {
    if (runtime.contexts.Find(HandleNumber(context)) == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    ThreadState::Get().contexts.push_back(HandleNumber(context));
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxPopCurrent(CUcontext* context) {
  return Call(ApiFunction::k_cuCtxPopCurrent, [&](Runtime& /*runtime*/) -> CUresult {
    std::vector<uint64_t>& stack = ThreadState::Get().contexts;
    if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    if (context != nullptr) *context = MakeHandle<CUcontext>(stack.back());
    stack.pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext* context) {
  return Call(ApiFunction::k_cuCtxGetCurrent, [&](Runtime& /*runtime*/) -> CUresult {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::vector<uint64_t>& stack = ThreadState::Get().contexts;
    *context = stack.empty() ? nullptr : MakeHandle<CUcontext>(stack.back());
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxSynchronize(void) {
  return CallInContext(
      ApiFunction::k_cuCtxSynchronize,
      [](Runtime& /*runtime*/, const ContextPtr& context) { return context->Synchronize(); });
}

CUresult CUDAAPI cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return CallInContext(ApiFunction::k_cuCtxGetStreamPriorityRange,
                       [&](Runtime& /*runtime*/, const ContextPtr& /*context*/) {
                         if (least != nullptr) *least = WorkerPool::kLeastPriority;
                         if (greatest != nullptr) *greatest = WorkerPool::kGreatestPriority;
                         return CUDA_SUCCESS;
                       });
}

}  // extern "C"
