#include "cuda/module.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cuda/status.h"

namespace weft::cuda {
namespace internal {

void UnloadModule(const ContextRef& context, CUmodule module) {
  const ScopedContext current(context);
  ReportReleaseError(*context.driver, context.driver->cuModuleUnload(module), "cuModuleUnload");
}

}  // namespace internal

absl::StatusOr<FunctionAttributes> Function::Attributes() const {
  WEFT_MAKE_CURRENT(context_);
  FunctionAttributes attributes;
  const std::array<std::pair<CUfunction_attribute, uint32_t*>, 5> wanted = {{
      {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &attributes.max_threads_per_block},
      {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &attributes.static_shared_bytes},
      {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &attributes.max_dynamic_shared_bytes},
      {CU_FUNC_ATTRIBUTE_NUM_REGS, &attributes.registers_per_thread},
      {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &attributes.local_bytes_per_thread},
  }};
  for (const auto& [attribute, field] : wanted) {
    int value = 0;
    WEFT_RETURN_IF_ERROR(
        WEFT_DRIVER_CALL(*context_.driver, cuFuncGetAttribute, &value, attribute, handle_));
    *field = static_cast<uint32_t>(value);
  }
  return attributes;
}

absl::StatusOr<std::vector<ParamInfo>> Function::Params() const {
  const Driver& driver = *context_.driver;
  if (driver.cuFuncGetParamInfo == nullptr) {
    return absl::UnimplementedError(
        "the driver does not tell the parameters of a function (cuFuncGetParamInfo, CUDA 12.4)");
  }
  WEFT_MAKE_CURRENT(context_);
  std::vector<ParamInfo> params;
  while (true) {
    ParamInfo param;
    const CUresult result =
        driver.cuFuncGetParamInfo(handle_, params.size(), &param.offset, &param.size);
    // The manual's way to find the count: the first index past the end is an invalid value.
    if (result == CUDA_ERROR_INVALID_VALUE) return params;
    WEFT_RETURN_IF_ERROR(ResultToStatus(driver, result, "cuFuncGetParamInfo"));
    params.push_back(param);
  }
}

absl::Status Function::SetMaxDynamicSharedBytes(uint32_t size_bytes) const {
  WEFT_MAKE_CURRENT(context_);
  return WEFT_DRIVER_CALL(*context_.driver, cuFuncSetAttribute, handle_,
                          CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                          static_cast<int>(size_bytes));
}

absl::StatusOr<uint32_t> Function::MaxActiveBlocksPerMultiprocessor(
    uint32_t block_threads, size_t dynamic_shared_bytes) const {
  WEFT_MAKE_CURRENT(context_);
  int blocks = 0;
  WEFT_RETURN_IF_ERROR(
      WEFT_DRIVER_CALL(*context_.driver, cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks,
                       handle_, static_cast<int>(block_threads), dynamic_shared_bytes));
  return static_cast<uint32_t>(blocks);
}

absl::StatusOr<double> Function::Occupancy(uint32_t block_threads,
                                           size_t dynamic_shared_bytes) const {
  WEFT_ASSIGN_OR_RETURN(const uint32_t blocks,
                        MaxActiveBlocksPerMultiprocessor(block_threads, dynamic_shared_bytes));
  int threads = 0;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(*context_.driver, cuDeviceGetAttribute, &threads,
                                        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
                                        context_.device));
  if (threads <= 0) return 0.0;
  return static_cast<double>(blocks) * block_threads / threads;
}

absl::StatusOr<uint64_t> Function::MaxActiveBlocks(uint32_t block_threads,
                                                   size_t dynamic_shared_bytes) const {
  WEFT_ASSIGN_OR_RETURN(const uint32_t of_one,
                        MaxActiveBlocksPerMultiprocessor(block_threads, dynamic_shared_bytes));
  int multiprocessors = 0;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(*context_.driver, cuDeviceGetAttribute, &multiprocessors,
                                        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, context_.device));
  return uint64_t{of_one} * static_cast<uint32_t>(multiprocessors);
}

