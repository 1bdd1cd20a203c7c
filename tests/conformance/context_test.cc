// Contexts, properties of devices, names of errors.

#include "cuda/context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "cuda/device_query.h"
#include "cuda/driver_loader.h"
#include "cuda/status.h"
#include "tests/conformance/conformance_test.h"

namespace weft::conformance {
namespace {

using ::testing::Each;
using ::testing::Ge;
using ::testing::Gt;
using testing::StatusIs;

class ContextConformance : public ConformanceTest {
 protected:
  CUcontext Current() const {
    CUcontext current = nullptr;
    EXPECT_EQ(driver().cuCtxGetCurrent(&current), CUDA_SUCCESS);
    return current;
  }
};

TEST_F(ContextConformance, PrimaryContextIsShared) {
  ASSERT_OK_AND_ASSIGN(const cuda::Context again, cuda::Context::Create(driver(), 0));
  EXPECT_EQ(again.handle(), context().handle());
}

// Deprecated since CUDA 11 and implied by every context; a GPU's driver refuses it for a primary one.
TEST_F(ContextConformance, PrimaryContextRefusesTheFlagForMappedHostMemory) {
  EXPECT_EQ(driver().cuDevicePrimaryCtxSetFlags(context().device(), CU_CTX_MAP_HOST),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ContextConformance, GuardsNest) {
  const CUcontext before = Current();
  {
    const cuda::ScopedContext outer(context());
    EXPECT_EQ(Current(), context().handle());
    {
      const cuda::ScopedContext inner(context());
      EXPECT_EQ(Current(), context().handle());
    }
    EXPECT_EQ(Current(), context().handle());
  }
  EXPECT_EQ(Current(), before);
}

TEST_F(ContextConformance, CurrentContextBelongsToTheThread) {
  const cuda::ScopedContext current(context());
  CUcontext seen = context().handle();
  CUresult made = CUDA_SUCCESS;
  std::thread other([&] {
    seen = Current();
    CUstream stream = nullptr;
    made = driver().cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0);
  });
  other.join();
  EXPECT_EQ(seen, nullptr);
  EXPECT_EQ(made, CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(ContextConformance, DeviceOutOfRangeIsInvalid) {
  ASSERT_OK_AND_ASSIGN(const int count, cuda::DeviceCount(driver()));
  EXPECT_GE(count, 1);
  for (const int ordinal : {-1, count}) {
    const auto made = cuda::Context::Create(driver(), ordinal);
    EXPECT_EQ(cuda::ResultOf(made.status()), CUDA_ERROR_INVALID_DEVICE) << ordinal;
  }
}

TEST_F(ContextConformance, InitialisingTwiceIsFine) { EXPECT_OK(cuda::InitializeDriver(driver())); }

TEST_F(ContextConformance, DeviceInfoIsPlausible) {
  ASSERT_OK_AND_ASSIGN(const cuda::DeviceInfo info, cuda::QueryDeviceInfo(driver(), 0));
  EXPECT_FALSE(info.name.empty());
  EXPECT_NE(info.uuid, (cuda::DeviceInfo{}.uuid));
  EXPECT_GE(info.driver_version, cuda::kMinDriverVersion);
  EXPECT_GE(info.compute_major, 7);
  EXPECT_GE(info.total_memory_bytes, uint64_t{256} << 20);
  EXPECT_EQ(info.allocation_granularity_bytes, granularity());
  EXPECT_GE(info.multiprocessor_count, 1u);
  EXPECT_EQ(info.warp_size, 32u);
  EXPECT_GE(info.max_concurrent_kernels, 2u);
  EXPECT_GE(info.max_grid[0], 65535u);
  EXPECT_THAT(info.max_grid, Each(Ge(65535u)));
  EXPECT_THAT(info.max_block, Each(Gt(0u)));
  EXPECT_GE(info.max_threads_per_block, 1024u);
  EXPECT_GE(info.shared_bytes_per_block, 48u << 10);
  EXPECT_GE(info.shared_bytes_per_block_optin, info.shared_bytes_per_block);
  EXPECT_GE(info.max_parameter_bytes, 4096u);
}

TEST_F(ContextConformance, MemoryInfoFollowsAllocations) {
  ASSERT_OK_AND_ASSIGN(const cuda::MemoryInfo before, cuda::QueryMemory(context()));
  EXPECT_LE(before.free_bytes, before.total_bytes);
  constexpr size_t kSize = 64 << 20;
  ASSERT_OK_AND_ASSIGN(const cuda::Allocation memory, cuda::Allocation::Create(context(), kSize));
  ASSERT_OK_AND_ASSIGN(const cuda::MemoryInfo during, cuda::QueryMemory(context()));
  EXPECT_LT(during.free_bytes, before.free_bytes);
  EXPECT_EQ(during.total_bytes, before.total_bytes);
}

// Also compares Weft's own table with what the driver says.
TEST_F(ContextConformance, ErrorsHaveTheirNames) {
  constexpr int kMaxResult = 999;
  int named = 0;
  for (int number = 0; number <= kMaxResult; ++number) {
    const auto result = static_cast<CUresult>(number);
    const char* name = nullptr;
    if (driver().cuGetErrorName(result, &name) != CUDA_SUCCESS) continue;
    const absl::string_view known = cuda::ResultName(result);
    if (known.empty()) continue;  // of a newer driver
    ++named;
    EXPECT_EQ(known, name);
    const char* description = nullptr;
    EXPECT_EQ(driver().cuGetErrorString(result, &description), CUDA_SUCCESS) << name;
  }
  EXPECT_GE(named, 90);
  const char* name = nullptr;
  EXPECT_EQ(driver().cuGetErrorName(static_cast<CUresult>(kMaxResult - 1), &name),
            CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace weft::conformance
