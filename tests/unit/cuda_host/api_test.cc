// The driver's functions as a program calls them: handles, errors, faults, the end of a context.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "cuda/host/cuda_api.h"
#include "cuda/host/runtime.h"
#include "tests/testing/status_matchers.h"

namespace weft::hostcuda {
namespace {

template <typename Handle>
Handle MadeUp(uint64_t number = 0x1234567890) {
  return reinterpret_cast<Handle>(number);
}

class ApiTest : public ::testing::Test {
 protected:
  void Start(const std::string& settings) {
    ASSERT_OK(Runtime::Configure(settings));
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxPushCurrent(context_), CUDA_SUCCESS);
  }
  void TearDown() override {
    if (context_ != nullptr) {
      cuCtxPopCurrent(nullptr);
      cuDevicePrimaryCtxRelease(0);
    }
    Runtime::Reset();
  }
  CUstream NewStream() {
    CUstream stream = nullptr;
    EXPECT_EQ(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
    return stream;
  }
  CUfunction Kernel(const char* name) {
    std::ifstream file(WEFT_TEST_IMAGE, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    CUfunction function = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module_, bytes.data()), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleGetFunction(&function, module_, name), CUDA_SUCCESS);
    return function;
  }
  CUresult Launch(CUfunction function, CUstream stream) {
    return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr);
  }
  static CUmemAllocationProp Properties() {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return properties;
  }

  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
};

