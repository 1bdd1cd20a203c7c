// Memory of one device in the copies of another, as executors make them: allocated through the
// context of its device, exported as a descriptor, imported and mapped for the device whose stream
// copies.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "cuda/device_query.h"
#include "cuda/graph.h"
#include "cuda/memory.h"
#include "cuda/pitched.h"
#include "tests/conformance/conformance_test.h"

namespace weft::conformance {
namespace {

using testing::IsOk;
using ::testing::Not;

constexpr int kPeer = 1;

// An allocation mapped where the driver likes.
struct Mapped {
  static absl::StatusOr<Mapped> Create(const cuda::Context& context,
                                       const cuda::Allocation& allocation) {
    WEFT_ASSIGN_OR_RETURN(cuda::AddressRange range,
                          cuda::AddressRange::Reserve(context, allocation.size()));
    WEFT_ASSIGN_OR_RETURN(cuda::Mapping mapping,
                          cuda::Mapping::Create(context, range.address(), allocation));
    return Mapped{std::move(range), std::move(mapping)};
  }
  CUdeviceptr address() const { return mapping.address(); }

  cuda::AddressRange range;  // destroyed after the mapping in it
  cuda::Mapping mapping;
};

class PeerConformance : public ConformanceTest {
 protected:
  void SetUp() override {
    ConformanceTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_OK_AND_ASSIGN(const int count, cuda::DeviceCount(driver()));
    if (count < 2) GTEST_SKIP() << "there is one device";
    ASSERT_OK_AND_ASSIGN(const bool can, cuda::CanAccessPeer(driver(), 0, kPeer));
    if (!can) GTEST_SKIP() << "device 0 cannot reach the memory of device 1";
    ASSERT_OK_AND_ASSIGN(cuda::Context made, cuda::Context::Create(driver(), kPeer));
    peer_.emplace(std::move(made));
    ASSERT_OK_AND_ASSIGN(cuda::Allocation memory, cuda::Allocation::Create(*peer_, granularity()));
    ASSERT_OK_AND_ASSIGN(fd_, memory.ExportFd());
    ASSERT_OK_AND_ASSIGN(Mapped home, Mapped::Create(*peer_, memory));
    home_.emplace(std::move(home));
    ASSERT_OK_AND_ASSIGN(const cuda::Allocation imported,
                         cuda::Allocation::ImportFd(context(), fd_.get(), granularity()));
    ASSERT_OK_AND_ASSIGN(Mapped here, Mapped::Create(context(), imported));
    here_.emplace(std::move(here));
  }
  void TearDown() override {
    here_.reset();
    home_.reset();
    fd_.reset();
    peer_.reset();
    ConformanceTest::TearDown();
  }

  static std::vector<uint8_t> Count(size_t size) {
    std::vector<uint8_t> bytes(size);
    std::iota(bytes.begin(), bytes.end(), uint8_t{1});
    return bytes;
  }
  // The peer's memory as its own device sees it.
  std::vector<uint8_t> ReadAtHome(size_t size) const {
    std::vector<uint8_t> bytes(size);
    EXPECT_OK(cuda::CopyToHost(*peer_, bytes.data(), home_->address(), size));
    return bytes;
  }
  absl::Status WriteAtHome(const std::vector<uint8_t>& bytes) const {
    return cuda::CopyToDevice(*peer_, home_->address(), bytes.data(), bytes.size());
  }

  std::optional<cuda::Context> peer_;  // of the device whose memory it is
  UniqueFd fd_;
  std::optional<Mapped> home_;  // for the device whose memory it is
  std::optional<Mapped> here_;  // for the device of the suite
};

TEST_F(PeerConformance, ADeviceIsNoPeerOfItself) {
  ASSERT_OK_AND_ASSIGN(const bool can, cuda::CanAccessPeer(driver(), 0, 0));
  EXPECT_FALSE(can);
  EXPECT_THAT(cuda::CanAccessPeer(driver(), 0, 1000), Not(IsOk()));
}

TEST_F(PeerConformance, AStreamCopiesThereAndBack) {
  const DeviceBuffer buffer = MakeBuffer();
  const std::vector<uint8_t> bytes = Count(1000);
  ASSERT_OK(Write(buffer.address(), bytes));
  const cuda::Stream stream = MakeStream();
  ASSERT_OK(CopyAsync(stream.ref(), here_->address(), buffer.address(), bytes.size()));
  ASSERT_OK(CopyAsync(stream.ref(), buffer.address(4096), here_->address(), bytes.size()));
  ASSERT_OK(stream.ref().Synchronize());
  EXPECT_EQ(ReadAtHome(bytes.size()), bytes);
  EXPECT_EQ(Read<uint8_t>(buffer.address(4096), bytes.size()), bytes);
}

TEST_F(PeerConformance, AGraphCopiesThereAndBack) {
  const DeviceBuffer buffer = MakeBuffer();
  const std::vector<uint8_t> bytes = Count(1000);
  ASSERT_OK(Write(buffer.address(), bytes));
  ASSERT_OK_AND_ASSIGN(cuda::Graph graph, cuda::Graph::Create(context()));
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef there, graph.AddMemcpy({.destination = here_->address(),
                                                                   .source = buffer.address(),
                                                                   .size_bytes = bytes.size()},
                                                                  {}));
  ASSERT_OK(graph.AddMemcpy(
      {.destination = buffer.address(4096), .source = here_->address(), .size_bytes = bytes.size()},
      {there}));
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, graph.Instantiate());
  const cuda::Stream stream = MakeStream();
  ASSERT_OK(exec.Launch(stream.ref()));
  ASSERT_OK(stream.ref().Synchronize());
  EXPECT_EQ(ReadAtHome(bytes.size()), bytes);
  EXPECT_EQ(Read<uint8_t>(buffer.address(4096), bytes.size()), bytes);
}

