#include "cuda/host/kernel_launch.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "cuda/host/block_runtime.h"
#include "cuda/host/device_attributes.h"

namespace weft::hostcuda {
namespace {

// Parameters lie as in a GPU's parameter space, aligned for every type.
struct alignas(16) ParameterChunk {
  unsigned char bytes[16];
};

CUresult ErrorOf(int32_t end) {
  switch (end) {
    case WEFT_HOST_OK:
      return CUDA_SUCCESS;
    case WEFT_HOST_OUT_OF_MEMORY:
      return CUDA_ERROR_OUT_OF_MEMORY;
    default:
      return CUDA_ERROR_LAUNCH_FAILED;
  }
}

class KernelLaunch final : public Action {
 public:
  KernelLaunch(std::shared_ptr<const Function> function, const weft_host_launch& shape)
      : function_(std::move(function)),
        shape_(shape),
        chunks_((function_->parameter_bytes() + sizeof(ParameterChunk) - 1) /
                sizeof(ParameterChunk)) {
    const weft_host_kernel& kernel = function_->kernel();
    pointers_.reserve(kernel.param_count);
    auto* base = reinterpret_cast<unsigned char*>(chunks_.data());
    for (uint32_t i = 0; i < kernel.param_count; ++i) {
      pointers_.push_back(base + kernel.params[i].offset);
    }
  }

  void SetParameter(uint32_t index, const void* value) {
    std::memcpy(pointers_[index], value, function_->kernel().params[index].size);
  }

  Outcome Run(const ActionEnvironment& environment) const override {
    const weft_host_kernel& kernel = function_->kernel();
    const Outcome planned = environment.faults.OnKernel(kernel.name);
    if (planned.never_ends || planned.error != CUDA_SUCCESS) return planned;
    return {ErrorOf(kernel.run(&shape_, pointers_.data(), &BlockRuntime())), false};
  }

  ExchangeRule exchange_rule() const override {
    return {true, {reinterpret_cast<uint64_t>(&function_->context())}};
  }

 private:
  const std::shared_ptr<const Function> function_;
  const weft_host_launch shape_;
  std::vector<ParameterChunk> chunks_;
  std::vector<void*> pointers_;
};

bool FitsLimits(const weft_host_launch& shape, const Function& function) {
  const auto within = [](uint32_t value, uint32_t limit) { return value > 0 && value <= limit; };
  if (!within(shape.grid_x, kMaxGridX) || !within(shape.grid_y, kMaxGridYZ) ||
      !within(shape.grid_z, kMaxGridYZ)) {
    return false;
  }
  if (!within(shape.block_x, kMaxThreads) || !within(shape.block_y, kMaxThreads) ||
      !within(shape.block_z, kMaxBlockZ)) {
    return false;
  }
  const uint64_t threads = uint64_t{shape.block_x} * shape.block_y * shape.block_z;
  return threads <= function.max_threads_per_block() &&
         shape.shared_bytes <= static_cast<uint32_t>(function.max_dynamic_shared_bytes());
}

// The packed parameters that `extra` names; false when it is malformed or they are too few.
bool FindPacked(void** extra, uint64_t needed, const unsigned char** packed) {
  size_t size = 0;
  *packed = nullptr;
  // Two keys with their values and the end: a list that is longer repeats itself.
  for (int i = 0; i < 2 && extra[0] != CU_LAUNCH_PARAM_END; ++i, extra += 2) {
    if (extra[1] == nullptr) return false;
    if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      *packed = static_cast<const unsigned char*>(extra[1]);
    } else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      size = *static_cast<const size_t*>(extra[1]);
    } else {
      return false;
    }
  }
  return extra[0] == CU_LAUNCH_PARAM_END && size >= needed && (*packed != nullptr || needed == 0);
}

