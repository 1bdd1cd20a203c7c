// Texture objects over linear memory of one and of two dimensions.

#include "cuda/texture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tests/conformance/conformance_test.h"

namespace weft::conformance {
namespace {

using ::testing::ElementsAre;
using testing::IsOk;
using ::testing::Not;

constexpr int kWidth = 5, kHeight = 3;
constexpr size_t kPitch = 64;

struct Point {
  float x, y;
};

class TextureConformance : public KernelTest {
 protected:
  void SetUp() override {
    KernelTest::SetUp();
    if (!IsSkipped()) memory_.emplace(MakeBuffer());
  }
  void TearDown() override {
    memory_.reset();
    KernelTest::TearDown();
  }

  static float Texel(int64_t x, int64_t y) {
    return static_cast<float>(16 * ((3 * x + 7 * y) % 11) + x);
  }
  // kWidth × kHeight floats, with other numbers between the rows.
  cuda::TextureDescription Floats() {
    std::vector<float> texels(kHeight * kPitch / sizeof(float), -1000);
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) texels[y * kPitch / sizeof(float) + x] = Texel(x, y);
    }
    EXPECT_OK(Write(memory_->address(), texels));
    cuda::TextureDescription description;
    description.address = memory_->address();
    description.width = kWidth;
    description.height = kHeight;
    description.pitch_bytes = kPitch;
    return description;
  }
  std::vector<float> Sample(const cuda::TextureDescription& description,
                            const std::vector<Point>& points) {
    const auto texture = cuda::Texture::Create(context(), description);
    EXPECT_OK(texture.status());
    if (!texture.ok()) return {};
    const CUdeviceptr in = memory_->address(1 << 16), out = memory_->address(1 << 18);
    EXPECT_OK(Write(in, points));
    const cuda::Stream stream = MakeStream();
    EXPECT_OK(Run(stream.ref(), "sample", texture->handle(), in, out,
                  static_cast<uint32_t>(points.size())));
    EXPECT_OK(stream.ref().Synchronize());
    return Read<float>(out, points.size());
  }
  // Multiples of `step`, from before the texture to behind it.
  static std::vector<Point> Grid(float step) {
    std::vector<Point> points;
    for (float y = -4; y < kHeight + 4; y += step) {
      for (float x = -7; x < kWidth + 7; x += step) points.push_back({x, y});
    }
    return points;
  }

  std::optional<DeviceBuffer> memory_;
};

TEST_F(TextureConformance, PointsGetTheTexelThatTheyLieIn) {
  const std::vector<Point> points = Grid(0.25F);
  const std::vector<float> got = Sample(Floats(), points);
  ASSERT_EQ(got.size(), points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    const auto x = std::min(std::max(std::floor(points[i].x), 0.0F), kWidth - 1.0F);
    const auto y = std::min(std::max(std::floor(points[i].y), 0.0F), kHeight - 1.0F);
    ASSERT_EQ(got[i], Texel(static_cast<int64_t>(x), static_cast<int64_t>(y)))
        << points[i].x << ", " << points[i].y;
  }
}

TEST_F(TextureConformance, TheBorderIsZero) {
  cuda::TextureDescription description = Floats();
  description.address_mode = CU_TR_ADDRESS_MODE_BORDER;
  EXPECT_THAT(Sample(description, {{-0.5F, 1}, {4.5F, 1}, {5.5F, 1}, {2, -0.5F}, {2, 3.5F}}),
              ElementsAre(0, Texel(4, 1), 0, 0, 0));
}

TEST_F(TextureConformance, FilteredTexelsAreWeightedByTheirDistance) {
  cuda::TextureDescription description = Floats();
  description.filter_mode = CU_TR_FILTER_MODE_LINEAR;
  const std::vector<Point> points = Grid(0.125F);
  const std::vector<float> got = Sample(description, points);
  ASSERT_EQ(got.size(), points.size());
  const auto texel = [](double x, double y) {
    const auto inside = [](double at, int size) {
      return static_cast<int64_t>(std::min(std::max(at, 0.0), size - 1.0));
    };
    return double{Texel(inside(x, kWidth), inside(y, kHeight))};
  };
  for (size_t i = 0; i < points.size(); ++i) {
    const double x = points[i].x - 0.5, y = points[i].y - 0.5;
    const double i0 = std::floor(x), j0 = std::floor(y), a = x - i0, b = y - j0;
    const double expected = (1 - b) * ((1 - a) * texel(i0, j0) + a * texel(i0 + 1, j0)) +
                            b * ((1 - a) * texel(i0, j0 + 1) + a * texel(i0 + 1, j0 + 1));
    ASSERT_NEAR(got[i], expected, 1e-4) << points[i].x << ", " << points[i].y;
  }
}

