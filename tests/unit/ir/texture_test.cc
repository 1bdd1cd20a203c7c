// Parameters of kernels that are textures over views.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ir/assumed_device.h"
#include "graph/ir/validate.h"
#include "tests/testing/status_matchers.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

using ::testing::HasSubstr;
using weft::testing::StatusIs;

// A job with a launch that takes `texture` of a buffer of 64 × 32 bytes, all of it written before.
absl::StatusOr<Graph> ReadTextures(const std::string& texture, const std::string& rest = "") {
  v1::Job job;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      absl::StrCat(
          "buffers { name: 'x' shape: [32, 64] } modules { name: 'm' cuda: 's' } ",
          "nodes { fill { dst { buffer: 'x' } } } ",
          "nodes { name: 'n' user_kernel { module: 'm' entry: 'k' params { texture { ", texture,
          " } ", rest,
          " } launch { grid_x: 1 grid_y: 1 grid_z: 1 block_x: 1 block_y: 1 block_z: 1 } } }"),
      &job));
  const std::vector<cuda::DeviceInfo> devices = {AssumedDevice()};
  return ValidateJob(job, {.devices = devices, .uploads = UploadData::kPresent});
}

void ExpectRefused(const std::string& texture, const std::string& why) {
  EXPECT_THAT(ReadTextures(texture), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(why)))
      << texture;
}

TEST(TextureTest, DefaultsAreFilledIn) {
  ASSERT_OK_AND_ASSIGN(const Graph graph,
                       ReadTextures("view { buffer: 'x' } width: 64 height: 32"));
  const auto& op = std::get<UserKernelOp>(graph.nodes[1].op);
  EXPECT_TRUE(HasTextures(op));
  const auto& parameter = std::get<TextureParameter>(op.parameters[0]);
  EXPECT_EQ(parameter.view, 0u);
  Texture expected;
  expected.dtype = kernels::DType::kU8;
  expected.width = 64;
  expected.height = 32;
  expected.pitch_bytes = 64;
  EXPECT_EQ(parameter.texture, expected);
}

TEST(TextureTest, ItsBytesAreReadAfterTheyAreWritten) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, ReadTextures("view { buffer: 'x' } width: 2048"));
  ASSERT_EQ(graph.UsesOf(NodeIndex(1)).size(), 1u);
  EXPECT_EQ(graph.UsesOf(NodeIndex(1))[0].access, Access::kRead);
}

TEST(TextureTest, ItIsNotWritten) {
  EXPECT_THAT(ReadTextures("view { buffer: 'x' } width: 64", "access: ACCESS_READ_WRITE"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("kernels only read")));
}

TEST(TextureTest, ItsTexelsLieWithinTheView) {
  EXPECT_OK(ReadTextures("view { buffer: 'x' } width: 16 height: 32 channels: 4"));
  ExpectRefused("view { buffer: 'x' } width: 64 height: 33",
                "has 2048 bytes, and the texture takes 2112");
  ExpectRefused("view { buffer: 'x' } width: 2049", "has 2048 bytes, and the texture takes 2049");
  ExpectRefused("view { buffer: 'x' size_bytes: 1024 } width: 1025", "has 1024 bytes");
  ExpectRefused("view { buffer: 'x' } width: 18446744073709551615 height: 2", "give 1 to 131072");
  ExpectRefused("view { buffer: 'x' } width: 64 height: 18446744073709551615",
                "at most 65000 rows");
}

TEST(TextureTest, AddressAndPitchAreAligned) {
  EXPECT_OK(ReadTextures("view { buffer: 'x' offset_bytes: 512 } width: 64 height: 2"));
  ExpectRefused("view { buffer: 'x' offset_bytes: 256 } width: 64", "multiples of 512");
  ExpectRefused("view { buffer: 'x' } width: 40 height: 2",
                "is 40; rows of 40 bytes need a multiple of 32");
  ExpectRefused("view { buffer: 'x' } width: 64 height: 2 pitch_bytes: 32",
                "is 32; rows of 64 bytes");
  EXPECT_OK(ReadTextures("view { buffer: 'x' } width: 40 height: 2 pitch_bytes: 64"));
}

TEST(TextureTest, TexelsAreOfTypesThatTexturesHave) {
  ExpectRefused("view { buffer: 'x' } width: 4 data_type: DATA_TYPE_F64", "is f64; texels are");
  ExpectRefused("view { buffer: 'x' } width: 4 channels: 3", "is 3; give 1, 2 or 4");
  EXPECT_OK(ReadTextures("view { buffer: 'x' } width: 4 data_type: DATA_TYPE_F32 channels: 2"));
}

TEST(TextureTest, OnlyFloatsAreFiltered) {
  ExpectRefused("view { buffer: 'x' } width: 64 height: 2 filter: FILTER_LINEAR",
                "needs f16, f32 or");
  EXPECT_OK(ReadTextures(
      "view { buffer: 'x' } width: 64 height: 2 filter: FILTER_LINEAR normalized_values: true"));
  ExpectRefused("view { buffer: 'x' } width: 4 data_type: DATA_TYPE_U32 normalized_values: true",
                "8 and 16 bits alone");
}

TEST(TextureTest, ModesThatDoNotGoTogetherAreRefused) {
  ExpectRefused("view { buffer: 'x' } width: 64 height: 2 address: ADDRESS_WRAP",
                "need normalized_coordinates");
  ExpectRefused("view { buffer: 'x' } width: 64 address: ADDRESS_CLAMP", "leave it out");
  ExpectRefused("view { buffer: 'x' } width: 64 normalized_coordinates: true", "fetched by index");
  ExpectRefused("view { buffer: 'x' } width: 64 pitch_bytes: 64", "of no use without rows");
  ExpectRefused("view { buffer: 'x' } width: 64 height: 2 address: 77", "is no address mode");
}

TEST(TextureTest, AParameterThatIsOneAsksForItsAlignment) {
  const auto read = [](const std::string& binding) {
    v1::Job job;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        absl::StrCat(
            "buffers { name: 'x' shape: 4096 } modules { name: 'm' cuda: 's' } ",
            "graphs { name: 'g' buffers { name: 'p' shape: 64 parameter {} } nodes { ",
            "user_kernel { module: 'm' entry: 'k' params { texture { view { buffer: 'p' } ",
            "width: 64 } } launch { grid_x: 1 grid_y: 1 grid_z: 1 block_x: 1 block_y: 1 ",
            "block_z: 1 } } } } nodes { fill { dst { buffer: 'x' } } } nodes { graph { ",
            "graph: 'g' bindings { parameter: 'p' view { buffer: 'x' size_bytes: 64 ", binding,
            " } } } }"),
        &job));
    const std::vector<cuda::DeviceInfo> devices = {AssumedDevice()};
    return ValidateJob(job, {.devices = devices, .uploads = UploadData::kPresent});
  };
  ASSERT_OK_AND_ASSIGN(const Graph graph, read("offset_bytes: 1024"));
  EXPECT_TRUE(graph.has_textures);
  EXPECT_THAT(read("offset_bytes: 256"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a multiple of 512")));
}

}  // namespace
}  // namespace weft::ir
