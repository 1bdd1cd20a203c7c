// Managed memory: allocations, copies, prefetches, advice.

#include "cuda/managed_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "cuda/device_query.h"
#include "cuda/graph.h"
#include "cuda/status.h"
#include "tests/conformance/conformance_test.h"

namespace weft::conformance {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr size_t kSize = 1 << 20;

class ManagedMemoryConformance : public KernelTest {
 protected:
  void SetUp() override {
    KernelTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_OK_AND_ASSIGN(const cuda::DeviceInfo info,
                         cuda::QueryDeviceInfo(driver(), context().device()));
    if (!info.concurrent_managed_access) GTEST_SKIP() << "no concurrent managed access";
    memory_.emplace(cuda::ManagedMemory::Create(context(), kSize).value());
    stream_.emplace(MakeStream());
  }
  void TearDown() override {
    stream_.reset();
    memory_.reset();
    KernelTest::TearDown();
  }

  CUdeviceptr address(size_t offset = 0) const { return memory_->address() + offset; }
  uint32_t* words() const { return reinterpret_cast<uint32_t*>(memory_->address()); }
  absl::Status Prefetch(CUdeviceptr at, size_t size, cuda::Place to) const {
    return cuda::PrefetchAsync(stream_->ref(), {.address = at, .size_bytes = size, .to = to});
  }

  std::optional<cuda::ManagedMemory> memory_;
  std::optional<cuda::Stream> stream_;
};

TEST_F(ManagedMemoryConformance, HostAndDeviceSeeTheSameBytes) {
  words()[0] = 1;
  words()[1] = 2;
  EXPECT_THAT(Read<uint32_t>(address(), 2), ElementsAre(1, 2));
  ASSERT_OK(cuda::FillAsync(stream_->ref(), address(4), {.value = 7, .element_size = 4}, 2));
  ASSERT_OK(stream_->ref().Synchronize());
  EXPECT_EQ(words()[0], 1u);
  EXPECT_EQ(words()[1], 7u);
}

TEST_F(ManagedMemoryConformance, KernelsUseIt) {
  ASSERT_OK(cuda::FillAsync(stream_->ref(), address(), {.value = 0, .element_size = 4}, 1024));
  ASSERT_OK(Run(stream_->ref(), "append", address(), uint32_t{42}));
  ASSERT_OK(stream_->ref().Synchronize());
  EXPECT_THAT(ReadLog(address()), ElementsAre(42));
}

TEST_F(ManagedMemoryConformance, PrefetchesKeepTheBytesAndTheOrder) {
  ASSERT_OK(cuda::FillAsync(stream_->ref(), address(), {.value = 5, .element_size = 1}, kSize));
  ASSERT_OK(Prefetch(address(), kSize, cuda::Place::kHost));
  ASSERT_OK(Prefetch(address(4096), 8192, cuda::Place::kDevice));
  ASSERT_OK(cuda::FillAsync(stream_->ref(), address(), {.value = 6, .element_size = 1}, 16));
  ASSERT_OK(Prefetch(address(1), 3, cuda::Place::kHost));
  ASSERT_OK(stream_->ref().Synchronize());
  const auto bytes = Read<uint8_t>(address(), kSize);
  EXPECT_THAT(std::vector<uint8_t>(bytes.begin(), bytes.begin() + 16), Each(6));
  EXPECT_THAT(std::vector<uint8_t>(bytes.begin() + 16, bytes.end()), Each(5));
}

TEST_F(ManagedMemoryConformance, FreshMemoryMayBePrefetched) {
  EXPECT_OK(Prefetch(address(), kSize, cuda::Place::kDevice));
  EXPECT_OK(stream_->ref().Synchronize());
}

TEST_F(ManagedMemoryConformance, AdviceOfEveryKindIsTaken) {
  for (const cuda::Advice advice :
       {cuda::Advice::kReadMostly, cuda::Advice::kNotReadMostly, cuda::Advice::kPreferredLocation,
        cuda::Advice::kNoPreferredLocation, cuda::Advice::kAccessedBy,
        cuda::Advice::kNotAccessedBy}) {
    for (const cuda::Place place : {cuda::Place::kDevice, cuda::Place::kHost}) {
      EXPECT_OK(cuda::AdviseNow(
          context(), {.address = address(), .size_bytes = kSize, .advice = advice, .place = place}))
          << static_cast<int>(advice) << " " << static_cast<int>(place);
    }
  }
}

TEST_F(ManagedMemoryConformance, OtherMemoryIsNotPrefetchedOrAdvised) {
  const DeviceBuffer other = MakeBuffer();
  EXPECT_EQ(cuda::ResultOf(Prefetch(other.address(), 4096, cuda::Place::kDevice)),
            CUDA_ERROR_INVALID_VALUE);
  const absl::Status advised = cuda::AdviseNow(
      context(),
      {.address = other.address(), .size_bytes = 4096, .advice = cuda::Advice::kReadMostly});
  EXPECT_EQ(cuda::ResultOf(advised), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ManagedMemoryConformance, RangesBeyondItsEndAreInvalid) {
  EXPECT_EQ(cuda::ResultOf(Prefetch(address(), size_t{1} << 40, cuda::Place::kDevice)),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ManagedMemoryConformance, ZeroBytesAreInvalidToAllocateAndNothingToMove) {
  EXPECT_EQ(cuda::ResultOf(cuda::ManagedMemory::Create(context(), 0).status()),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_OK(Prefetch(address(), 0, cuda::Place::kHost));
}

TEST_F(ManagedMemoryConformance, GraphsCopyAndFillIt) {
  words()[0] = 3;
  ASSERT_OK_AND_ASSIGN(cuda::Graph graph, cuda::Graph::Create(context()));
  ASSERT_OK_AND_ASSIGN(
      const cuda::NodeRef copy,
      graph.AddMemcpy({.destination = address(64), .source = address(), .size_bytes = 4}, {}));
  ASSERT_OK(graph.AddMemset(
      {.destination = address(), .pattern = {.value = 9, .element_size = 4}, .width = 1}, {copy}));
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, graph.Instantiate());
  ASSERT_OK(exec.Launch(stream_->ref()));
  ASSERT_OK(stream_->ref().Synchronize());
  EXPECT_EQ(words()[0], 9u);
  EXPECT_EQ(words()[16], 3u);
}

}  // namespace
}  // namespace weft::conformance
