#include "kernels/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <variant>

#include "kernels/image_store.h"
#include "kernels/launch_shape.h"
#include "kernels/nearest_name.h"
#include "kernels/scalar.h"
#include "tests/testing/status_matchers.h"

namespace weft::kernels {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using weft::testing::StatusIs;

TEST(RegistryTest, HasTheKernelsThatJobsName) {
  std::vector<std::string> names;
  for (const KernelSchema& schema : Registry::Builtin().schemas()) names.push_back(schema.name);
  EXPECT_THAT(names, IsSupersetOf({"fill",
                                   "iota",
                                   "copy",
                                   "cast",
                                   "axpy",
                                   "scale",
                                   "add",
                                   "mul",
                                   "clamp",
                                   "reduce_sum",
                                   "reduce_min",
                                   "reduce_max",
                                   "inclusive_scan",
                                   "exclusive_scan",
                                   "histogram",
                                   "transpose",
                                   "matmul",
                                   "add_rows",
                                   "softmax",
                                   "gaussian_blur",
                                   "sobel",
                                   "rgb_to_gray",
                                   "stencil5",
                                   "spin",
                                   "dot",
                                   "argmax",
                                   "argmin",
                                   "random_uniform",
                                   "random_normal",
                                   "layernorm",
                                   "box_blur",
                                   "gather",
                                   "scatter",
                                   "compact"}));
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

TEST(RegistryTest, NamesTheNearestKernel) {
  EXPECT_THAT(Registry::Builtin().Lookup("axpi"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("Did you mean \"axpy\"?")));
  EXPECT_THAT(Registry::Builtin().Lookup("a completely different thing"),
              StatusIs(absl::StatusCode::kNotFound, Not(HasSubstr("Did you mean"))));
  EXPECT_OK(Registry::Builtin().Lookup("axpy"));
}

// References between arguments point to arguments of the right kind.
TEST(RegistryTest, SchemasAreConsistent) {
  for (const KernelSchema& schema : Registry::Builtin().schemas()) {
    SCOPED_TRACE(schema.name);
    EXPECT_FALSE(schema.summary.empty());
    EXPECT_EQ(schema.summary.find('\n'), std::string::npos);
    EXPECT_FALSE(schema.phases.empty());
    EXPECT_FALSE(schema.key.arguments.empty());
    const auto buffer = [&](uint32_t i) { return schema.arguments.at(i).buffer(); };
    for (const uint32_t key : schema.key.arguments) ASSERT_NE(buffer(key), nullptr);
    for (uint32_t i = 0; i < schema.arguments.size(); ++i) {
      const ArgumentSchema& argument = schema.arguments[i];
      SCOPED_TRACE(argument.name);
      EXPECT_FALSE(argument.doc.empty());
      EXPECT_EQ(schema.FindArgument(argument.name), i) << "two arguments of one name";
      const DTypeRule& rule =
          argument.buffer() != nullptr ? argument.buffer()->dtype : argument.scalar()->dtype;
      EXPECT_EQ(rule.kind == DTypeRule::Kind::kOneOf, !rule.allowed.empty());
      if (rule.kind != DTypeRule::Kind::kOneOf) {
        ASSERT_NE(buffer(rule.argument), nullptr);
        EXPECT_EQ(buffer(rule.argument)->dtype.kind, DTypeRule::Kind::kOneOf);
      }
      if (argument.buffer() == nullptr) continue;
      for (const Factor& factor : argument.buffer()->shape) {
        if (!factor.argument.has_value()) continue;
        ASSERT_NE(schema.arguments.at(*factor.argument).scalar(), nullptr);
      }
      for (const uint32_t other : argument.buffer()->in_place_with) {
        EXPECT_NE(buffer(other), nullptr);
      }
    }
  }
}

// Sentences of a text that was wrapped in the source end with a blank.
TEST(RegistryTest, DocumentsAreWholeSentences) {
  for (const KernelSchema& schema : Registry::Builtin().schemas()) {
    SCOPED_TRACE(schema.name);
    for (const std::string& text : {schema.summary, schema.doc}) {
      EXPECT_EQ(text.back(), '.') << text;
      for (size_t i = 1; i + 1 < text.size(); ++i) {
        const bool glued = (text[i] == '.' || text[i] == ';' || text[i] == ',') &&
                           std::isalpha(static_cast<unsigned char>(text[i + 1])) != 0;
        EXPECT_FALSE(glued) << text.substr(i > 20 ? i - 20 : 0, 40);
      }
    }
  }
}

TEST(RegistryTest, SymbolsOfAllKernelsFollowOnePattern) {
  std::set<std::string> symbols;
  for (const KernelSchema& schema : Registry::Builtin().schemas()) {
    for (const std::string& symbol : AllSymbols(schema)) {
      EXPECT_THAT(symbol, ::testing::StartsWith("weft_"));
      symbols.insert(symbol);
    }
  }
  EXPECT_THAT(symbols, ::testing::IsSupersetOf({"weft_axpy_f32", "weft_cast_u8_f32",
                                                "weft_transpose_b16", "weft_reduce_sum_f16_partial",
                                                "weft_gaussian_blur_u8_rows"}));
}

TEST(NearestNameTest, CountsEditsAndSwapsWithoutCase) {
  EXPECT_EQ(NearestName("trnaspose", {"transpose", "scale"}), "transpose");
  EXPECT_EQ(NearestName("AXPY", {"scale", "axpy"}), "axpy");
  EXPECT_EQ(NearestName("x", {"completely", "different"}), "");
  EXPECT_EQ(NearestName(std::string(100, 'a'), {"aaaa"}), "");
  EXPECT_EQ(NearestName("add", {}), "");
}

TEST(ImageStoreTest, FindsTheCpuImageOfTheBuildTree) {
  ASSERT_OK_AND_ASSIGN(const std::string image, LoadBuiltinImage(ImageKind::kHost));
  EXPECT_EQ(image.substr(1, 3), "ELF");
}

TEST(ImageStoreTest, SaysWhereItLookedForAMissingImage) {
  const absl::StatusOr<std::string> image = LoadBuiltinImage(ImageKind::kCuda);
  if (image.ok()) GTEST_SKIP() << "this build has device code";
  EXPECT_THAT(
      image, StatusIs(absl::StatusCode::kNotFound,
                      ::testing::AllOf(HasSubstr("builtin.fatbin"), HasSubstr("share/weft/kernels"),
                                       HasSubstr("WEFT_CUDA_ARCHITECTURES"))));
}

}  // namespace
}  // namespace weft::kernels
