// What every entry point does before and after its own part: the state of the library, the fault
// plan, the current context and its fault, and exceptions, none of which leaves the library.
#pragma once

#include <memory>
#include <new>
#include <system_error>
#include <utility>

#include "cuda/host/context.h"
#include "cuda/host/cuda_api.h"
#include "cuda/host/fault_plan.h"
#include "cuda/host/runtime.h"
#include "cuda/host/thread_state.h"

namespace weft::hostcuda {

#define WEFT_CU_RETURN_IF_ERROR(expr)                                       \
  do {                                                                      \
    if (const CUresult weft_result = (expr); weft_result != CUDA_SUCCESS) { \
      return weft_result;                                                   \
    }                                                                       \
  } while (false)

using ContextPtr = std::shared_ptr<Context>;

// The context that is current on this thread. Errors: INVALID_CONTEXT (none),
// CONTEXT_IS_DESTROYED (its last release is over).
inline CUresult CurrentContext(Runtime& runtime, ContextPtr* context) {
  const ThreadState& thread = ThreadState::Get();
  if (thread.contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *context = runtime.contexts.Find(thread.contexts.back());
  return *context == nullptr ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}

// The fault of the context that is current on this thread; SUCCESS when there is none.
inline CUresult CurrentFault(Runtime& runtime) {
  ContextPtr context;
  return CurrentContext(runtime, &context) == CUDA_SUCCESS ? context->fault() : CUDA_SUCCESS;
}

// Counts the call in the fault plan. A planned error that ends contexts ends the current one.
inline CUresult InjectFault(Runtime& runtime, ApiFunction function) {
  const CUresult planned = runtime.faults.OnCall(function);
  ContextPtr context;
  if (IsStickyError(planned) && CurrentContext(runtime, &context) == CUDA_SUCCESS) {
    context->Fail(planned);
  }
  return planned;
}

// For functions that need no context. Body: CUresult(Runtime&).
template <typename Body>
CUresult Call(ApiFunction function, Body&& body) noexcept {
  try {
    Runtime* const runtime = Runtime::Current();
    if (runtime == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
    if (ThreadState::Get().in_host_function) return CUDA_ERROR_NOT_PERMITTED;
    WEFT_CU_RETURN_IF_ERROR(InjectFault(*runtime, function));
    return body(*runtime);
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (const std::system_error&) {
    return CUDA_ERROR_OPERATING_SYSTEM;  // no more threads
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

// For functions of a device's memory, which need no context but do not outlive a fault of it.
template <typename Body>
CUresult CallOnDevice(ApiFunction function, Body&& body) noexcept {
  return Call(function, [&body](Runtime& runtime) -> CUresult {
    WEFT_CU_RETURN_IF_ERROR(CurrentFault(runtime));
    return body(runtime);
  });
}

// For functions that need a context. Body: CUresult(Runtime&, const ContextPtr&).
template <typename Body>
CUresult CallInContext(ApiFunction function, Body&& body) noexcept {
  return Call(function, [&body](Runtime& runtime) -> CUresult {
    ContextPtr context;
    WEFT_CU_RETURN_IF_ERROR(CurrentContext(runtime, &context));
    WEFT_CU_RETURN_IF_ERROR(context->fault());
    return body(runtime, context);
  });
}

// For functions that end something: after a fault they still end it, and return the fault.
template <typename Body>
CUresult CallToEnd(ApiFunction function, Body&& body) noexcept {
  return Call(function, [&body](Runtime& runtime) -> CUresult {
    WEFT_CU_RETURN_IF_ERROR(body(runtime));
    return CurrentFault(runtime);
  });
}

// The stream that a handle names; 0 and CU_STREAM_LEGACY are the legacy stream of the current context.
// Errors: INVALID_HANDLE, NOT_SUPPORTED (CU_STREAM_PER_THREAD), or the fault of the stream's context.
inline CUresult FindStream(Runtime& runtime, const ContextPtr& current, CUstream handle,
                           std::shared_ptr<Stream>* stream) {
  if (handle == CU_STREAM_PER_THREAD) return CUDA_ERROR_NOT_SUPPORTED;
  if (handle == nullptr || handle == CU_STREAM_LEGACY) {
    *stream = current->legacy_stream();
    return *stream == nullptr ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
  }
  *stream = runtime.streams.Find(HandleNumber(handle));
  return *stream == nullptr ? CUDA_ERROR_INVALID_HANDLE : (*stream)->context().fault();
}

}  // namespace weft::hostcuda
