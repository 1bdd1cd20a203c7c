#include "cuda/memory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/unique_fd.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/cuda/fake_driver.h"

namespace weft::cuda {
namespace {

using ::testing::HasSubstr;
using testing::StatusIs;

constexpr size_t kSmall = 4096;

class MemoryTest : public ::testing::Test {
 protected:
  FakeDriver fake_;
  Context context_ = fake_.MakeContext();
};

TEST_F(MemoryTest, RefusedAccessUnmapsAgain) {
  ASSERT_OK_AND_ASSIGN(const Allocation allocation, Allocation::Create(context_, kSmall));
  fake_.Fail("cuMemSetAccess", CUDA_ERROR_INVALID_DEVICE);
  EXPECT_THAT(Mapping::Create(context_, 0x1000, allocation),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cuMemSetAccess")));
  EXPECT_EQ(fake_.live("mapping"), 0);
}

TEST_F(MemoryTest, MissingDevicePointerUnregistersAgain) {
  fake_.Fail("cuMemHostGetDevicePointer", CUDA_ERROR_INVALID_VALUE);
  char page[64] = {};
  EXPECT_THAT(PinnedHost::Register(context_, page, sizeof page),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(fake_.live("pinned"), 0);
}

TEST_F(MemoryTest, AnotherAddressThanAskedForIsGivenBack) {
  EXPECT_THAT(AddressRange::ReserveAt(context_, 0x7000, kSmall),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("0x7000")));
  EXPECT_EQ(fake_.live("range"), 0);
}

TEST_F(MemoryTest, RangeAtTheAskedAddressIsKept) {
  const CUdeviceptr next = fake_.next_reserved_address + 0x10000000;
  ASSERT_OK_AND_ASSIGN(const AddressRange range, AddressRange::ReserveAt(context_, next, kSmall));
  EXPECT_EQ(range.address(), next);
  EXPECT_EQ(fake_.live("range"), 1);
}

TEST_F(MemoryTest, ExportedDescriptorIsClosedOnExec) {
  ASSERT_OK_AND_ASSIGN(const Allocation allocation, Allocation::Create(context_, kSmall));
  fake_.exported_fd = open("/dev/null", O_RDONLY);  // as a driver may make it
  ASSERT_OK_AND_ASSIGN(const UniqueFd fd, allocation.ExportFd());
  EXPECT_EQ(fd.get(), fake_.exported_fd);
  EXPECT_EQ(fcntl(fd.get(), F_GETFD), FD_CLOEXEC);
}

TEST_F(MemoryTest, CopyOfNothingCallsNothing) {
  ASSERT_OK_AND_ASSIGN(const Stream stream, Stream::Create(context_, {}));
  EXPECT_OK(CopyToDevice(context_, 0, nullptr, 0));
  EXPECT_OK(CopyToHost(context_, nullptr, 0, 0));
  EXPECT_OK(CopyAsync(stream.ref(), 0, 0, 0));
  EXPECT_OK(FillAsync(stream.ref(), 0, {}, 0));
}

TEST_F(MemoryTest, PatternOfThreeBytesIsRefused) {
  ASSERT_OK_AND_ASSIGN(const Stream stream, Stream::Create(context_, {}));
  EXPECT_THAT(FillAsync(stream.ref(), 0x1000, {.value = 0, .element_size = 3}, 1),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not 3")));
}

}  // namespace
}  // namespace weft::cuda