TEST_F(PeerConformance, BoxesLeaveTheBytesBetweenRowsAlone) {
  const DeviceBuffer buffer = MakeBuffer();
  const std::vector<uint8_t> bytes = Count(64);
  ASSERT_OK(Write(buffer.address(), bytes));
  // Two slices of three rows of four bytes, in a stream and as a node of a graph.
  cuda::BoxCopy box{.destination = {.address = here_->address(), .pitch_bytes = 8, .slice_rows = 4},
                    .source = {.address = buffer.address(), .pitch_bytes = 4, .slice_rows = 3},
                    .width_bytes = 4,
                    .rows = 3,
                    .slices = 2};
  const cuda::Stream stream = MakeStream();
  for (const bool as_graph : {false, true}) {
    ASSERT_OK(WriteAtHome(std::vector<uint8_t>(64, 0xff)));
    if (as_graph) {
      ASSERT_OK_AND_ASSIGN(cuda::Graph graph, cuda::Graph::Create(context()));
      ASSERT_OK(graph.AddBoxCopy(box, {}));
      ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, graph.Instantiate());
      ASSERT_OK(exec.Launch(stream.ref()));
      ASSERT_OK(stream.ref().Synchronize());
    } else {
      ASSERT_OK(cuda::CopyBoxAsync(stream.ref(), box));
      ASSERT_OK(stream.ref().Synchronize());
    }
    std::vector<uint8_t> expected(64, 0xff);
    for (size_t row = 0; row < 6; ++row) {
      const size_t begin = (row / 3 * 4 + row % 3) * 8;
      std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(row * 4), 4,
                  expected.begin() + static_cast<ptrdiff_t>(begin));
    }
    EXPECT_EQ(ReadAtHome(64), expected) << as_graph;
  }
}

TEST_F(PeerConformance, HostMemoryGoesThereAndBack) {
  PinnedPage page(context());
  page.words()[0] = 0x0123456789abcdef;
  const cuda::Stream stream = MakeStream();
  ASSERT_OK(CopyAsync(stream.ref(), here_->address(), page.address(), 8));
  ASSERT_OK(CopyAsync(stream.ref(), page.address() + 8, here_->address(), 8));
  ASSERT_OK(stream.ref().Synchronize());
  EXPECT_EQ(page.words()[1], page.words()[0]);
}

TEST_F(PeerConformance, AMappingGoesOnWithoutThoseOfTheMemorysOwnDevice) {
  ASSERT_OK(WriteAtHome(Count(100)));
  home_.reset();
  fd_.reset();
  const DeviceBuffer buffer = MakeBuffer();
  const cuda::Stream stream = MakeStream();
  ASSERT_OK(CopyAsync(stream.ref(), buffer.address(), here_->address(), 100));
  ASSERT_OK(stream.ref().Synchronize());
  EXPECT_EQ(Read<uint8_t>(buffer.address(), 100), Count(100));
}

TEST_F(PeerConformance, TheMemoryCountsForItsOwnDevice) {
  ASSERT_OK_AND_ASSIGN(const cuda::MemoryInfo before, cuda::QueryMemory(context()));
  ASSERT_OK_AND_ASSIGN(const cuda::MemoryInfo peer_before, cuda::QueryMemory(*peer_));
  ASSERT_OK_AND_ASSIGN(const cuda::Allocation more,
                       cuda::Allocation::Create(*peer_, 16 * granularity()));
  ASSERT_OK_AND_ASSIGN(const UniqueFd fd, more.ExportFd());
  ASSERT_OK_AND_ASSIGN(const cuda::Allocation imported,
                       cuda::Allocation::ImportFd(context(), fd.get(), more.size()));
  ASSERT_OK_AND_ASSIGN(const Mapped here, Mapped::Create(context(), imported));
  ASSERT_OK_AND_ASSIGN(const cuda::MemoryInfo after, cuda::QueryMemory(context()));
  ASSERT_OK_AND_ASSIGN(const cuda::MemoryInfo peer_after, cuda::QueryMemory(*peer_));
  // Page tables may cost the device a little.
  EXPECT_GT(after.free_bytes + more.size(), before.free_bytes);
  EXPECT_LE(peer_after.free_bytes + more.size(), peer_before.free_bytes);
}

}  // namespace
}  // namespace weft::conformance
