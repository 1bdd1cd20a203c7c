#include "tests/unit/cuda/fake_driver.h"

#include <utility>

namespace weft::cuda {
namespace {

FakeDriver*& CurrentFake() {
  static FakeDriver* current = nullptr;
  return current;
}

template <typename Handle>
CUresult MakeHandle(const char* function, const char* kind, Handle** out) {
  uint64_t id = 0;
  const CUresult result = FakeDriver::Current().Make(function, kind, &id);
  if (result == CUDA_SUCCESS) *out = reinterpret_cast<Handle*>(id);
  return result;
}

CUresult MakeValue(const char* function, const char* kind, CUmemGenericAllocationHandle* out) {
  uint64_t id = 0;
  const CUresult result = FakeDriver::Current().Make(function, kind, &id);
  if (result == CUDA_SUCCESS) *out = id;
  return result;
}

CUresult MakeNode(const char* function, CUgraphNode* out, const CUgraphNode* dependencies,
                  size_t count) {
  FakeDriver::Current().last_dependencies.assign(dependencies, dependencies + count);
  return MakeHandle(function, "node", out);
}

void FillErrorsAndContexts(Driver& table) {
  table.cuInit = [](unsigned) { return FakeDriver::Current().Count("cuInit"); };
  table.cuGetErrorName = [](CUresult, const char**) { return CUDA_ERROR_INVALID_VALUE; };
  table.cuGetErrorString = [](CUresult, const char**) { return CUDA_ERROR_INVALID_VALUE; };
  table.cuDeviceGet = [](CUdevice* device, int ordinal) {
    *device = ordinal;
    return FakeDriver::Current().Count("cuDeviceGet");
  };
  table.cuDevicePrimaryCtxSetFlags = [](CUdevice, unsigned) {
    return FakeDriver::Current().Count("cuDevicePrimaryCtxSetFlags");
  };
  table.cuDevicePrimaryCtxRetain = [](CUcontext* context, CUdevice) {
    return MakeHandle("cuDevicePrimaryCtxRetain", "context", context);
  };
  table.cuDevicePrimaryCtxRelease = [](CUdevice) {
    return FakeDriver::Current().Destroy("cuDevicePrimaryCtxRelease", "context");
  };
  table.cuCtxGetCurrent = [](CUcontext* context) {
    const auto& stack = FakeDriver::Current().context_stack;
    *context = stack.empty() ? nullptr : stack.back();
    return FakeDriver::Current().Count("cuCtxGetCurrent");
  };
  table.cuCtxPushCurrent = [](CUcontext context) {
    const CUresult result = FakeDriver::Current().Count("cuCtxPushCurrent");
    if (result == CUDA_SUCCESS) FakeDriver::Current().context_stack.push_back(context);
    return result;
  };
  table.cuCtxPopCurrent = [](CUcontext* context) {
    auto& stack = FakeDriver::Current().context_stack;
    *context = stack.back();
    stack.pop_back();
    return FakeDriver::Current().Count("cuCtxPopCurrent");
  };
}

void FillMemory(Driver& table) {
  table.cuMemCreate = [](CUmemGenericAllocationHandle* handle, size_t, const CUmemAllocationProp*,
                         unsigned long long) {
    return MakeValue("cuMemCreate", "allocation", handle);
  };
  table.cuMemRelease = [](CUmemGenericAllocationHandle) {
    return FakeDriver::Current().Destroy("cuMemRelease", "allocation");
  };
  table.cuMemExportToShareableHandle = [](void* out, CUmemGenericAllocationHandle,
                                          CUmemAllocationHandleType, unsigned long long) {
    *static_cast<int*>(out) = FakeDriver::Current().exported_fd;
    return FakeDriver::Current().Count("cuMemExportToShareableHandle");
  };
  table.cuMemImportFromShareableHandle = [](CUmemGenericAllocationHandle* handle, void*,
                                            CUmemAllocationHandleType) {
    return MakeValue("cuMemImportFromShareableHandle", "allocation", handle);
  };
  table.cuMemAddressReserve = [](CUdeviceptr* address, size_t, size_t, CUdeviceptr,
                                 unsigned long long) {
    uint64_t id = 0;
    const CUresult result = FakeDriver::Current().Make("cuMemAddressReserve", "range", &id);
    FakeDriver::Current().next_reserved_address += 0x10000000;
    *address = FakeDriver::Current().next_reserved_address;
    return result;
  };
  table.cuMemAddressFree = [](CUdeviceptr, size_t) {
    return FakeDriver::Current().Destroy("cuMemAddressFree", "range");
  };
  table.cuMemMap = [](CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle,
                      unsigned long long) {
    uint64_t id = 0;
    return FakeDriver::Current().Make("cuMemMap", "mapping", &id);
  };
  table.cuMemSetAccess = [](CUdeviceptr, size_t, const CUmemAccessDesc*, size_t) {
    return FakeDriver::Current().Count("cuMemSetAccess");
  };
  table.cuMemUnmap = [](CUdeviceptr, size_t) {
    return FakeDriver::Current().Destroy("cuMemUnmap", "mapping");
  };
  table.cuMemAllocManaged = [](CUdeviceptr* address, size_t, unsigned) {
    return MakeValue("cuMemAllocManaged", "managed", address);
  };
  table.cuMemFree = [](CUdeviceptr) {
    return FakeDriver::Current().Destroy("cuMemFree", "managed");
  };
  table.cuMemHostRegister = [](void*, size_t, unsigned) {
    uint64_t id = 0;
    return FakeDriver::Current().Make("cuMemHostRegister", "pinned", &id);
  };
  table.cuMemHostUnregister = [](void*) {
    return FakeDriver::Current().Destroy("cuMemHostUnregister", "pinned");
  };
  table.cuMemHostGetDevicePointer = [](CUdeviceptr* address, void* host, unsigned) {
    *address = reinterpret_cast<uintptr_t>(host);
    return FakeDriver::Current().Count("cuMemHostGetDevicePointer");
  };
}

void FillStreamsAndModules(Driver& table) {
  table.cuStreamCreateWithPriority = [](CUstream* stream, unsigned, int) {
    return MakeHandle("cuStreamCreateWithPriority", "stream", stream);
  };
  table.cuStreamDestroy = [](CUstream) {
    return FakeDriver::Current().Destroy("cuStreamDestroy", "stream");
  };
  table.cuStreamQuery = [](CUstream) { return FakeDriver::Current().Count("cuStreamQuery"); };
  table.cuEventCreate = [](CUevent* event, unsigned) {
    return MakeHandle("cuEventCreate", "event", event);
  };
  table.cuEventDestroy = [](CUevent) {
    return FakeDriver::Current().Destroy("cuEventDestroy", "event");
  };
  table.cuEventQuery = [](CUevent) { return FakeDriver::Current().Count("cuEventQuery"); };
  table.cuModuleLoadData = [](CUmodule* module, const void*) {
    return MakeHandle("cuModuleLoadData", "module", module);
  };
  table.cuModuleUnload = [](CUmodule) {
    return FakeDriver::Current().Destroy("cuModuleUnload", "module");
  };
  table.cuModuleGetFunction = [](CUfunction* function, CUmodule, const char*) {
    return MakeHandle("cuModuleGetFunction", "function", function);
  };
}

void FillGraphs(Driver& table) {
  table.cuGraphCreate = [](CUgraph* graph, unsigned) {
    return MakeHandle("cuGraphCreate", "graph", graph);
  };
  table.cuGraphDestroy = [](CUgraph) {
    return FakeDriver::Current().Destroy("cuGraphDestroy", "graph");
  };
  table.cuGraphAddEmptyNode = [](CUgraphNode* node, CUgraph, const CUgraphNode* dependencies,
                                 size_t count) {
    return MakeNode("cuGraphAddEmptyNode", node, dependencies, count);
  };
  table.cuGraphInstantiateWithFlags = [](CUgraphExec* exec, CUgraph, unsigned long long) {
    return MakeHandle("cuGraphInstantiateWithFlags", "exec", exec);
  };
  table.cuGraphExecDestroy = [](CUgraphExec) {
    return FakeDriver::Current().Destroy("cuGraphExecDestroy", "exec");
  };
}

}  // namespace

FakeDriver::FakeDriver() {
  CurrentFake() = this;
  FillErrorsAndContexts(table_);
  FillMemory(table_);
  FillStreamsAndModules(table_);
  FillGraphs(table_);
}

FakeDriver::~FakeDriver() { CurrentFake() = nullptr; }

FakeDriver& FakeDriver::Current() { return *CurrentFake(); }

Context FakeDriver::MakeContext() { return Context::Create(table_, 0).value(); }

int FakeDriver::live(const std::string& kind) const {
  const auto at = live_.find(kind);
  return at == live_.end() ? 0 : at->second;
}

int FakeDriver::calls(const std::string& function) const {
  const auto at = calls_.find(function);
  return at == calls_.end() ? 0 : at->second;
}

CUresult FakeDriver::Count(const char* function) {
  ++calls_[function];
  const auto failure = failures_.find(function);
  return failure == failures_.end() ? CUDA_SUCCESS : failure->second;
}

CUresult FakeDriver::Make(const char* function, const char* kind, uint64_t* id) {
  const CUresult result = Count(function);
  if (result != CUDA_SUCCESS) return result;
  ++live_[kind];
  *id = next_id_++;
  return CUDA_SUCCESS;
}

CUresult FakeDriver::Destroy(const char* function, const char* kind) {
  const CUresult result = Count(function);
  if (result == CUDA_SUCCESS) --live_[kind];
  return result;
}

}  // namespace weft::cuda