TEST_F(ApiTest, NothingWorksBeforeInitialisation) {
  int count = 0;
  CUdeviceptr address = 0;
  EXPECT_EQ(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(cuMemAlloc(&address, 1), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ApiTest, SettingsComeBeforeInitialisation) {
  EXPECT_THAT(Runtime::Configure("fault=x"), testing::StatusIs(absl::StatusCode::kInvalidArgument));
  Start("devices=2;memory_mib=64");
  EXPECT_THAT(Runtime::Configure("devices=1"),
              testing::StatusIs(absl::StatusCode::kFailedPrecondition));
  int count = 0;
  EXPECT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2);
  size_t bytes = 0;
  EXPECT_EQ(cuDeviceTotalMem(&bytes, 1), CUDA_SUCCESS);
  EXPECT_EQ(bytes, size_t{64} << 20);
}

TEST_F(ApiTest, WrongSettingsOfTheEnvironmentFailInitialisation) {
  ASSERT_EQ(::setenv("WEFT_HOSTCUDA", "workers=none", 1), 0);
  EXPECT_EQ(cuInit(0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(::setenv("WEFT_HOSTCUDA", "devices=3", 1), 0);
  EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
  int count = 0;
  EXPECT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_EQ(count, 3);
  ASSERT_EQ(::unsetenv("WEFT_HOSTCUDA"), 0);
}

TEST_F(ApiTest, CallsWithoutAContextSaySo) {
  ASSERT_OK(Runtime::Configure(""));
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAlloc(&address, 1), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxPushCurrent(MadeUp<CUcontext>()), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(ApiTest, MadeUpHandlesAreErrors) {
  Start("");
  const auto number = MadeUp<CUstream>();
  EXPECT_EQ(cuStreamSynchronize(number), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamDestroy(number), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamSynchronize(CU_STREAM_PER_THREAD), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuEventQuery(MadeUp<CUevent>()), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventRecord(nullptr, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleUnload(MadeUp<CUmodule>()), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(Launch(MadeUp<CUfunction>(), nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuGraphDestroy(MadeUp<CUgraph>()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphLaunch(MadeUp<CUgraphExec>(), nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemRelease(0x1234567890), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(0x1234567890), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ApiTest, StaleHandlesAreErrors) {
  Start("");
  const CUstream stream = NewStream();
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
  const CUfunction function = Kernel("fault");
  EXPECT_EQ(cuModuleUnload(module_), CUDA_SUCCESS);
  EXPECT_EQ(Launch(function, nullptr), CUDA_ERROR_INVALID_HANDLE);
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphNode other = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddEmptyNode(&node, graph, nullptr, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphAddEmptyNode(&other, graph, &node, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(ApiTest, EndOfTheContextEndsItsHandlesAndMemory) {
  Start("memory_mib=64");
  const CUstream stream = NewStream();
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAlloc(&address, 1 << 20), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8Async(address, 1, 1 << 20, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ASSERT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPushCurrent(context_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  EXPECT_EQ(cuMemGetInfo(&free_bytes, &total_bytes), CUDA_SUCCESS);
  EXPECT_EQ(free_bytes, total_bytes);
}

TEST_F(ApiTest, CountedCallFailsOnce) {
  Start("fault=cuMemCreate:2:OUT_OF_MEMORY");
  const CUmemAllocationProp properties = Properties();
  CUmemGenericAllocationHandle first = 0;
  CUmemGenericAllocationHandle second = 0;
  EXPECT_EQ(cuMemCreate(&first, 2 << 20, &properties, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemCreate(&second, 2 << 20, &properties, 0), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemCreate(&second, 2 << 20, &properties, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(first), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(second), CUDA_SUCCESS);
}

TEST_F(ApiTest, FaultOfAKernelIsReturnedByEveryLaterCall) {
  Start("fault=kernel:fault:ILLEGAL_ADDRESS");
  const CUstream stream = NewStream();
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAlloc(&address, 8), CUDA_SUCCESS);
  ASSERT_EQ(Launch(Kernel("fault"), stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuMemsetD8Async(address, 0, 8, stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuMemFree(address), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_ILLEGAL_ADDRESS);
  CUcontext again = nullptr;
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&again, 0), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(ApiTest, PlannedStickyErrorOfACallEndsTheContext) {
  Start("fault=cuMemAlloc:1:ECC_UNCORRECTABLE");
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAlloc(&address, 8), CUDA_ERROR_ECC_UNCORRECTABLE);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ECC_UNCORRECTABLE);
}

TEST_F(ApiTest, FaultOfOneDeviceLeavesTheOther) {
  Start("devices=2;fault=kernel:fault:LAUNCH_FAILED");
  ASSERT_EQ(Launch(Kernel("fault"), nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  CUcontext other = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&other, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPushCurrent(other), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
}

TEST_F(ApiTest, EndlessKernelKeepsItsStreamBusy) {
  Start("workers=1;fault=kernel:hang:HANG;fault=kernel:fault:LAUNCH_FAILED");
  const CUstream hung = NewStream();
  const CUstream other = NewStream();
  ASSERT_EQ(Launch(Kernel("hang"), hung), CUDA_SUCCESS);
  CUfunction failing = nullptr;
  ASSERT_EQ(cuModuleGetFunction(&failing, module_, "fault"), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(other), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(hung), CUDA_ERROR_NOT_READY);
  // Only the loss of the context ends it.
  ASSERT_EQ(Launch(failing, other), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(hung), CUDA_ERROR_LAUNCH_FAILED);
}

TEST_F(ApiTest, HostFunctionMayNotCallTheDriver) {
  Start("");
  CUresult result = CUDA_SUCCESS;
  const auto call = [](void* data) { *static_cast<CUresult*>(data) = cuCtxSynchronize(); };
  ASSERT_EQ(cuLaunchHostFunc(nullptr, call, &result), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(result, CUDA_ERROR_NOT_PERMITTED);
}

TEST_F(ApiTest, WildAndOverlongCopiesAreErrors) {
  Start("");
  CUdeviceptr address = 0;
  char bytes[64] = {};
  ASSERT_EQ(cuMemAlloc(&address, 64), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoD(address, bytes, 64), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoD(address + 1, bytes, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(0x1234, bytes, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoH(bytes, address + 64, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpy(address, 0x1234, 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpy(address, reinterpret_cast<CUdeviceptr>(bytes), 64), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(address), CUDA_SUCCESS);
}

TEST_F(ApiTest, AsynchronousCopyTakesSmallPageableBytesAtTheCall) {
  Start("");
  const CUstream stream = NewStream();
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAlloc(&address, 16), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8Async(address, 0, 16, stream), CUDA_SUCCESS);
  // Or it might clear the word only after the other stream has set it.
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitValue64(stream, address, 1, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
  uint64_t value = 7;
  const auto source = reinterpret_cast<CUdeviceptr>(&value);
  ASSERT_EQ(cuMemcpyAsync(address + 8, source, 8, stream), CUDA_SUCCESS);
  value = 8;
  ASSERT_EQ(cuStreamWriteValue64(nullptr, address, 1, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoH(&value, address + 8, 8), CUDA_SUCCESS);
  EXPECT_EQ(value, 7u);
  EXPECT_EQ(cuMemFree(address), CUDA_SUCCESS);
}

TEST_F(ApiTest, UnsupportedIsSaidNotIgnored) {
  Start("");
  CUmemAllocationProp properties = Properties();
  CUmemGenericAllocationHandle handle = 0;
  properties.location.type = CU_MEM_LOCATION_TYPE_HOST;
  EXPECT_EQ(cuMemCreate(&handle, 2 << 20, &properties, 0), CUDA_ERROR_NOT_SUPPORTED);
  properties = Properties();
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
  EXPECT_EQ(cuMemCreate(&handle, 2 << 20, &properties, 0), CUDA_ERROR_NOT_SUPPORTED);
  CUevent event = nullptr;
  EXPECT_EQ(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING),
            CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuStreamWaitValue64(nullptr, 0, 0, CU_STREAM_WAIT_VALUE_FLUSH),
            CUDA_ERROR_NOT_SUPPORTED);
}

TEST(ProcAddressTest, FunctionsAreFoundByNameAndVersion) {
  void* address = nullptr;
  CUdriverProcAddressQueryResult status;
  EXPECT_EQ(cuGetProcAddress_v2("cuMemAlloc", &address, 3020, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(address, reinterpret_cast<void*>(&cuMemAlloc));
  EXPECT_EQ(cuGetProcAddress_v2("cuMemCreate", &address, 3020, 0, &status), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_EQ(cuGetProcAddress_v2("cuNoSuch", &address, 13000, 0, &status), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(address, nullptr);
}

}  // namespace
}  // namespace weft::hostcuda