bool CopyParameters(const Function& function, const LaunchRequest& request, KernelLaunch* launch) {
  const weft_host_kernel& kernel = function.kernel();
  const unsigned char* packed = nullptr;
  if (request.extra != nullptr) {
    if (request.params != nullptr) return false;
    if (!FindPacked(request.extra, function.parameter_bytes(), &packed)) return false;
  } else if (kernel.param_count > 0 && request.params == nullptr) {
    return false;
  }
  for (uint32_t i = 0; i < kernel.param_count; ++i) {
    const void* value = packed != nullptr ? packed + kernel.params[i].offset : request.params[i];
    if (value == nullptr) return false;
    launch->SetParameter(i, value);
  }
  return true;
}

}  // namespace

Function::Function(std::shared_ptr<Context> context, std::shared_ptr<const Image> image,
                   const weft_host_kernel* kernel)
    : context_(std::move(context)),
      image_(std::move(image)),
      kernel_(kernel),
      max_dynamic_shared_bytes_(kSharedBytes - static_cast<int>(kernel->static_shared_bytes)) {
  for (uint32_t i = 0; i < kernel->param_count; ++i) {
    const weft_host_param& param = kernel->params[i];
    parameter_bytes_ = std::max(parameter_bytes_, uint64_t{param.offset} + param.size);
  }
}

uint32_t Function::max_threads_per_block() const {
  return kernel_->max_threads_per_block == 0 ? kMaxThreads : kernel_->max_threads_per_block;
}

int Function::max_dynamic_shared_bytes() const {
  MutexLock lock(mu_);
  return max_dynamic_shared_bytes_;
}

CUresult Function::GetAttribute(CUfunction_attribute attribute, int* value) const {
  MutexLock lock(mu_);
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = static_cast<int>(max_threads_per_block());
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(kernel_->static_shared_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = max_dynamic_shared_bytes_;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = carveout_;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = 10 * kComputeCapabilityMajor + kComputeCapabilityMinor;
      return CUDA_SUCCESS;
    // A function of the host has no registers, local, constant or cached memory of a GPU.
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      *value = 0;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult Function::SetAttribute(CUfunction_attribute attribute, int value) {
  MutexLock lock(mu_);
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    const int limit = kSharedBytesOptin - static_cast<int>(kernel_->static_shared_bytes);
    if (value < 0 || value > limit) return CUDA_ERROR_INVALID_VALUE;
    max_dynamic_shared_bytes_ = value;
    return CUDA_SUCCESS;
  }
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
    if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;  // percent
    carveout_ = value;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult MakeKernelLaunch(const std::shared_ptr<const Function>& function,
                          const LaunchRequest& request, ActionPtr* action) {
  if (!FitsLimits(request.shape, *function)) return CUDA_ERROR_INVALID_VALUE;
  const CUresult attributes = request.attributes.Check(request.shape);
  if (attributes != CUDA_SUCCESS) return attributes;
  auto launch = std::make_shared<KernelLaunch>(function, request.shape);
  if (!CopyParameters(*function, request, launch.get())) return CUDA_ERROR_INVALID_VALUE;
  *action = std::move(launch);
  return CUDA_SUCCESS;
}

CUresult MaxActiveBlocks(const Function& function, int block_threads, uint64_t dynamic_shared_bytes,
                         int* blocks) {
  if (block_threads <= 0) return CUDA_ERROR_INVALID_VALUE;
  *blocks = 0;
  if (static_cast<uint32_t>(block_threads) > function.max_threads_per_block()) return CUDA_SUCCESS;
  if (dynamic_shared_bytes > static_cast<uint64_t>(kSharedBytesOptin)) return CUDA_SUCCESS;
  const int warps = (block_threads + kWarpSize - 1) / kWarpSize;
  const int by_threads = kMaxThreadsPerMultiprocessor / (warps * kWarpSize);
  const auto shared = static_cast<int>(dynamic_shared_bytes + kReservedSharedBytes +
                                       function.kernel().static_shared_bytes);
  *blocks =
      std::min({kMaxBlocksPerMultiprocessor, by_threads, kSharedBytesPerMultiprocessor / shared});
  return CUDA_SUCCESS;
}

}  // namespace weft::hostcuda
