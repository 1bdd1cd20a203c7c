// Kernels of a module, and their launches as actions.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "cuda/host/action.h"
#include "cuda/host/context.h"
#include "cuda/host/cuda_api.h"
#include "cuda/host/image.h"
#include "cuda/host/launch_attributes.h"
#include "cuda/host/mutex.h"

namespace weft::hostcuda {

// One entry point of a module, with what cuFuncSetAttribute set.
// Thread safety: all members may be called from any thread.
class Function {
 public:
  Function(std::shared_ptr<Context> context, std::shared_ptr<const Image> image,
           const weft_host_kernel* kernel);

  const Context& context() const { return *context_; }
  const weft_host_kernel& kernel() const { return *kernel_; }
  uint32_t max_threads_per_block() const;
  // Bytes from the first to the last parameter.
  uint64_t parameter_bytes() const { return parameter_bytes_; }

  // Errors: INVALID_VALUE for an attribute that does not exist, or a value out of its range.
  CUresult GetAttribute(CUfunction_attribute attribute, int* value) const;
  CUresult SetAttribute(CUfunction_attribute attribute, int value);
  int max_dynamic_shared_bytes() const;

 private:
  const std::shared_ptr<Context> context_;
  const std::shared_ptr<const Image> image_;  // holds *kernel_
  const weft_host_kernel* const kernel_;
  uint64_t parameter_bytes_ = 0;
  mutable Mutex mu_;
  int max_dynamic_shared_bytes_ ABSL_GUARDED_BY(mu_);
  int carveout_ ABSL_GUARDED_BY(mu_) = -1;  // -1: the driver's choice
};

// A launch as the API's calls and nodes describe it.
struct LaunchRequest {
  weft_host_launch shape;
  void** params = nullptr;  // one pointer a parameter; or
  void** extra = nullptr;   // the packed parameters: CU_LAUNCH_PARAM_BUFFER_POINTER and _SIZE
  LaunchAttributes attributes = {};
};

// Copies the parameters. Errors: INVALID_VALUE for shapes and shared memory beyond the limits, and
// for parameters that are missing or given twice; those of LaunchAttributes::Check.
CUresult MakeKernelLaunch(const std::shared_ptr<const Function>& function,
                          const LaunchRequest& request, ActionPtr* action);

// How many blocks of the function a multiprocessor of the device that the limits describe would hold.
// Errors: INVALID_VALUE.
CUresult MaxActiveBlocks(const Function& function, int block_threads, uint64_t dynamic_shared_bytes,
                         int* blocks);

}  // namespace weft::hostcuda
