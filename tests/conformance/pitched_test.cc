// Copies and fills of rows with a pitch, in streams and in graphs.

#include "cuda/pitched.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "cuda/graph.h"
#include "cuda/status.h"
#include "tests/conformance/conformance_test.h"

namespace weft::conformance {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr size_t kBytes = 64 * 1024;
constexpr CUdeviceptr kTarget = 1 << 20;  // from the start of the buffer

// A side as offsets: where the box begins in the source bytes or in the target bytes.
struct Offset {
  size_t offset, pitch, slice_rows;
};
struct Box {
  size_t width, rows, slices;
  Offset to, from;
};

// In streams and as a node of a graph.
class PitchedConformance : public ConformanceTest, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    ConformanceTest::SetUp();
    if (IsSkipped()) return;
    memory_.emplace(MakeBuffer());
    for (size_t i = 0; i < kBytes; ++i) source_.push_back(static_cast<uint8_t>(i % 251));
    ASSERT_OK(Write(memory_->address(), source_));
    ASSERT_OK(Write(memory_->address(kTarget), std::vector<uint8_t>(kBytes, 255)));
  }
  void TearDown() override {
    memory_.reset();
    ConformanceTest::TearDown();
  }

  absl::Status Copy(const cuda::BoxCopy& copy) const {
    const cuda::Stream stream = MakeStream();
    if (!GetParam()) {
      WEFT_RETURN_IF_ERROR(cuda::CopyBoxAsync(stream.ref(), copy));
      return stream.ref().Synchronize();
    }
    WEFT_ASSIGN_OR_RETURN(cuda::Graph graph, cuda::Graph::Create(context()));
    WEFT_RETURN_IF_ERROR(graph.AddBoxCopy(copy, {}).status());
    WEFT_ASSIGN_OR_RETURN(cuda::GraphExec exec, graph.Instantiate());
    WEFT_RETURN_IF_ERROR(exec.Launch(stream.ref()));
    return stream.ref().Synchronize();
  }
  absl::Status Fill(const cuda::FillRows& fill) const {
    const cuda::Stream stream = MakeStream();
    if (!GetParam()) {
      WEFT_RETURN_IF_ERROR(cuda::FillRowsAsync(stream.ref(), fill));
      return stream.ref().Synchronize();
    }
    WEFT_ASSIGN_OR_RETURN(cuda::Graph graph, cuda::Graph::Create(context()));
    WEFT_RETURN_IF_ERROR(graph
                             .AddMemset({.destination = fill.destination,
                                         .pattern = fill.pattern,
                                         .width = fill.width,
                                         .height = fill.rows,
                                         .pitch_bytes = fill.pitch_bytes},
                                        {})
                             .status());
    WEFT_ASSIGN_OR_RETURN(cuda::GraphExec exec, graph.Instantiate());
    WEFT_RETURN_IF_ERROR(exec.Launch(stream.ref()));
    return stream.ref().Synchronize();
  }

  cuda::BoxCopy BoxCopyOf(const Box& box) const {
    return {
        .destination = {memory_->address(kTarget + box.to.offset), box.to.pitch, box.to.slice_rows},
        .source = {memory_->address(box.from.offset), box.from.pitch, box.from.slice_rows},
        .width_bytes = box.width,
        .rows = box.rows,
        .slices = box.slices};
  }
  // What the target holds after the copy, by a loop over bytes.
  std::vector<uint8_t> Expected(const Box& box) const {
    std::vector<uint8_t> target(kBytes, 255);
    for (size_t z = 0; z < box.slices; ++z) {
      for (size_t y = 0; y < box.rows; ++y) {
        for (size_t x = 0; x < box.width; ++x) {
          target[box.to.offset + (z * box.to.slice_rows + y) * box.to.pitch + x] =
              source_[box.from.offset + (z * box.from.slice_rows + y) * box.from.pitch + x];
        }
      }
    }
    return target;
  }
  void ExpectCopied(const Box& box) const {
    ASSERT_OK(Copy(BoxCopyOf(box)));
    EXPECT_EQ(Read<uint8_t>(memory_->address(kTarget), kBytes), Expected(box));
  }

  std::optional<DeviceBuffer> memory_;
  std::vector<uint8_t> source_;
};

TEST_P(PitchedConformance, TileLeavesTheImage) {
  ExpectCopied({.width = 48, .rows = 16, .slices = 1, .to = {0, 48, 0}, .from = {1000, 512, 0}});
}