absl::StatusOr<Module> Module::Load(const Context& context, const std::string& image) {
  // The driver finds out by itself what the bytes are and where they end; none is an empty image.
  if (image.empty()) return absl::InvalidArgumentError("cuModuleLoadData: the image is empty");
  WEFT_MAKE_CURRENT(context.ref());
  CUmodule handle = nullptr;
  WEFT_RETURN_IF_ERROR(
      WEFT_DRIVER_CALL(context.driver(), cuModuleLoadData, &handle, image.c_str()));
  return Module(Owned(context.ref(), handle));
}

absl::StatusOr<Function> Module::GetFunction(const std::string& name) const {
  WEFT_MAKE_CURRENT(owned_.context());
  CUfunction handle = nullptr;
  const absl::Status status =
      WEFT_DRIVER_CALL(owned_.driver(), cuModuleGetFunction, &handle, owned_.get(), name.c_str());
  if (absl::IsNotFound(status)) {
    return absl::NotFoundError(absl::StrCat("the module has no function \"", name, "\""));
  }
  WEFT_RETURN_IF_ERROR(status);
  return Function(owned_.context(), handle);
}

absl::StatusOr<GlobalVariable> Module::GetGlobal(const std::string& name) const {
  WEFT_MAKE_CURRENT(owned_.context());
  GlobalVariable variable;
  const absl::Status status =
      WEFT_DRIVER_CALL(owned_.driver(), cuModuleGetGlobal, &variable.address, &variable.size,
                       owned_.get(), name.c_str());
  if (absl::IsNotFound(status)) {
    return absl::NotFoundError(absl::StrCat("the module has no variable \"", name, "\""));
  }
  WEFT_RETURN_IF_ERROR(status);
  return variable;
}

LaunchAttributeList::LaunchAttributeList(const LaunchAttributes& attributes) {
  if (attributes.cluster.x != 0) {
    CUlaunchAttribute& cluster = list_[size_++];
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim.x = attributes.cluster.x;
    cluster.value.clusterDim.y = attributes.cluster.y;
    cluster.value.clusterDim.z = attributes.cluster.z;
  }
  if (attributes.cooperative) {
    CUlaunchAttribute& cooperative = list_[size_++];
    cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    cooperative.value.cooperative = 1;
  }
  if (attributes.priority.has_value()) {
    CUlaunchAttribute& priority = list_[size_++];
    priority.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
    priority.value.priority = *attributes.priority;
  }
}

namespace {

absl::Status LaunchWithAttributes(const StreamRef& stream, const KernelLaunch& launch) {
  LaunchAttributeList attributes(launch.attributes);
  CUlaunchConfig config = {};
  config.gridDimX = launch.grid.x;
  config.gridDimY = launch.grid.y;
  config.gridDimZ = launch.grid.z;
  config.blockDimX = launch.block.x;
  config.blockDimY = launch.block.y;
  config.blockDimZ = launch.block.z;
  config.sharedMemBytes = launch.dynamic_shared_bytes;
  config.hStream = stream.handle();
  config.attrs = attributes.data();
  config.numAttrs = attributes.size();
  return WEFT_DRIVER_CALL(stream.driver(), cuLaunchKernelEx, &config, launch.function.handle(),
                          const_cast<void**>(launch.params), /*extra=*/nullptr);
}

}  // namespace

absl::Status LaunchKernel(const StreamRef& stream, const KernelLaunch& launch) {
  WEFT_MAKE_CURRENT(stream.context());
  if (launch.attributes.any()) return LaunchWithAttributes(stream, launch);
  // The driver only reads the array of pointers; its signature lacks the const.
  return WEFT_DRIVER_CALL(stream.driver(), cuLaunchKernel, launch.function.handle(), launch.grid.x,
                          launch.grid.y, launch.grid.z, launch.block.x, launch.block.y,
                          launch.block.z, launch.dynamic_shared_bytes, stream.handle(),
                          const_cast<void**>(launch.params), /*extra=*/nullptr);
}

}  // namespace weft::cuda
