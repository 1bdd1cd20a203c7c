#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kernels/compile/code_images.h"
#include "kernels/compile/ptx_info.h"
#include "tests/testing/status_matchers.h"

namespace weft::kernels {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using weft::testing::StatusIs;
using Parameter = KernelParameterInfo;

constexpr char kHead[] = "// made by hand\n.version 8.4\n.target sm_90a, debug\n.address_size 64\n";

TEST(PtxTextTest, TheHeaderNamesVersionAndTarget) {
  ASSERT_OK_AND_ASSIGN(const PtxHeader header, ReadPtxHeader("m", kHead));
  EXPECT_EQ(header.version_major, 8u);
  EXPECT_EQ(header.version_minor, 4u);
  EXPECT_EQ(header.target, "sm_90a");
  ASSERT_OK_AND_ASSIGN(const auto images, ReadImages("m", kHead));
  EXPECT_EQ(ListArchitectures(images), "compute_90a (PTX 8.4)");
}

TEST(PtxTextTest, WithoutAHeaderItIsNoPtx) {
  EXPECT_THAT(ReadPtxHeader("m", "hello"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(".version")));
  EXPECT_FALSE(ReadPtxHeader("m", "/* .version 8.0 .target sm_90 ").ok());
  EXPECT_FALSE(ReadImages("m", ".version 8.0\n.target native\n").ok());
}

TEST(PtxTextTest, ParametersAreAlignedAsDeclared) {
  const std::string text = std::string(kHead) + R"(
.visible .entry k(
  .param .b8 k_0,
  .param .u64 .ptr .global .align 16 k_1, /* of what it points to */
  .param .align 16 .b8 k_2[20],
  .param .f32 k_3
)
.maxntid 64, 2
{ .reg .b32 %r<3>; { ret; } }
.entry none() .reqntid 32 { ret; }
)";
  ASSERT_OK_AND_ASSIGN(const CodeInfo info, ReadPtx("m", text));
  ASSERT_EQ(info.kernels.size(), 2u);
  EXPECT_THAT(info.kernels[0].parameters,
              ElementsAre(Parameter{0, 1}, Parameter{8, 8}, Parameter{16, 20}, Parameter{36, 4}));
  EXPECT_THAT(info.kernels[0].max_block, ElementsAre(64, 2, 1));
  EXPECT_TRUE(info.kernels[1].parameters.empty());
  EXPECT_TRUE(info.kernels[1].block_required);
}

TEST(PtxTextTest, UnfinishedTextEnds) {
  for (const char* rest : {".entry", ".entry k(", ".entry k(.param", ".entry k(.param .u32 a[",
                           ".global .align", ".const .b8 x[99999999999999999999][2]", "{{{", "\"",
                           ".maxntid 1,", ".entry k .maxntid 1,"}) {
    EXPECT_OK(ReadPtx("m", std::string(kHead) + rest)) << rest;
  }
}

}  // namespace
}  // namespace weft::kernels