TEST_P(PitchedConformance, TileEntersTheImageAndLeavesTheGaps) {
  ExpectCopied({.width = 48, .rows = 16, .slices = 1, .to = {1000, 512, 0}, .from = {0, 48, 0}});
}

TEST_P(PitchedConformance, OddWidthsPitchesAndOffsets) {
  ExpectCopied({.width = 7, .rows = 33, .slices = 1, .to = {13, 11, 0}, .from = {5, 19, 0}});
}

TEST_P(PitchedConformance, SubVolumeOfAVolume) {
  ExpectCopied({.width = 20, .rows = 5, .slices = 4, .to = {3, 24, 7}, .from = {256 + 8, 64, 16}});
}

TEST_P(PitchedConformance, OneRowOfEverySlice) {
  ExpectCopied({.width = 64, .rows = 1, .slices = 8, .to = {0, 64, 1}, .from = {128, 64, 32}});
}

TEST_P(PitchedConformance, ColumnBlocksOfOneMatrixInterleave) {
  const CUdeviceptr matrix = memory_->address();
  ASSERT_OK(Copy({.destination = {matrix + 32, 64, 0},
                  .source = {matrix, 64, 0},
                  .width_bytes = 32,
                  .rows = 100,
                  .slices = 1}));
  const auto bytes = Read<uint8_t>(matrix, 64 * 100);
  for (size_t i = 0; i < bytes.size(); ++i) {
    ASSERT_EQ(bytes[i], source_[i % 64 < 32 ? i : i - 32]) << i;
  }
}

TEST_P(PitchedConformance, CrossesBetweenHostAndDevice) {
  PinnedPage page(context());
  for (uint64_t i = 0; i < 64; ++i) page.words()[i] = i;
  ASSERT_OK(Copy({.destination = {memory_->address(kTarget), 16, 0},
                  .source = {page.address(), 64, 0},
                  .width_bytes = 16,
                  .rows = 8,
                  .slices = 1}));
  ASSERT_OK(Copy({.destination = {page.address() + 2048, 24, 0},
                  .source = {memory_->address(kTarget), 16, 0},
                  .width_bytes = 16,
                  .rows = 8,
                  .slices = 1}));
  for (uint64_t row = 0; row < 8; ++row) {
    EXPECT_EQ(page.words()[256 + 3 * row], 8 * row);
    EXPECT_EQ(page.words()[256 + 3 * row + 1], 8 * row + 1);
  }
}

TEST_P(PitchedConformance, PitchBelowTheWidthIsInvalid) {
  for (const auto& [to, from] : {std::pair<size_t, size_t>{15, 16}, {16, 15}}) {
    const absl::Status status = Copy(
        BoxCopyOf({.width = 16, .rows = 2, .slices = 1, .to = {0, to, 0}, .from = {0, from, 0}}));
    EXPECT_EQ(cuda::ResultOf(status), CUDA_ERROR_INVALID_VALUE) << to << " " << from;
  }
}

TEST_P(PitchedConformance, FewerRowsFromSliceToSliceThanInASliceAreInvalid) {
  const absl::Status status =
      Copy(BoxCopyOf({.width = 16, .rows = 4, .slices = 2, .to = {0, 16, 3}, .from = {0, 16, 4}}));
  EXPECT_EQ(cuda::ResultOf(status), CUDA_ERROR_INVALID_VALUE);
}

// A pitch above CU_DEVICE_ATTRIBUTE_MAX_PITCH is the caller's to refuse: driver 580 copies with it, to
// wherever the addresses then lie.

TEST_P(PitchedConformance, FillOfRowsLeavesTheGaps) {
  for (const uint32_t element : {1u, 2u, 4u}) {
    const uint32_t value = element == 1 ? 0x07u : element == 2 ? 0x0707u : 0x07070707u;
    ASSERT_OK(Write(memory_->address(), std::vector<uint8_t>(4 * 96, 0)));
    ASSERT_OK(Fill({.destination = memory_->address(element),
                    .pattern = {.value = value, .element_size = element},
                    .width = 32 / element,
                    .rows = 4,
                    .pitch_bytes = 96}));
    const auto bytes = Read<uint8_t>(memory_->address(), 4 * 96);
    for (size_t i = 0; i < bytes.size(); ++i) {
      ASSERT_EQ(bytes[i], i % 96 >= element && i % 96 < element + 32 ? 7 : 0) << i;
    }
  }
}

