#include "kernels/bind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "kernels/registry.h"

namespace weft::kernels {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const KernelSchema& Kernel(absl::string_view name) { return *Registry::Builtin().Find(name); }

// A buffer of `shape`, with the bytes that it needs.
GivenBuffer Of(DType dtype, const std::vector<uint64_t>& shape) {
  uint64_t bytes = SizeOf(dtype);
  for (const uint64_t extent : shape) bytes *= extent;
  return GivenBuffer{dtype, shape, bytes, 0, {}};
}

auto Violation(const std::string& field, const std::string& text) {
  return AllOf(Field(&FieldViolation::field, field),
               Field(&FieldViolation::description, HasSubstr(text)));
}

class BindTest : public ::testing::Test {
 protected:
  // Shapes live here: a GivenBuffer only points to its own.
  const std::vector<uint64_t> ten_ = {10};
  const std::vector<uint64_t> eleven_ = {11};
  const std::vector<uint64_t> two_three_ = {2, 3};
  const std::vector<uint64_t> three_four_ = {3, 4};
  const std::vector<uint64_t> four_three_ = {4, 3};
  const std::vector<uint64_t> two_four_ = {2, 4};
};

TEST_F(BindTest, FillsDefaultsFromBuffers) {
  const BindResult bound =
      Bind(Kernel("axpy"), {{{"x", Of(DType::kF32, ten_)}, {"y", Of(DType::kF32, ten_)}}});
  ASSERT_THAT(bound.violations, IsEmpty());
  const auto& arguments = bound.call.arguments;
  EXPECT_EQ(arguments[0].touched_bytes, 40u);
  EXPECT_EQ(arguments[2].scalar.AsDouble(), 1);
  EXPECT_EQ(arguments[2].scalar.dtype, DType::kF32);
  EXPECT_EQ(arguments[2].origin, Origin::kDefault);
  EXPECT_EQ(arguments[3].scalar.AsExtent(), 10u);
}

TEST_F(BindTest, CountsElementsByBytesWhereNoShapeIsDeclared) {
  const GivenBuffer raw{DType::kU8, {}, 7, 0, {}};
  const BindResult bound = Bind(Kernel("copy"), {{{"src", raw}, {"dst", raw}}});
  ASSERT_THAT(bound.violations, IsEmpty());
  EXPECT_EQ(bound.call.arguments[2].scalar.AsExtent(), 7u);
}

TEST_F(BindTest, UntypedBytesTakeTheOnlyTypeThatFits) {
  const GivenBuffer raw{{}, ten_, 40, 0, {}};
  const BindResult bound =
      Bind(Kernel("scale"), {{{"x", Of(DType::kI32, ten_)}, {"y", raw}, {"a", int64_t{2}}}});
  ASSERT_THAT(bound.violations, IsEmpty());
  EXPECT_EQ(bound.call.arguments[1].dtype, DType::kI32);
  const BindResult open = Bind(Kernel("scale"), {{{"x", raw}, {"y", raw}, {"a", int64_t{2}}}});
  EXPECT_THAT(open.violations, ElementsAre(Violation("x", "has no dtype")));
}

TEST_F(BindTest, ComputesTheWorkspace) {
  const std::vector<uint64_t> many = {5000};
  const std::vector<uint64_t> one = {1};
  const BindResult bound =
      Bind(Kernel("reduce_sum"), {{{"src", Of(DType::kF32, many)}, {"dst", Of(DType::kF32, one)}}});
  ASSERT_THAT(bound.violations, IsEmpty());
  EXPECT_GT(bound.call.workspace_bytes, 0u);
}

TEST_F(BindTest, NamesTheNearestArgument) {
  const BindResult bound = Bind(Kernel("scale"), {{{"x", Of(DType::kF32, ten_)},
                                                   {"y", Of(DType::kF32, ten_)},
                                                   {"a", 1.0},
                                                   {"N", int64_t{1}}}});
  EXPECT_THAT(bound.violations, ElementsAre(Violation("N", "Did you mean \"n\"?")));
}

TEST_F(BindTest, ReportsEverythingAtOnce) {
  const BindResult bound = Bind(Kernel("scale"), {{{"x", Of(DType::kI64, ten_)},
                                                   {"x", Of(DType::kF32, ten_)},
                                                   {"n", Of(DType::kF32, ten_)},
                                                   {"z", 1.0}}});
  EXPECT_THAT(bound.violations,
              ElementsAre(Violation("x", "twice"), Violation("z", "no such argument"),
                          Violation("y", "missing"), Violation("a", "missing"),
                          Violation("n", "must be a number")));
}

TEST_F(BindTest, RefusesTypesThatTheKernelDoesNotTake) {
  const BindResult bound = Bind(Kernel("add"), {{{"a", Of(DType::kI64, ten_)},
                                                 {"b", Of(DType::kI64, ten_)},
                                                 {"dst", Of(DType::kI64, ten_)}}});
  EXPECT_THAT(bound.violations, ElementsAre(Violation("a", "is i64, but kernel add takes f32")));
  const BindResult mixed = Bind(Kernel("add"), {{{"a", Of(DType::kF32, ten_)},
                                                 {"b", Of(DType::kF64, ten_)},
                                                 {"dst", Of(DType::kF32, ten_)}}});
  EXPECT_THAT(mixed.violations, ElementsAre(Violation("b", "takes f32 here (same as a)")));
}

TEST_F(BindTest, RefusesValuesOutsideOfTypeAndLimits) {
  const auto with = [&](const Number& value) {
    const std::vector<uint64_t> shape = {2};
    return Bind(Kernel("spin"), {{{"mark", Of(DType::kU64, shape)}, {"ns", value}}}).violations;
  };
  EXPECT_THAT(with(int64_t{-1}), ElementsAre(Violation("ns", "below the smallest")));
  EXPECT_THAT(with(UINT64_MAX), ElementsAre(Violation("ns", "is not a value of type i64")));
  EXPECT_THAT(with(1.5), ElementsAre(Violation("ns", "is not a value of type i64")));
  EXPECT_THAT(with(int64_t{1} << 40), ElementsAre(Violation("ns", "above the largest")));
  EXPECT_THAT(with(int64_t{5}), IsEmpty());
}

TEST_F(BindTest, RefusesNanWhereThereAreLimits) {
  const BindResult bound =
      Bind(Kernel("gaussian_blur"), {{{"src", Of(DType::kF32, two_three_)},
                                      {"dst", Of(DType::kF32, two_three_)},
                                      {"sigma", std::numeric_limits<double>::quiet_NaN()}}});
  EXPECT_THAT(bound.violations, ElementsAre(Violation("sigma", "is NaN")));
}

TEST_F(BindTest, SaysHowManyBytesAreNeeded) {
  const BindResult bound =
      Bind(Kernel("fill"), {{{"dst", Of(DType::kF32, ten_)}, {"n", int64_t{11}}}});
  EXPECT_THAT(bound.violations,
              ElementsAre(Violation("dst", "has 40 bytes, but kernel fill needs 44 (n = 11")));
}

TEST_F(BindTest, RefusesSizesThatOverflow) {
  const GivenBuffer raw{DType::kF64, {}, 64, 0, {}};
  const BindResult bound =
      Bind(Kernel("transpose"),
           {{{"src", raw}, {"dst", raw}, {"rows", int64_t{1} << 40}, {"cols", int64_t{1} << 40}}});
  EXPECT_THAT(bound.violations, ElementsAre(Violation("src", "more bytes than 64 bits"),
                                            Violation("dst", "more bytes than 64 bits")));
}

TEST_F(BindTest, RefusesMisalignedBuffers) {
  GivenBuffer shifted = Of(DType::kF32, ten_);
  shifted.offset_bytes = 2;
  const BindResult bound = Bind(Kernel("fill"), {{{"dst", shifted}}});
  EXPECT_THAT(bound.violations, ElementsAre(Violation("dst", "not a multiple of 4")));
}

TEST_F(BindTest, ComparesShapesWithDefaultedExtents) {
  const BindResult fits = Bind(Kernel("matmul"), {{{"a", Of(DType::kF32, two_three_)},
                                                   {"b", Of(DType::kF32, three_four_)},
                                                   {"c", Of(DType::kF32, two_four_)}}});
  EXPECT_THAT(fits.violations, IsEmpty());
  const BindResult wrong = Bind(Kernel("matmul"), {{{"a", Of(DType::kF32, two_three_)},
                                                    {"b", Of(DType::kF32, four_three_)},
                                                    {"c", Of(DType::kF32, two_four_)}}});
  EXPECT_THAT(wrong.violations, ElementsAre(Violation("b", "has extent 4 where k = 3"),
                                            Violation("c", "has extent 4 where n = 3")));
  const BindResult vectors =
      Bind(Kernel("axpy"), {{{"x", Of(DType::kF32, ten_)}, {"y", Of(DType::kF32, eleven_)}}});
  EXPECT_THAT(vectors.violations, ElementsAre(Violation("y", "has extent 11 where n = 10")));
}

TEST_F(BindTest, GivenExtentsReadTheBytesTheirOwnWay) {
  const BindResult bound =
      Bind(Kernel("axpy"),
           {{{"x", Of(DType::kF32, two_four_)}, {"y", Of(DType::kF32, ten_)}, {"n", int64_t{8}}}});
  EXPECT_THAT(bound.violations, IsEmpty());
}

TEST_F(BindTest, AsksForAnExtentThatNoShapeGives) {
  const GivenBuffer raw{DType::kF32, {}, 40, 0, {}};
  const BindResult bound = Bind(Kernel("sobel"), {{{"src", raw}, {"dst", raw}}});
  EXPECT_THAT(bound.violations,
              ElementsAre(Violation("height", "dim(src, 1) needs a shape that buffer src"),
                          Violation("width", "dim(src, 0) needs a shape that buffer src")));
}

class OverlapTest : public BindTest {
 protected:
  // x and y of `kernel` in one allocation, y `distance` bytes behind x.
  std::vector<FieldViolation> BindAt(absl::string_view kernel, absl::string_view x,
                                     absl::string_view y, uint64_t distance) {
    GivenBuffer first = Of(DType::kF32, ten_);
    first.storage = 7;
    GivenBuffer second = first;
    second.offset_bytes = distance;
    return Bind(Kernel(kernel), {{{x, first}, {y, second}, {"n", int64_t{10}}}}).violations;
  }
};

TEST_F(OverlapTest, AllowsExactlyTheSameBytesWhereTheKernelDoes) {
  GivenBuffer buffer = Of(DType::kF32, ten_);
  buffer.storage = 7;
  const BindResult bound = Bind(Kernel("add"), {{{"a", buffer}, {"b", buffer}, {"dst", buffer}}});
  EXPECT_THAT(bound.violations, IsEmpty());
  EXPECT_THAT(BindAt("inclusive_scan", "src", "dst", 0), IsEmpty());
}

TEST_F(OverlapTest, RefusesEveryOtherOverlap) {
  EXPECT_THAT(BindAt("inclusive_scan", "src", "dst", 4),
              ElementsAre(Violation("dst", "shares bytes [4, 40)")));
  EXPECT_THAT(BindAt("copy", "src", "dst", 0), ElementsAre(Violation("dst", "needs them apart")));
  EXPECT_THAT(BindAt("copy", "src", "dst", 40), IsEmpty());
}

}  // namespace
}  // namespace weft::kernels
