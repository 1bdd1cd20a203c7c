#include "cuda/host/configure.h"

#include <string>

#include "base/log.h"
#include "cuda/host/runtime.h"

int weft_hostcuda_configure(const char* text) {
  try {
    if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const absl::Status status = weft::hostcuda::Runtime::Configure(text);
    if (status.ok()) return CUDA_SUCCESS;
    weft::log::Error("the CPU driver's settings were refused",
                     {{"error", std::string(status.message())}});
    return absl::IsFailedPrecondition(status) ? CUDA_ERROR_ILLEGAL_STATE : CUDA_ERROR_INVALID_VALUE;
  } catch (...) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
}
