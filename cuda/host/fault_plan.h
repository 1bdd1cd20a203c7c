// The faults that a process is told to have, so that every error path above the driver can be
// driven on purpose. Three kinds, as written in the settings:
//
//   cuMemCreate:3:OUT_OF_MEMORY     the 3rd call of a driver function returns an error, once
//   kernel:x:ILLEGAL_ADDRESS        every run of kernel "x" faults; the device is lost from then on
//   kernel:y:HANG                   no run of kernel "y" ends
//   kernel:x:2:ILLEGAL_ADDRESS      only the 2nd run of the kernel
//
// Error names are those of CUresult without "CUDA_ERROR_".
// Thread safety: Add is called before other threads exist; the rest from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "cuda/host/cuda_api.h"

namespace weft::hostcuda {

// The driver functions by number (the order of cuda/driver_functions.inc).
enum class ApiFunction : uint32_t {
#define WEFT_DRIVER_FUNCTION(name, version) k_##name,
#define WEFT_DRIVER_OPTIONAL(name, version) k_##name,
#include "cuda/driver_functions.inc"
#undef WEFT_DRIVER_FUNCTION
#undef WEFT_DRIVER_OPTIONAL
  kCount,
};

// How one run of something on the device ended.
struct Outcome {
  CUresult error = CUDA_SUCCESS;
  bool never_ends = false;  // the run goes on for ever; `error` means nothing
};

class FaultPlan {
 public:
  FaultPlan();
  FaultPlan(const FaultPlan&) = delete;
  FaultPlan& operator=(const FaultPlan&) = delete;

  // Adds one fault from its text. INVALID_ARGUMENT says what is wrong with it.
  absl::Status Add(absl::string_view text);

  // Counts a call of `function`; the error that it must return, or CUDA_SUCCESS.
  CUresult OnCall(ApiFunction function);
  // Counts a run of the kernel; what becomes of it. {CUDA_SUCCESS, false}: run it.
  Outcome OnKernel(const char* name);

 private:
  struct CallFault {
    ApiFunction function;
    uint64_t call;  // counted from 1
    CUresult error;
  };
  struct KernelFault {
    uint64_t run = 0;  // counted from 1; 0: every run
    Outcome outcome;
    std::atomic<uint64_t> runs{0};
  };

  absl::Status AddCallFault(absl::string_view function, absl::string_view call,
                            absl::string_view error);
  absl::Status AddKernelFault(absl::string_view kernel, absl::string_view outcome);

  std::deque<CallFault> call_faults_;
  std::map<std::string, KernelFault, std::less<>> kernel_faults_;
  std::atomic<uint64_t> calls_[static_cast<size_t>(ApiFunction::kCount)];
};

// True for the errors after which a context is of no more use: every later call returns them.
bool IsStickyError(CUresult error);

}  // namespace weft::hostcuda
