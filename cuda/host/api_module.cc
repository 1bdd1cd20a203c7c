// Modules, functions and launches.
#include <string>

#include "cuda/host/api_call.h"
#include "cuda/host/capture.h"
#include "cuda/host/kernel_launch.h"
#include "cuda/host/operations.h"

namespace weft::hostcuda {
namespace {

CUresult FindFunction(Runtime& runtime, CUfunction handle, std::shared_ptr<Function>* function) {
  *function = runtime.functions.Find(HandleNumber(handle));
  return *function == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult FindModule(Runtime& runtime, CUmodule handle, std::shared_ptr<LoadedModule>* module) {
  *module = runtime.modules.Find(HandleNumber(handle));
  return *module == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

// Makes the symbols of a module addresses that copies may use, or ends that.
void AddGlobals(Runtime& runtime, const LoadedModule& module) {
  const weft_host_image& table = module.image->table();
  for (uint32_t i = 0; i < table.global_count; ++i) {
    Region region;
    region.base = reinterpret_cast<uint64_t>(table.globals[i].address);
    region.size = table.globals[i].size;
    region.kind = RegionKind::kModuleGlobal;
    region.owner = module.context.get();
    runtime.regions.Insert(std::move(region));  // false: two names of one symbol
  }
}

void RemoveGlobals(Runtime& runtime, const LoadedModule& module) {
  const weft_host_image& table = module.image->table();
  for (uint32_t i = 0; i < table.global_count; ++i) {
    runtime.regions.Remove(reinterpret_cast<uint64_t>(table.globals[i].address),
                           RegionKind::kModuleGlobal);
  }
}

// The handle of a function: the same one each time it is asked for.
uint64_t FunctionHandle(Runtime& runtime, LoadedModule& module, const weft_host_kernel* kernel) {
  MutexLock lock(module.mu);
  const auto known = module.functions.find(kernel);
  if (known != module.functions.end()) return known->second;
  const uint64_t handle =
      runtime.functions.Insert(std::make_shared<Function>(module.context, module.image, kernel));
  module.functions[kernel] = handle;
  return handle;
}

CUresult Launch(Runtime& runtime, const ContextPtr& current, CUfunction handle,
                const LaunchRequest& request, CUstream stream_handle) {
  std::shared_ptr<Function> function;
  std::shared_ptr<Stream> stream;
  WEFT_CU_RETURN_IF_ERROR(FindFunction(runtime, handle, &function));
  WEFT_CU_RETURN_IF_ERROR(FindStream(runtime, current, stream_handle, &stream));
  if (&function->context() != &stream->context()) return CUDA_ERROR_INVALID_HANDLE;
  ActionPtr action;
  WEFT_CU_RETURN_IF_ERROR(MakeKernelLaunch(std::move(function), request, &action));
  return SubmitAction(stream, CU_GRAPH_NODE_TYPE_KERNEL, std::move(action),
                      request.attributes.priority);
}

CUresult ReadAttributes(const CUlaunchConfig& config, LaunchAttributes* attributes) {
  if (config.numAttrs > 0 && config.attrs == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned int i = 0; i < config.numAttrs; ++i) {
    WEFT_CU_RETURN_IF_ERROR(attributes->Set(config.attrs[i].id, config.attrs[i].value));
  }
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace weft::hostcuda

using namespace weft::hostcuda;  // NOLINT(google-build-using-namespace): the functions are global

extern "C" {

CUresult CUDAAPI cuModuleLoadData(CUmodule* module, const void* image) {
  return CallInContext(ApiFunction::k_cuModuleLoadData,
                       [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
                         if (module == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
                         auto loaded = std::make_shared<LoadedModule>();
                         loaded->context = context;
                         WEFT_CU_RETURN_IF_ERROR(Image::Load(image, &loaded->image));
                         AddGlobals(runtime, *loaded);
                         *module = MakeHandle<CUmodule>(runtime.modules.Insert(std::move(loaded)));
                         return CUDA_SUCCESS;
                       });
}

// Launches that are queued, and nodes of graphs, keep what they need of it.
CUresult CUDAAPI cuModuleUnload(CUmodule handle) {
  return CallToEnd(ApiFunction::k_cuModuleUnload, [&](Runtime& runtime) -> CUresult {
    const std::shared_ptr<LoadedModule> module = runtime.modules.Remove(HandleNumber(handle));
    if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    RemoveGlobals(runtime, *module);
    MutexLock lock(module->mu);
    for (const auto& [kernel, function] : module->functions) runtime.functions.Remove(function);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
  return CallInContext(ApiFunction::k_cuModuleGetFunction,
                       [&](Runtime& runtime, const ContextPtr& /*context*/) -> CUresult {
                         if (function == nullptr || name == nullptr)
                           return CUDA_ERROR_INVALID_VALUE;
                         std::shared_ptr<LoadedModule> module;
                         WEFT_CU_RETURN_IF_ERROR(FindModule(runtime, handle, &module));
                         const weft_host_kernel* kernel = module->image->FindKernel(name);
                         if (kernel == nullptr) return CUDA_ERROR_NOT_FOUND;
                         *function =
                             MakeHandle<CUfunction>(FunctionHandle(runtime, *module, kernel));
                         return CUDA_SUCCESS;
                       });
}

CUresult CUDAAPI cuModuleGetGlobal(CUdeviceptr* address, size_t* size, CUmodule handle,
                                   const char* name) {
  return CallInContext(ApiFunction::k_cuModuleGetGlobal,
                       [&](Runtime& runtime, const ContextPtr& /*context*/) -> CUresult {
                         if (name == nullptr || (address == nullptr && size == nullptr)) {
                           return CUDA_ERROR_INVALID_VALUE;
                         }
                         std::shared_ptr<LoadedModule> module;
                         WEFT_CU_RETURN_IF_ERROR(FindModule(runtime, handle, &module));
                         const weft_host_global* global = module->image->FindGlobal(name);
                         if (global == nullptr) return CUDA_ERROR_NOT_FOUND;
                         if (address != nullptr)
                           *address = reinterpret_cast<uint64_t>(global->address);
                         if (size != nullptr) *size = global->size;
                         return CUDA_SUCCESS;
                       });
}

CUresult CUDAAPI cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction handle) {
  return CallInContext(ApiFunction::k_cuFuncGetAttribute,
                       [&](Runtime& runtime, const ContextPtr& /*context*/) -> CUresult {
                         if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
                         std::shared_ptr<Function> function;
                         WEFT_CU_RETURN_IF_ERROR(FindFunction(runtime, handle, &function));
                         return function->GetAttribute(attribute, value);
                       });
}

CUresult CUDAAPI cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  return CallInContext(ApiFunction::k_cuFuncSetAttribute,
                       [&](Runtime& runtime, const ContextPtr& /*context*/) -> CUresult {
                         std::shared_ptr<Function> function;
                         WEFT_CU_RETURN_IF_ERROR(FindFunction(runtime, handle, &function));
                         return function->SetAttribute(attribute, value);
                       });
}

CUresult CUDAAPI cuFuncGetParamInfo(CUfunction handle, size_t index, size_t* offset, size_t* size) {
  return CallInContext(ApiFunction::k_cuFuncGetParamInfo,
                       [&](Runtime& runtime, const ContextPtr& /*context*/) -> CUresult {
                         if (offset == nullptr)
                           return CUDA_ERROR_INVALID_VALUE;  // `size` is optional
                         std::shared_ptr<Function> function;
                         WEFT_CU_RETURN_IF_ERROR(FindFunction(runtime, handle, &function));
                         if (index >= function->kernel().param_count)
                           return CUDA_ERROR_INVALID_VALUE;
                         *offset = function->kernel().params[index].offset;
                         if (size != nullptr) *size = function->kernel().params[index].size;
                         return CUDA_SUCCESS;
                       });
}

CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction handle,
                                                             int block_threads,
                                                             size_t dynamic_shared_bytes) {
  return CallInContext(ApiFunction::k_cuOccupancyMaxActiveBlocksPerMultiprocessor,
                       [&](Runtime& runtime, const ContextPtr& /*context*/) -> CUresult {
                         if (blocks == nullptr) return CUDA_ERROR_INVALID_VALUE;
                         std::shared_ptr<Function> function;
                         WEFT_CU_RETURN_IF_ERROR(FindFunction(runtime, handle, &function));
                         return MaxActiveBlocks(*function, block_threads, dynamic_shared_bytes,
                                                blocks);
                       });
}

// NOLINTNEXTLINE(readability-function-size): the driver API's own signature
CUresult CUDAAPI cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                                void** params, void** extra) {
  return CallInContext(ApiFunction::k_cuLaunchKernel, [&](Runtime& runtime,
                                                          const ContextPtr& context) {
    const weft_host_launch shape{grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes};
    return Launch(runtime, context, function, LaunchRequest{shape, params, extra}, stream);
  });
}

CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** params,
                                  void** extra) {
  return CallInContext(ApiFunction::k_cuLaunchKernelEx,
                       [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
                         if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
                         LaunchRequest request;
                         request.shape = {config->gridDimX,      config->gridDimY,
                                          config->gridDimZ,      config->blockDimX,
                                          config->blockDimY,     config->blockDimZ,
                                          config->sharedMemBytes};
                         request.params = params;
                         request.extra = extra;
                         WEFT_CU_RETURN_IF_ERROR(ReadAttributes(*config, &request.attributes));
                         return Launch(runtime, context, function, request, config->hStream);
                       });
}

}  // extern "C"
