#include "server/executor/memory_map.h"

#include <memory>
#include <utility>
#include <vector>

#include "cuda/memory.h"
#include "server/executor/transfer_area.h"
#include "tests/testing/leak_baseline.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/executor/test_device.h"

namespace weft::executor {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using weft::testing::LeakBaseline;
using weft::testing::StatusIs;

class MemoryMapTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(map_, MemoryMap::Create(context_)); }

  std::vector<uint8_t> Read(CUdeviceptr address, size_t size) const {
    std::vector<uint8_t> bytes(size);
    EXPECT_OK(cuda::CopyToHost(context_, bytes.data(), address, size));
    return bytes;
  }
  void Write(CUdeviceptr address, const std::vector<uint8_t>& bytes) const {
    EXPECT_OK(cuda::CopyToDevice(context_, address, bytes.data(), bytes.size()));
  }

  const cuda::Context context_ = MakeContext();
  std::unique_ptr<MemoryMap> map_;
};

TEST_F(MemoryMapTest, NewMemoryReadsAsZeros) {
  for (uint64_t tag = 1; tag <= 2; ++tag) {
    ASSERT_OK_AND_ASSIGN(const AllocatedMemory memory, map_->Allocate(tag, 5));
    EXPECT_GE(memory.size_bytes, 5u);
    EXPECT_EQ(Read(memory.address, memory.size_bytes), std::vector<uint8_t>(memory.size_bytes));
    Write(memory.address, std::vector<uint8_t>(memory.size_bytes, 0xff));
    ASSERT_OK(map_->Free(tag));
  }
}

TEST_F(MemoryMapTest, MemoryOutlivesItsExecutorAtTheSameAddress) {
  ASSERT_OK_AND_ASSIGN(const AllocatedMemory memory, map_->Allocate(1, 100));
  Write(memory.address, {1, 2, 3});
  map_.reset();  // as if the process had ended
  ASSERT_OK_AND_ASSIGN(map_, MemoryMap::Create(context_));
  ASSERT_OK(map_->Import(
      7, {.fd = memory.fd.get(), .size_bytes = memory.size_bytes, .address = memory.address}));
  EXPECT_EQ(Read(memory.address, 3), (std::vector<uint8_t>{1, 2, 3}));
  ASSERT_OK_AND_ASSIGN(const ByteRange range, map_->RangeOf(7));
  EXPECT_EQ(range, (ByteRange{memory.address, memory.size_bytes}));
}

