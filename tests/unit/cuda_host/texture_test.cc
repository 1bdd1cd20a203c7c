// Descriptions of textures: what is taken over, and what is refused as a GPU refuses it.
#include "cuda/host/texture.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

namespace weft::hostcuda {
namespace {

class TextureTest : public ::testing::Test {
 protected:
  TextureTest() {
    linear_.resType = CU_RESOURCE_TYPE_LINEAR;
    linear_.res.linear.devPtr = 1024;
    linear_.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT16;
    linear_.res.linear.numChannels = 2;
    linear_.res.linear.sizeInBytes = 41;
    pitched_.resType = CU_RESOURCE_TYPE_PITCH2D;
    pitched_.res.pitch2D.devPtr = 512;
    pitched_.res.pitch2D.format = CU_AD_FORMAT_FLOAT;
    pitched_.res.pitch2D.numChannels = 1;
    pitched_.res.pitch2D.width = 7;
    pitched_.res.pitch2D.height = 3;
    pitched_.res.pitch2D.pitchInBytes = 64;
    sampler_.addressMode[0] = CU_TR_ADDRESS_MODE_CLAMP;
    sampler_.addressMode[1] = CU_TR_ADDRESS_MODE_BORDER;
    sampler_.filterMode = CU_TR_FILTER_MODE_POINT;
  }
  CUresult Describe(const CUDA_RESOURCE_DESC& resource) {
    return DescribeTexture(resource, sampler_, &texture_);
  }
  void ExpectRefused(const std::function<void(CUDA_RESOURCE_DESC&)>& change) {
    CUDA_RESOURCE_DESC resource = pitched_;
    change(resource);
    EXPECT_EQ(Describe(resource), CUDA_ERROR_INVALID_VALUE);
  }

  CUDA_RESOURCE_DESC linear_ = {};
  CUDA_RESOURCE_DESC pitched_ = {};
  CUDA_TEXTURE_DESC sampler_ = {};
  weft_host_texture texture_ = {};
};

TEST_F(TextureTest, LinearMemoryHasWholeTexelsAndNoRows) {
  sampler_.flags = CU_TRSF_READ_AS_INTEGER;
  ASSERT_EQ(Describe(linear_), CUDA_SUCCESS);
  EXPECT_EQ(texture_.width, 10u);
  EXPECT_EQ(texture_.height, 0u);
  EXPECT_EQ(texture_.texel_bytes, 4u);
  EXPECT_EQ(texture_.normalized_values, 0u);
}

TEST_F(TextureTest, RowsKeepTheirPitchAndTheirModes) {
  ASSERT_EQ(Describe(pitched_), CUDA_SUCCESS);
  EXPECT_EQ(texture_.pitch_bytes, 64u);
  EXPECT_EQ(texture_.address_x, uint32_t{WEFT_HOST_ADDRESS_CLAMP});
  EXPECT_EQ(texture_.address_y, uint32_t{WEFT_HOST_ADDRESS_BORDER});
}

TEST_F(TextureTest, NarrowIntegersAreFractionsUnlessReadAsIntegers) {
  ASSERT_EQ(Describe(linear_), CUDA_SUCCESS);
  EXPECT_EQ(texture_.normalized_values, 1u);
}

TEST_F(TextureTest, WhatDoesNotFitIsRefused) {
  ExpectRefused([](CUDA_RESOURCE_DESC& r) { r.res.pitch2D.devPtr = 0; });
  ExpectRefused([](CUDA_RESOURCE_DESC& r) { r.res.pitch2D.devPtr = 768; });
  ExpectRefused([](CUDA_RESOURCE_DESC& r) { r.res.pitch2D.pitchInBytes = 28; });
  ExpectRefused([](CUDA_RESOURCE_DESC& r) { r.res.pitch2D.width = 17; });
  ExpectRefused([](CUDA_RESOURCE_DESC& r) { r.res.pitch2D.width = SIZE_MAX; });
  ExpectRefused([](CUDA_RESOURCE_DESC& r) { r.res.pitch2D.height = 65'001; });
  ExpectRefused([](CUDA_RESOURCE_DESC& r) { r.res.pitch2D.numChannels = 3; });
}

TEST_F(TextureTest, IntegersAreNotFiltered) {
  sampler_.filterMode = CU_TR_FILTER_MODE_LINEAR;
  sampler_.flags = CU_TRSF_READ_AS_INTEGER;
  EXPECT_EQ(Describe(linear_), CUDA_ERROR_INVALID_VALUE);
  sampler_.flags = 0;
  EXPECT_EQ(Describe(linear_), CUDA_SUCCESS);
}

TEST_F(TextureTest, ArraysAreNotThere) {
  CUDA_RESOURCE_DESC array = {};
  array.resType = CU_RESOURCE_TYPE_ARRAY;
  EXPECT_EQ(Describe(array), CUDA_ERROR_NOT_SUPPORTED);
}

TEST(TextureTableTest, ObjectsEndOnceOrWithTheirContext) {
  TextureTable table;
  const auto* const context = reinterpret_cast<const Context*>(0x1000);
  const CUtexObject first = table.Insert(context, std::make_unique<weft_host_texture>());
  const CUtexObject second = table.Insert(context, std::make_unique<weft_host_texture>());
  EXPECT_TRUE(table.Remove(first));
  EXPECT_FALSE(table.Remove(first));
  table.RemoveOf(context);
  EXPECT_FALSE(table.Remove(second));
}

}  // namespace
}  // namespace weft::hostcuda