TEST_F(TextureConformance, WeightsHaveEightBits) {
  cuda::TextureDescription description = Floats();
  description.filter_mode = CU_TR_FILTER_MODE_LINEAR;
  ASSERT_OK(Write(memory_->address(), std::vector<float>{0, 1024}));
  // 64, 64.128 and 65 parts of 256.
  EXPECT_THAT(Sample(description, {{0.75F, 0.5F}, {0.7505F, 0.5F}, {0.75390625F, 0.5F}}),
              ElementsAre(256, 256, 260));
}

TEST_F(TextureConformance, NormalizedCoordinatesWrapAround) {
  cuda::TextureDescription description = Floats();
  description.address_mode = CU_TR_ADDRESS_MODE_WRAP;
  description.normalized_coordinates = true;
  // The middles of texels (-3, -2), (2, 1) and (8, 4), by width and height.
  EXPECT_THAT(Sample(description, {{-0.5F, -0.5F}, {0.5F, 0.5F}, {1.7F, 1.5F}}),
              ElementsAre(Texel(2, 1), Texel(2, 1), Texel(3, 1)));
}

TEST_F(TextureConformance, NormalizedCoordinatesAreMirrored) {
  cuda::TextureDescription description = Floats();
  description.address_mode = CU_TR_ADDRESS_MODE_MIRROR;
  description.normalized_coordinates = true;
  EXPECT_THAT(Sample(description, {{-0.1F, 0.5F}, {-0.3F, 0.5F}, {1.1F, 0.5F}, {2.3F, 0.5F}}),
              ElementsAre(Texel(0, 1), Texel(1, 1), Texel(4, 1), Texel(1, 1)));
}

TEST_F(TextureConformance, BytesAreReadAsFractions) {
  ASSERT_OK(Write(memory_->address(), std::vector<uint8_t>{0, 51, 255, 1}));
  cuda::TextureDescription description;
  description.address = memory_->address();
  description.format = CU_AD_FORMAT_UNSIGNED_INT8;
  description.width = 4;
  description.height = 1;
  description.pitch_bytes = 32;
  description.normalized_values = true;
  const std::vector<float> got =
      Sample(description, {{0.5F, 0.5F}, {1.5F, 0.5F}, {2.5F, 0.5F}, {3.5F, 0.5F}});
  ASSERT_EQ(got.size(), 4u);
  EXPECT_EQ(got[0], 0);
  EXPECT_NEAR(got[1], 0.2, 1e-6);
  EXPECT_EQ(got[2], 1);
  EXPECT_NEAR(got[3], 1 / 255.0, 1e-6);
}

TEST_F(TextureConformance, IndicesOutsideOfALinearTextureGetZeros) {
  const CUdeviceptr out = memory_->address(4096);
  ASSERT_OK(Write(memory_->address(), std::vector<uint16_t>{1, 2, 3, 65535, 5, 6, 7, 8}));
  cuda::TextureDescription description;
  description.address = memory_->address();
  description.format = CU_AD_FORMAT_UNSIGNED_INT16;
  description.channels = 2;
  description.width = 3;
  ASSERT_OK_AND_ASSIGN(const cuda::Texture texture, cuda::Texture::Create(context(), description));
  const cuda::Stream stream = MakeStream();
  ASSERT_OK(Run(stream.ref(), "fetch", texture.handle(), int32_t{-1}, out, uint32_t{5}));
  ASSERT_OK(stream.ref().Synchronize());
  EXPECT_THAT(Read<uint32_t>(out, 10), ElementsAre(0, 0, 1, 2, 3, 65535, 5, 6, 0, 0));
}

TEST_F(TextureConformance, WhatIsMisalignedIsRefused) {
  cuda::TextureDescription description = Floats();
  description.address += 4;
  EXPECT_THAT(cuda::Texture::Create(context(), description).status(), Not(IsOk()));
  description = Floats();
  description.pitch_bytes = 20;
  EXPECT_THAT(cuda::Texture::Create(context(), description).status(), Not(IsOk()));
}

TEST_F(TextureConformance, AMovedTextureIsDestroyedOnce) {
  ASSERT_OK_AND_ASSIGN(cuda::Texture first, cuda::Texture::Create(context(), Floats()));
  ASSERT_OK_AND_ASSIGN(cuda::Texture second, cuda::Texture::Create(context(), Floats()));
  const CUtexObject handle = first.handle();
  EXPECT_NE(handle, second.handle());
  second = std::move(first);
  EXPECT_EQ(second.handle(), handle);
  EXPECT_EQ(first.handle(), CUtexObject{});  // NOLINT(bugprone-use-after-move): what it is left as
}

}  // namespace
}  // namespace weft::conformance