TEST_F(MemoryMapTest, TagsAreUsedOnce) {
  ASSERT_OK_AND_ASSIGN(const AllocatedMemory memory, map_->Allocate(1, 1));
  EXPECT_THAT(map_->Allocate(1, 1), StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(
      map_->Import(
          1, {.fd = memory.fd.get(), .size_bytes = memory.size_bytes, .address = memory.address}),
      StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(map_->Free(2), StatusIs(absl::StatusCode::kNotFound));
  ASSERT_OK(map_->Free(1));
  EXPECT_THAT(map_->Free(1), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(MemoryMapTest, SizesThatCannotBeAreErrors) {
  EXPECT_THAT(map_->Allocate(1, 0), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(map_->Allocate(1, ~uint64_t{0}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(map_->Allocate(1, uint64_t{1} << 40), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_OK(map_->Allocate(1, 1));
}

TEST_F(MemoryMapTest, ImportAtATakenAddressIsAnError) {
  ASSERT_OK_AND_ASSIGN(const AllocatedMemory memory, map_->Allocate(1, 1));
  EXPECT_FALSE(map_->Import(2, {.fd = memory.fd.get(),
                                .size_bytes = memory.size_bytes,
                                .address = memory.address})
                   .ok());
  EXPECT_FALSE(
      map_->Import(3, {.fd = -1, .size_bytes = memory.size_bytes, .address = 1 << 30}).ok());
}

TEST_F(MemoryMapTest, ContainsKnowsWhatIsMapped) {
  ASSERT_OK_AND_ASSIGN(const AllocatedMemory memory, map_->Allocate(1, 1));
  EXPECT_TRUE(map_->Contains({memory.address, memory.size_bytes}));
  EXPECT_TRUE(map_->Contains({memory.address + 5, 1}));
  EXPECT_FALSE(map_->Contains({memory.address, memory.size_bytes + 1}));
  EXPECT_FALSE(map_->Contains({memory.address - 1, 1}));
  EXPECT_FALSE(map_->Contains({memory.address, ~uint64_t{0}}));
  ASSERT_OK(map_->Free(1));
  EXPECT_FALSE(map_->Contains({memory.address, 1}));
}

TEST_F(MemoryMapTest, NothingIsLeaked) {
  ASSERT_OK(map_->Allocate(1, 1));
  ASSERT_OK(map_->Free(1));
  const LeakBaseline before = LeakBaseline::Take();
  ASSERT_OK_AND_ASSIGN(const cuda::MemoryInfo free_before, cuda::QueryMemory(context_));
  for (uint64_t tag = 0; tag < 5; ++tag) ASSERT_OK(map_->Allocate(tag, 1 << 20));
  for (uint64_t tag = 0; tag < 5; ++tag) ASSERT_OK(map_->Free(tag));
  EXPECT_THAT(before.Leaked(), IsEmpty());
  ASSERT_OK_AND_ASSIGN(const cuda::MemoryInfo free_after, cuda::QueryMemory(context_));
  EXPECT_EQ(free_after.free_bytes, free_before.free_bytes);
}

TEST_F(MemoryMapTest, TransfersGoBothWaysAndAreBounded) {
  ASSERT_OK_AND_ASSIGN(const AllocatedMemory memory, map_->Allocate(1, 4096));
  ASSERT_OK_AND_ASSIGN(transport::SharedMemory area,
                       transport::SharedMemory::Create("transfer", 8192));
  std::byte* bytes = area.data();
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<TransferArea> transfers,
                       TransferArea::Create(context_, *map_, std::move(area)));
  bytes[100] = std::byte{42};
  ASSERT_OK(
      transfers->ToDevice({.address = memory.address + 8, .offset_bytes = 100, .size_bytes = 1}));
  EXPECT_EQ(Read(memory.address + 8, 1).front(), 42);
  ASSERT_OK(transfers->FromDevice(
      {.address = memory.address + 8, .offset_bytes = 8191, .size_bytes = 1}));
  EXPECT_EQ(bytes[8191], std::byte{42});
  EXPECT_THAT(
      transfers->FromDevice({.address = memory.address, .offset_bytes = 8191, .size_bytes = 2}),
      StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(
      transfers->ToDevice({.address = memory.address - 1, .offset_bytes = 0, .size_bytes = 1}),
      StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(MemoryMapTest, MemoryOfAnotherDeviceIsMappedOnceAndFreed) {
  ASSERT_OK_AND_ASSIGN(const AllocatedMemory near, map_->Allocate(1, 8));
  const LeakBaseline before = LeakBaseline::Take();
  {
    PeerMemory memory{.device = kDoomedDevice};
    const UniqueFd fd = MemoryOfOtherDevice(context_, memory.size_bytes);
    memory.fd = fd.get();
    ASSERT_OK(map_->MapPeer(2, memory));
    ASSERT_OK(map_->MapPeer(2, memory));
    ASSERT_OK(map_->MapPeer(3, memory));  // the same memory at a second place
    ASSERT_OK_AND_ASSIGN(const ByteRange far, map_->RangeOf(2));
    ASSERT_OK_AND_ASSIGN(const ByteRange second, map_->RangeOf(3));
    EXPECT_FALSE(far.overlaps(second));
    EXPECT_EQ(far.size, memory.size_bytes);
    Write(near.address, {1, 2, 3});
    ASSERT_OK_AND_ASSIGN(const cuda::Stream stream, cuda::Stream::Create(context_, {}));
    ASSERT_OK(cuda::CopyAsync(stream.ref(), far.offset, near.address, 3));
    ASSERT_OK(stream.ref().Synchronize());
    EXPECT_EQ(Read(second.offset, 3), (std::vector<uint8_t>{1, 2, 3}));
  }
  ASSERT_OK(map_->Free(2));
  ASSERT_OK(map_->Free(3));
  EXPECT_THAT(map_->RangeOf(2), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(before.Leaked(), IsEmpty());
}

TEST_F(MemoryMapTest, MemoryOutOfReachIsRefusedAndLeavesNothing) {
  PeerMemory memory{.device = kHealthyDevice};  // a device is no peer of its own
  const UniqueFd fd = MemoryOfOtherDevice(context_, memory.size_bytes);
  memory.fd = fd.get();
  const LeakBaseline before = LeakBaseline::Take();
  EXPECT_THAT(map_->MapPeer(2, memory), StatusIs(absl::StatusCode::kFailedPrecondition,
                                                 HasSubstr("cannot reach the memory of device 0")));
  memory.device = 7;
  EXPECT_FALSE(map_->MapPeer(2, memory).ok());
  memory.device = kDoomedDevice;
  memory.fd = -1;
  EXPECT_FALSE(map_->MapPeer(2, memory).ok());
  EXPECT_THAT(map_->Free(2), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(before.Leaked(), IsEmpty());
}

}  // namespace
}  // namespace weft::executor