TEST_P(PitchedConformance, FillOffItsAlignmentIsInvalid) {
  const cuda::FillRows fill = {.destination = memory_->address(),
                               .pattern = {.value = 1, .element_size = 4},
                               .width = 4,
                               .rows = 2,
                               .pitch_bytes = 64};
  cuda::FillRows shifted = fill;
  shifted.destination += 2;
  EXPECT_EQ(cuda::ResultOf(Fill(shifted)), CUDA_ERROR_INVALID_VALUE);
  cuda::FillRows skewed = fill;
  skewed.pitch_bytes = 66;
  EXPECT_EQ(cuda::ResultOf(Fill(skewed)), CUDA_ERROR_INVALID_VALUE);
}

INSTANTIATE_TEST_SUITE_P(Ways, PitchedConformance, ::testing::Values(false, true),
                         [](const auto& way) { return way.param ? "Graph" : "Stream"; });

using PitchedStreamConformance = ConformanceTest;

TEST_F(PitchedStreamConformance, BoxesWithoutAByteDoNothing) {
  const DeviceBuffer memory = MakeBuffer();
  ASSERT_OK(Write(memory.address(), std::vector<uint8_t>(64, 9)));
  const cuda::Stream stream = MakeStream();
  for (const auto& [width, rows, slices] :
       {std::tuple<size_t, size_t, size_t>{0, 4, 1}, {4, 0, 1}, {4, 4, 0}}) {
    ASSERT_OK(cuda::CopyBoxAsync(stream.ref(), {.destination = {memory.address(), 8, 4},
                                                .source = {memory.address(4096), 8, 4},
                                                .width_bytes = width,
                                                .rows = rows,
                                                .slices = slices}));
  }
  for (const auto& [width, rows] : {std::pair<size_t, size_t>{0, 4}, {4, 0}}) {
    ASSERT_OK(cuda::FillRowsAsync(stream.ref(), {.destination = memory.address(),
                                                 .pattern = {.value = 1, .element_size = 1},
                                                 .width = width,
                                                 .rows = rows,
                                                 .pitch_bytes = 8}));
  }
  ASSERT_OK(stream.ref().Synchronize());
  EXPECT_THAT(Read<uint8_t>(memory.address(), 64), Each(9));
}

TEST_F(PitchedStreamConformance, PageableMemoryIsCopiedInStreamOrder) {
  const DeviceBuffer memory = MakeBuffer();
  std::vector<uint32_t> image(64 * 64);
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<uint32_t>(i);
  std::vector<uint32_t> tile(8 * 8);
  const cuda::Stream stream = MakeStream();
  ASSERT_OK(cuda::CopyBoxAsync(stream.ref(), {.destination = {memory.address(), 256, 0},
                                              .source = {cuda::HostAddress(image.data()), 256, 0},
                                              .width_bytes = 256,
                                              .rows = 64,
                                              .slices = 1}));
  ASSERT_OK(
      cuda::CopyBoxAsync(stream.ref(), {.destination = {cuda::HostAddress(tile.data()), 32, 0},
                                        .source = {memory.address(8 * 256 + 32), 256, 0},
                                        .width_bytes = 32,
                                        .rows = 8,
                                        .slices = 1}));
  ASSERT_OK(stream.ref().Synchronize());
  for (uint32_t i = 0; i < 64; ++i) ASSERT_EQ(tile[i], (8 + i / 8) * 64 + 8 + i % 8);
}

TEST_F(PitchedStreamConformance, FillTakesNewAddressAndValueInAnExecutable) {
  const DeviceBuffer memory = MakeBuffer();
  const auto fill = [&](CUdeviceptr at, uint32_t value) {
    return cuda::MemsetNode{.destination = at,
                            .pattern = {.value = value, .element_size = 1},
                            .width = 2,
                            .height = 2,
                            .pitch_bytes = 4};
  };
  ASSERT_OK_AND_ASSIGN(cuda::Graph graph, cuda::Graph::Create(context()));
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef node, graph.AddMemset(fill(memory.address(), 1), {}));
  ASSERT_OK_AND_ASSIGN(cuda::GraphExec exec, graph.Instantiate());
  ASSERT_OK(exec.UpdateMemset(node, fill(memory.address(16), 2)));
  const cuda::Stream stream = MakeStream();
  ASSERT_OK(exec.Launch(stream.ref()));
  ASSERT_OK(stream.ref().Synchronize());
  EXPECT_THAT(Read<uint8_t>(memory.address(), 8), Each(0));
  EXPECT_THAT(Read<uint8_t>(memory.address(16), 8), ElementsAre(2, 2, 0, 0, 2, 2, 0, 0));
}

}  // namespace
}  // namespace weft::conformance
