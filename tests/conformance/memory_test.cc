// Allocations, address ranges, mappings, registered host memory, copies and fills.

#include "cuda/memory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "cuda/status.h"
#include "tests/conformance/conformance_test.h"

namespace weft::conformance {
namespace {

using ::testing::ElementsAre;
using testing::IsOk;
using ::testing::Not;
using testing::StatusIs;

class MemoryConformance : public ConformanceTest {
 protected:
  // 0, 1, 2, … as bytes, with a period that no power of two divides.
  static std::vector<uint8_t> Pattern(size_t size) {
    std::vector<uint8_t> bytes(size);
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i % 251);
    return bytes;
  }
  cuda::Allocation Allocate() const {
    return cuda::Allocation::Create(context(), granularity()).value();
  }
  cuda::AddressRange Reserve(size_t granules) const {
    return cuda::AddressRange::Reserve(context(), granules * granularity()).value();
  }
};

TEST_F(MemoryConformance, GranularityIsAPowerOfTwoOfPages) {
  EXPECT_EQ(granularity() & (granularity() - 1), 0u);
  EXPECT_GE(granularity(), 4096u);
}

TEST_F(MemoryConformance, SizesThatAreNoMultipleOfTheGranularityAreInvalid) {
  for (const size_t size : {size_t{0}, size_t{1}, granularity() + 1}) {
    const auto memory = cuda::Allocation::Create(context(), size);
    EXPECT_EQ(cuda::ResultOf(memory.status()), CUDA_ERROR_INVALID_VALUE) << size;
    const auto range = cuda::AddressRange::Reserve(context(), size);
    EXPECT_EQ(cuda::ResultOf(range.status()), CUDA_ERROR_INVALID_VALUE) << size;
  }
}

TEST_F(MemoryConformance, MoreThanTheDeviceHasIsOutOfMemory) {
  ASSERT_OK_AND_ASSIGN(const cuda::MemoryInfo info, cuda::QueryMemory(context()));
  const size_t granules = info.total_bytes / granularity() + 1;
  const auto memory = cuda::Allocation::Create(context(), granules * granularity());
  EXPECT_EQ(cuda::ResultOf(memory.status()), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(memory, StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(MemoryConformance, MappingKeepsTheMemoryAlive) {
  const cuda::AddressRange range = Reserve(1);
  std::optional<cuda::Allocation> memory = Allocate();
  ASSERT_OK_AND_ASSIGN(const cuda::Mapping mapping,
                       cuda::Mapping::Create(context(), range.address(), *memory));
  memory.reset();
  ASSERT_OK(Write(range.address(), Pattern(1000)));
  EXPECT_EQ(Read<uint8_t>(range.address(), 1000), Pattern(1000));
}

TEST_F(MemoryConformance, TwoMappingsShowTheSameMemory) {
  const cuda::AddressRange range = Reserve(2);
  const cuda::Allocation memory = Allocate();
  const CUdeviceptr second_address = range.address() + granularity();
  ASSERT_OK_AND_ASSIGN(const cuda::Mapping first,
                       cuda::Mapping::Create(context(), range.address(), memory));
  ASSERT_OK_AND_ASSIGN(const cuda::Mapping second,
                       cuda::Mapping::Create(context(), second_address, memory));
  ASSERT_OK(Write(first.address(), Pattern(1000)));
  EXPECT_EQ(Read<uint8_t>(second.address(), 1000), Pattern(1000));
}

TEST_F(MemoryConformance, CopyCrossesAdjacentMappings) {
  const cuda::AddressRange range = Reserve(2);
  ASSERT_OK_AND_ASSIGN(const cuda::Mapping first,
                       cuda::Mapping::Create(context(), range.address(), Allocate()));
  ASSERT_OK_AND_ASSIGN(
      const cuda::Mapping second,
      cuda::Mapping::Create(context(), range.address() + granularity(), Allocate()));
  const CUdeviceptr across = second.address() - 500;
  ASSERT_OK(Write(across, Pattern(1000)));
  EXPECT_EQ(Read<uint8_t>(across, 1000), Pattern(1000));
}

TEST_F(MemoryConformance, ReservesAFreedAddressAgain) {
  CUdeviceptr address = 0;
  {
    const cuda::AddressRange range = Reserve(3);
    address = range.address();
  }
  ASSERT_OK_AND_ASSIGN(const cuda::AddressRange again,
                       cuda::AddressRange::ReserveAt(context(), address, 3 * granularity()));
  EXPECT_EQ(again.address(), address);
  ASSERT_OK_AND_ASSIGN(const cuda::Mapping mapping,
                       cuda::Mapping::Create(context(), address, Allocate()));
  ASSERT_OK(Write(address, Pattern(100)));
  EXPECT_EQ(Read<uint8_t>(address, 100), Pattern(100));
}

TEST_F(MemoryConformance, TakenAddressIsNotReservedTwice) {
  const cuda::AddressRange range = Reserve(1);
  EXPECT_THAT(cuda::AddressRange::ReserveAt(context(), range.address(), granularity()),
              Not(IsOk()));
}

TEST_F(MemoryConformance, MappingOutsideAReservationIsRefused) {
  const cuda::AddressRange range = Reserve(1);
  ASSERT_OK_AND_ASSIGN(const cuda::Allocation large,
                       cuda::Allocation::Create(context(), 2 * granularity()));
  EXPECT_THAT(cuda::Mapping::Create(context(), range.address(), large), Not(IsOk()));
  EXPECT_THAT(cuda::Mapping::Create(context(), granularity(), Allocate()), Not(IsOk()));
}

TEST_F(MemoryConformance, MappingOffTheGranularityIsInvalid) {
  const cuda::AddressRange range = Reserve(2);
  const auto mapping = cuda::Mapping::Create(context(), range.address() + 4096, Allocate());
  EXPECT_EQ(cuda::ResultOf(mapping.status()), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryConformance, MappingOverAnotherIsRefused) {
  const cuda::AddressRange range = Reserve(1);
  ASSERT_OK_AND_ASSIGN(const cuda::Mapping mapping,
                       cuda::Mapping::Create(context(), range.address(), Allocate()));
  EXPECT_THAT(cuda::Mapping::Create(context(), range.address(), Allocate()), Not(IsOk()));
}

TEST_F(MemoryConformance, AccessToAnEmptyRangeIsRefused) {
  const cuda::AddressRange range = Reserve(1);
  CUmemAccessDesc description = {};
  description.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = context().device()};
  description.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  EXPECT_NE(driver().cuMemSetAccess(range.address(), granularity(), &description, 1), CUDA_SUCCESS);
}

// Seen on an H200 (driver 580): nothing to unmap is no error.
TEST_F(MemoryConformance, UnmappingAnEmptyRangeDoesNothing) {
  const cuda::AddressRange range = Reserve(1);
  EXPECT_EQ(driver().cuMemUnmap(range.address(), granularity()), CUDA_SUCCESS);
}

TEST_F(MemoryConformance, ImportOfAForeignDescriptorIsRefused) {
  const UniqueFd null_device(open("/dev/null", O_RDWR | O_CLOEXEC));
  EXPECT_THAT(cuda::Allocation::ImportFd(context(), null_device.get(), granularity()), Not(IsOk()));
}

TEST_F(MemoryConformance, ExportedDescriptorKeepsTheBytes) {
  UniqueFd fd;
  {
    const cuda::Allocation memory = Allocate();
    const cuda::AddressRange range = Reserve(1);
    ASSERT_OK_AND_ASSIGN(const cuda::Mapping mapping,
                         cuda::Mapping::Create(context(), range.address(), memory));
    ASSERT_OK(Write(range.address(), Pattern(1000)));
    ASSERT_OK_AND_ASSIGN(fd, memory.ExportFd());
  }
  ASSERT_OK_AND_ASSIGN(const cuda::Allocation memory,
                       cuda::Allocation::ImportFd(context(), fd.get(), granularity()));
  const cuda::AddressRange range = Reserve(1);
  ASSERT_OK_AND_ASSIGN(const cuda::Mapping mapping,
                       cuda::Mapping::Create(context(), range.address(), memory));
  EXPECT_EQ(Read<uint8_t>(range.address(), 1000), Pattern(1000));
}

TEST_F(MemoryConformance, CopiesInEveryDirection) {
  const DeviceBuffer device = MakeBuffer();
  PinnedPage from(context());
  PinnedPage to(context());
  std::iota(from.words(), from.words() + 8, 100);
  const cuda::Stream stream = MakeStream();
  constexpr size_t kBytes = 64;
  // host → device → device → host → host, the last between two host addresses.
  ASSERT_OK(CopyAsync(stream.ref(), device.address(), cuda::HostAddress(from.words()), kBytes));
  ASSERT_OK(CopyAsync(stream.ref(), device.address(4096), device.address(), kBytes));
  ASSERT_OK(CopyAsync(stream.ref(), cuda::HostAddress(to.words()), device.address(4096), kBytes));
  ASSERT_OK(CopyAsync(stream.ref(), cuda::HostAddress(to.words() + 8),
                      cuda::HostAddress(to.words()), kBytes));
  ASSERT_OK(stream.ref().Synchronize());
  for (uint64_t i = 0; i < 8; ++i) EXPECT_EQ(to.words()[8 + i], 100 + i);
}

TEST_F(MemoryConformance, CopiesPageableMemoryInStreamOrder) {
  const DeviceBuffer device = MakeBuffer();
  const std::vector<uint8_t> source = Pattern(100'000);
  std::vector<uint8_t> target(source.size());
  const cuda::Stream stream = MakeStream();
  ASSERT_OK(
      CopyAsync(stream.ref(), device.address(), cuda::HostAddress(source.data()), source.size()));
  ASSERT_OK(
      CopyAsync(stream.ref(), cuda::HostAddress(target.data()), device.address(), target.size()));
  ASSERT_OK(stream.ref().Synchronize());
  EXPECT_EQ(target, source);
}

TEST_F(MemoryConformance, OddSizesAndOffsetsTouchNothingElse) {
  const DeviceBuffer device = MakeBuffer();
  ASSERT_OK(Write(device.address(13), Pattern(7)));
  EXPECT_THAT(Read<uint8_t>(device.address(11), 11), ElementsAre(0, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0));
}

TEST_F(MemoryConformance, FillsOneTwoAndFourByteElements) {
  const DeviceBuffer device = MakeBuffer();
  const cuda::Stream stream = MakeStream();
  ASSERT_OK(FillAsync(stream.ref(), device.address(1), {.value = 0xAB, .element_size = 1}, 2));
  ASSERT_OK(FillAsync(stream.ref(), device.address(4), {.value = 0xBEEF, .element_size = 2}, 1));
  ASSERT_OK(
      FillAsync(stream.ref(), device.address(8), {.value = 0x01020304, .element_size = 4}, 1));
  ASSERT_OK(stream.ref().Synchronize());
  EXPECT_THAT(Read<uint8_t>(device.address(), 13),
              ElementsAre(0, 0xAB, 0xAB, 0, 0xEF, 0xBE, 0, 0, 4, 3, 2, 1, 0));
}

TEST_F(MemoryConformance, FillOffItsAlignmentIsInvalid) {
  const DeviceBuffer device = MakeBuffer();
  const cuda::Stream stream = MakeStream();
  for (const uint32_t element_size : {2u, 4u}) {
    const absl::Status status =
        FillAsync(stream.ref(), device.address(1), {.value = 1, .element_size = element_size}, 1);
    EXPECT_EQ(cuda::ResultOf(status), CUDA_ERROR_INVALID_VALUE) << element_size;
  }
}

TEST_F(MemoryConformance, RegisteringTwiceIsRefused) {
  PinnedPage page(context());
  const auto again = cuda::PinnedHost::Register(context(), page.words(), PinnedPage::kSize);
  EXPECT_EQ(cuda::ResultOf(again.status()), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
}

TEST_F(MemoryConformance, UnregisteringUnknownMemoryIsRefused) {
  const cuda::ScopedContext current(context());
  int local = 0;
  EXPECT_NE(driver().cuMemHostUnregister(&local), CUDA_SUCCESS);
}

TEST_F(MemoryConformance, PlainAllocationsWork) {
  const cuda::ScopedContext current(context());
  CUdeviceptr memory = 0;
  ASSERT_EQ(driver().cuMemAlloc(&memory, 1000), CUDA_SUCCESS);
  EXPECT_OK(Write(memory, Pattern(1000)));
  EXPECT_EQ(Read<uint8_t>(memory, 1000), Pattern(1000));
  EXPECT_EQ(driver().cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(driver().cuMemAlloc(&memory, 0), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace weft::conformance
