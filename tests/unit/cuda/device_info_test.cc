#include "cuda/device_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "cuda/device_query.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/cuda/fake_driver.h"

namespace weft::cuda {
namespace {

using ::testing::ElementsAre;
using testing::StatusIs;

TEST(DeviceInfoTest, UuidReadsAsNvidiaSmiPrintsIt) {
  DeviceInfo info;
  for (size_t i = 0; i < info.uuid.size(); ++i) info.uuid[i] = static_cast<uint8_t>(i * 0x11);
  EXPECT_EQ(UuidText(info), "GPU-00112233-4455-6677-8899-aabbccddeeff");
  info.is_cpu = true;
  EXPECT_EQ(UuidText(info), "CPU-00112233-4455-6677-8899-aabbccddeeff");
}

TEST(DeviceInfoTest, ConcurrentKernelsFollowTheCapability) {
  EXPECT_EQ(MaxConcurrentKernels(5, 2), 32u);
  EXPECT_EQ(MaxConcurrentKernels(6, 1), 32u);
  EXPECT_EQ(MaxConcurrentKernels(7, 2), 16u);
  EXPECT_EQ(MaxConcurrentKernels(8, 0), 128u);
  EXPECT_EQ(MaxConcurrentKernels(9, 0), 128u);
  EXPECT_EQ(MaxConcurrentKernels(99, 0), 128u);
  EXPECT_EQ(MaxConcurrentKernels(0, 0), 1u);
}

TEST(DeviceInfoTest, LargeParametersNeedDeviceAndDriver) {
  EXPECT_EQ(MaxParameterBytes(9, 13000), 32764u);
  EXPECT_EQ(MaxParameterBytes(7, 12010), 32764u);
  EXPECT_EQ(MaxParameterBytes(9, 12000), 4096u);
  EXPECT_EQ(MaxParameterBytes(6, 13000), 4096u);
}

// A device whose attributes are their own numbers, but for the capability.
void FillDevice(FakeDriver& fake) {
  Driver& table = fake.table();
  table.cuDeviceGetName = [](char* name, int size, CUdevice) {
    std::snprintf(name, static_cast<size_t>(size), "Fake Device");
    return CUDA_SUCCESS;
  };
  table.cuDeviceGetUuid = [](CUuuid* uuid, CUdevice) {
    std::memset(uuid->bytes, 0x7f, sizeof uuid->bytes);
    return CUDA_SUCCESS;
  };
  table.cuDriverGetVersion = [](int* version) {
    *version = 13000;
    return CUDA_SUCCESS;
  };
  table.cuDeviceTotalMem = [](size_t* bytes, CUdevice) {
    *bytes = size_t{141} << 30;
    return CUDA_SUCCESS;
  };
  table.cuMemGetAllocationGranularity = [](size_t* bytes, const CUmemAllocationProp*,
                                           CUmemAllocationGranularity_flags) {
    *bytes = 2 << 20;
    return CUDA_SUCCESS;
  };
  table.cuDeviceGetAttribute = [](int* value, CUdevice_attribute attribute, CUdevice) {
    *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? 9
             : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? 0
                                                                         : attribute;
    return CUDA_SUCCESS;
  };
}

TEST(DeviceQueryTest, FillsEveryField) {
  FakeDriver fake;
  FillDevice(fake);
  ASSERT_OK_AND_ASSIGN(const DeviceInfo info, QueryDeviceInfo(fake.table(), 1));
  EXPECT_EQ(info.name, "Fake Device");
  EXPECT_EQ(info.ordinal, 1);
  EXPECT_EQ(info.uuid[15], 0x7f);
  EXPECT_EQ(info.compute_major, 9);
  EXPECT_EQ(info.driver_version, 13000);
  EXPECT_FALSE(info.is_cpu);
  EXPECT_EQ(info.total_memory_bytes, uint64_t{141} << 30);
  EXPECT_EQ(info.allocation_granularity_bytes, 2u << 20);
  EXPECT_THAT(info.max_grid,
              ElementsAre(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                          CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z));
  EXPECT_EQ(info.shared_bytes_per_block_optin,
            CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  EXPECT_EQ(info.max_concurrent_kernels, 128u);
  EXPECT_EQ(info.max_parameter_bytes, 32764u);
}

TEST(DeviceQueryTest, CpuDeviceRunsAKernelPerWorker) {
  FakeDriver fake;
  FillDevice(fake);
  fake.table().kind = DriverKind::kHost;
  ASSERT_OK_AND_ASSIGN(const DeviceInfo info, QueryDeviceInfo(fake.table(), 0));
  EXPECT_TRUE(info.is_cpu);
  EXPECT_EQ(info.max_concurrent_kernels, info.multiprocessor_count);
}

TEST(DeviceQueryTest, UnknownDeviceIsAnError) {
  FakeDriver fake;
  fake.Fail("cuDeviceGet", CUDA_ERROR_INVALID_DEVICE);
  EXPECT_THAT(QueryDeviceInfo(fake.table(), 7), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace weft::cuda
