// What the schemas of library calls take, and what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/bind.h"
#include "kernels/launch_shape.h"
#include "kernels/library/library_schemas.h"
#include "kernels/parameters.h"
#include "kernels/registry.h"

namespace weft::kernels {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using M = MatmulArguments;
using Shape = std::vector<uint64_t>;

const KernelSchema& CallNamed(absl::string_view name) { return *Registry::Library().Find(name); }

GivenBuffer Floats(const Shape& shape, uint64_t offset_bytes = 0, DType dtype = DType::kF32) {
  uint64_t bytes = SizeOf(dtype);
  for (const uint64_t extent : shape) bytes *= extent;
  return GivenBuffer{dtype, shape, bytes, offset_bytes, {}};
}

auto Refusal(const std::string& field, const std::string& text) {
  return Contains(AllOf(Field(&FieldViolation::field, field),
                        Field(&FieldViolation::description, HasSubstr(text))));
}

class MatmulBindTest : public ::testing::Test {
 protected:
  // a of 3 × 5, b of 5 × 4, d of 3 × 4, and the others.
  BindResult BindWith(std::vector<GivenArgument> others) {
    std::vector<GivenArgument> given = {{"a", Floats(a_)}, {"b", Floats(b_)}, {"d", Floats(d_)}};
    given.insert(given.end(), others.begin(), others.end());
    return Bind(CallNamed("blas.matmul"), given);
  }
  Shape a_ = {3, 5}, b_ = {5, 4}, d_ = {3, 4};
  const Shape four_ = {4}, three_ = {3};
};

TEST_F(MatmulBindTest, ExtentsComeFromTheShapes) {
  const BindResult bound = BindWith({});
  ASSERT_THAT(bound.violations, IsEmpty());
  EXPECT_EQ(bound.call.I64(M::kM), 3);
  EXPECT_EQ(bound.call.I64(M::kN), 4);
  EXPECT_EQ(bound.call.I64(M::kK), 5);
  EXPECT_EQ(bound.call.I64(M::kBatch), 1);
  EXPECT_EQ(bound.call.workspace_bytes, kMatmulWorkspaceBytes);
}

TEST_F(MatmulBindTest, ATransposeSwapsTheExtents) {
  a_ = {5, 3};
  b_ = {4, 5};
  const BindResult bound =
      BindWith({{"trans_a", absl::string_view("t")}, {"trans_b", absl::string_view("t")}});
  ASSERT_THAT(bound.violations, IsEmpty());
  EXPECT_EQ(bound.call.I64(M::kM), 3);
  EXPECT_EQ(bound.call.I64(M::kN), 4);
  EXPECT_EQ(bound.call.I64(M::kK), 5);
  EXPECT_EQ(MatmulLayout(bound.call, MatmulOperand::kA)->row_stride, 3u);
}

TEST_F(MatmulBindTest, ABatchIsCountedFromA) {
  a_ = {2, 3, 5};
  b_ = {2, 5, 4};
  d_ = {2, 3, 4};
  const BindResult bound = BindWith({});
  ASSERT_THAT(bound.violations, IsEmpty());
  EXPECT_EQ(bound.call.I64(M::kBatch), 2);
  EXPECT_EQ(bound.call.arguments[M::kB].touched_bytes, 2u * 5 * 4 * 4);
}

TEST_F(MatmulBindTest, AStrideOfZeroTouchesOneMatrix) {
  a_ = {2, 3, 5};
  d_ = {2, 3, 4};
  const BindResult bound = BindWith({{"stride_b", Number(int64_t{0})}});
  ASSERT_THAT(bound.violations, IsEmpty());
  EXPECT_EQ(bound.call.arguments[M::kB].touched_bytes, 5u * 4 * 4);
}

TEST_F(MatmulBindTest, ExtentsThatDoNotMeetAreRefused) {
  b_ = {6, 4};
  EXPECT_THAT(BindWith({}).violations, Refusal("b", "has extent 6 where k = 5"));
}

TEST_F(MatmulBindTest, AChoiceThatIsNoneIsRefusedWithTheNearest) {
  EXPECT_THAT(BindWith({{"epilogue", absl::string_view("relu_bia")}}).violations,
              Refusal("epilogue", "Did you mean \"relu_bias\"?"));
}

TEST_F(MatmulBindTest, ANumberForAChoiceIsRefused) {
  EXPECT_THAT(BindWith({{"epilogue", Number(int64_t{1})}}).violations,
              Refusal("epilogue", "must be a text, but a number is given"));
  EXPECT_THAT(BindWith({{"alpha", absl::string_view("one")}}).violations,
              Refusal("alpha", "must be a number, but a text is given"));
}

TEST_F(MatmulBindTest, TheEpilogueAndTheBiasBelongTogether) {
  EXPECT_THAT(BindWith({{"epilogue", absl::string_view("bias")}}).violations,
              Refusal("bias", "is missing"));
  EXPECT_THAT(BindWith({{"bias", Floats(four_)}}).violations, Refusal("bias", "does not add it"));
  EXPECT_THAT(
      BindWith({{"bias", Floats(four_)}, {"epilogue", absl::string_view("gelu_bias")}}).violations,
      IsEmpty());
  EXPECT_THAT(
      BindWith({{"bias", Floats(three_)}, {"epilogue", absl::string_view("bias")}}).violations,
      Refusal("bias", "has extent 3 where n = 4"));
}

TEST_F(MatmulBindTest, BetaNeedsC) {
  EXPECT_THAT(BindWith({{"beta", Number(1.0)}}).violations, Refusal("c", "beta is not 0"));
  EXPECT_THAT(BindWith({{"beta", Number(1.0)}, {"c", Floats(d_)}}).violations, IsEmpty());
}

TEST_F(MatmulBindTest, Tf32IsOfF32Alone) {
  const std::vector<GivenArgument> given = {{"a", Floats(a_, 0, DType::kF16)},
                                            {"b", Floats(b_, 0, DType::kF16)},
                                            {"d", Floats(d_, 0, DType::kF16)},
                                            {"compute", absl::string_view("tf32")}};
  EXPECT_THAT(Bind(CallNamed("blas.matmul"), given).violations, Refusal("compute", "a is f16"));
}

TEST_F(MatmulBindTest, RowsThatOverlapAreRefused) {
  EXPECT_THAT(BindWith({{"lda", Number(int64_t{4})}}).violations,
              Refusal("lda", "4 is below the 5 elements of a row"));
}

TEST_F(MatmulBindTest, ResultsThatOverlapAreRefused) {
  a_ = {2, 3, 5};
  b_ = {2, 5, 4};
  d_ = {2, 3, 4};
  EXPECT_THAT(BindWith({{"stride_d", Number(int64_t{11})}}).violations,
              Refusal("stride_d", "overlap"));
}

TEST_F(MatmulBindTest, PaddingThatLeavesTheBufferIsRefused) {
  EXPECT_THAT(BindWith({{"ldd", Number(int64_t{5})}}).violations,
              Refusal("d", "has 48 bytes, but call blas.matmul needs 56"));
}

TEST_F(MatmulBindTest, SizesBeyond64BitsAreRefused) {
  const BindResult bound = BindWith({{"m", Number(int64_t{0x7fffffff})},
                                     {"lda", Number(int64_t{1} << 40)},
                                     {"batch", Number(int64_t{0x7fffffff})}});
  EXPECT_THAT(bound.violations, Not(IsEmpty()));
}

TEST_F(MatmulBindTest, ABuffersLeftOutHasTheAddressZero) {
  const BindResult bound = BindWith({});
  const auto pack = PackParameters(CallNamed("blas.matmul"), bound.call, {16, 32, 48}, 64);
  ASSERT_TRUE(pack.ok());
  EXPECT_EQ(pack->words[M::kC], 0u);
  EXPECT_EQ(pack->words[M::kBias], 0u);
  EXPECT_EQ(pack->words[M::kD], 48u);
  EXPECT_EQ(pack->words.back(), 64u);
}

TEST_F(MatmulBindTest, NothingToDoMakesNoLaunch) {
  a_ = {0, 5};
  d_ = {0, 4};
  const BindResult bound = BindWith({});
  ASSERT_THAT(bound.violations, IsEmpty());
  EXPECT_THAT(PlanLaunch(CallNamed("blas.matmul"), bound.call, {})->phases, IsEmpty());
}

TEST(FftBindTest, ExtentsComeFromTheReals) {
  const Shape reals = {3, 4, 7}, halves = {3, 4, 4, 2};
  for (const char* name : {"fft.r2c_2d", "fft.c2r_2d"}) {
    const bool to_reals = name[4] == 'c';
    const BindResult bound = Bind(CallNamed(name), {{{"src", Floats(to_reals ? halves : reals)},
                                                     {"dst", Floats(to_reals ? reals : halves)}}});
    ASSERT_THAT(bound.violations, IsEmpty()) << name;
    const FftShape shape = FftShapeOf(CallNamed(name));
    EXPECT_EQ(bound.call.I64(shape.FirstExtent()), 4) << name;
    EXPECT_EQ(bound.call.I64(shape.FirstExtent() + 1), 7) << name;
    EXPECT_EQ(bound.call.I64(shape.Batch()), 3) << name;
  }
}

TEST(FftBindTest, HalvesOfTheWrongLengthAreRefused) {
  const Shape reals = {3, 8}, halves = {3, 4, 2};
  EXPECT_THAT(
      Bind(CallNamed("fft.r2c_1d"), {{{"src", Floats(reals)}, {"dst", Floats(halves)}}}).violations,
      Refusal("dst", "has extent 4 where n0/2+1 = 5"));
}

TEST(FftBindTest, PairsMustStartAtPairs) {
  const Shape pairs = {8, 2};
  EXPECT_THAT(Bind(CallNamed("fft.c2c_1d"), {{{"src", Floats(pairs, 4)}, {"dst", Floats(pairs)}}})
                  .violations,
              Refusal("src", "not a multiple of 8, the size of 2 f32"));
}

TEST(FftBindTest, ComplexToRealSpoilsItsSource) {
  EXPECT_EQ(CallNamed("fft.c2r_1d").arguments[0].buffer()->access, Access::kReadWrite);
  EXPECT_EQ(CallNamed("fft.r2c_1d").arguments[0].buffer()->access, Access::kRead);
}

TEST(FftBindTest, LargePrimesTakeMoreWorkspace) {
  const Shape smooth = {1024, 2}, prime = {1021, 2};
  const auto workspace = [](const Shape& shape) {
    return Bind(CallNamed("fft.c2c_1d"), {{{"src", Floats(shape)}, {"dst", Floats(shape)}}})
        .call.workspace_bytes;
  };
  EXPECT_EQ(workspace(smooth), (uint64_t{16} << 20) + 1024 * 8 * 2);
  EXPECT_EQ(workspace(prime), (uint64_t{16} << 20) + 1021 * 8 * 8);
}

TEST(SolverBindTest, SingularValuesAreAsManyAsTheSmallerExtent) {
  const Shape a = {5, 2}, five = {5}, u = {5, 5}, vt = {5, 2}, one = {1};
  const GivenBuffer info{DType::kI32, one, 4, 0, {}};
  EXPECT_THAT(Bind(CallNamed("solver.svd"), {{{"a", Floats(a)},
                                              {"s", Floats(five)},
                                              {"u", Floats(u)},
                                              {"vt", Floats(vt)},
                                              {"info", info}}})
                  .violations,
              Refusal("k", "5 is not 2, the smaller of m and n"));
}

TEST(SolverBindTest, ExtentsWhoseProductDoesNotFitAreRefused) {
  const Shape a = {3, 3}, one = {1};
  const GivenBuffer info{DType::kI32, one, 4, 0, {}};
  EXPECT_THAT(Bind(CallNamed("solver.cholesky"), {{{"a", Floats(a, 0, DType::kF64)},
                                                   {"factor", Floats(a, 0, DType::kF64)},
                                                   {"info", info},
                                                   {"n", Number(int64_t{0x7fffffff})}}})
                  .violations,
              Refusal("a", "more bytes than 64 bits count"));
}

TEST(RandBindTest, NormalNumbersAreMadeInPairs) {
  const Shape five = {5};
  EXPECT_THAT(Bind(CallNamed("rand.normal"), {{{"dst", Floats(five)}}}).violations,
              Refusal("n", "5 is odd"));
  EXPECT_THAT(Bind(CallNamed("rand.uniform"), {{{"dst", Floats(five)}}}).violations, IsEmpty());
}

TEST(SparseBindTest, OffsetsAreOneMoreThanTheRows) {
  const Shape three = {3}, five = {5}, two = {2}, one = {1};
  const auto indices = [](const Shape& shape) { return Floats(shape, 0, DType::kI32); };
  const auto bind = [&](const Shape& y) {
    return Bind(CallNamed("sparse.spmv"), {{{"row_offsets", indices(three)},
                                            {"columns", indices(five)},
                                            {"values", Floats(five)},
                                            {"x", Floats(three)},
                                            {"y", Floats(y)},
                                            {"info", indices(one)}}});
  };
  EXPECT_THAT(bind(two).violations, IsEmpty());
  EXPECT_THAT(bind(three).violations, Refusal("row_offsets", "has extent 3 where rows+1 = 4"));
}

TEST(SparseBindTest, NoMoreNonzerosThanElements) {
  const Shape two = {2}, three = {3}, four = {4}, five = {5}, one = {1};
  const auto indices = [](const Shape& shape) { return Floats(shape, 0, DType::kI32); };
  const auto bind = [&](const Shape& nonzeros) {
    return Bind(CallNamed("sparse.spmv"), {{{"row_offsets", indices(three)},
                                            {"columns", indices(nonzeros)},
                                            {"values", Floats(nonzeros)},
                                            {"x", Floats(two)},
                                            {"y", Floats(two)},
                                            {"info", indices(one)}}});
  };
  EXPECT_THAT(bind(four).violations, IsEmpty());
  EXPECT_THAT(bind(five).violations, Refusal("nnz", "5 are more than the 4 elements"));
}

TEST(SparseBindTest, MoreIndicesThanAnI32CountsAreRefused) {
  const Shape huge = {0x60000000}, offsets = {0x60000001}, one = {1};
  const auto indices = [](const Shape& shape) { return Floats(shape, 0, DType::kI32); };
  EXPECT_THAT(Bind(CallNamed("sparse.spmv"), {{{"row_offsets", indices(offsets)},
                                               {"columns", indices(huge)},
                                               {"values", Floats(huge)},
                                               {"x", Floats(one)},
                                               {"y", Floats(huge)},
                                               {"info", indices(one)}}})
                  .violations,
              Refusal("nnz", "more indices than an i32 counts"));
}

class ConvBindTest : public ::testing::Test {
 protected:
  BindResult BindWith(const Shape& y, std::vector<GivenArgument> others = {}) {
    std::vector<GivenArgument> given = {{"x", Floats(x_)},
                                        {"filters", Floats(filters_)},
                                        {"bias", Floats(bias_)},
                                        {"y", Floats(y)}};
    given.insert(given.end(), others.begin(), others.end());
    return Bind(CallNamed("dnn.conv2d_forward"), given);
  }
  const Shape x_ = {2, 3, 10, 8}, filters_ = {4, 3, 3, 3}, bias_ = {4};
};

TEST_F(ConvBindTest, TheResultHasAnElementForEachPlaceOfTheFilter) {
  EXPECT_THAT(BindWith({2, 4, 8, 6}).violations, IsEmpty());
  EXPECT_THAT(BindWith({2, 4, 10, 6}).violations, Refusal("p", "10 is not 8"));
  EXPECT_THAT(BindWith({2, 4, 8, 8}).violations, Refusal("q", "8 is not 6"));
}

TEST_F(ConvBindTest, AFilterThatReachesOverTheImageIsRefused) {
  EXPECT_THAT(BindWith({2, 4, 8, 1}, {{"dilation_w", Number(int64_t{4})}}).violations,
              Refusal("s", "reaches over 9 elements, but x has 8"));
}

TEST(LibraryRegistryTest, EveryCallNamesItsLibraryAndHasATwin) {
  for (const KernelSchema& schema : Registry::Library().schemas()) {
    EXPECT_TRUE(schema.library.has_value()) << schema.name;
    EXPECT_EQ(schema.phases.size(), 1u) << schema.name;
    EXPECT_EQ(Registry::Builtin().Find(schema.name), nullptr) << schema.name;
  }
}

TEST(LibraryRegistryTest, ChoicesHaveADefaultAmongThem) {
  for (const KernelSchema& schema : Registry::Library().schemas()) {
    for (const ArgumentSchema& argument : schema.arguments) {
      if (argument.scalar() == nullptr || argument.scalar()->choices.empty()) continue;
      const auto chosen = std::get<int64_t>(argument.scalar()->default_value.constant);
      EXPECT_LT(static_cast<size_t>(chosen), argument.scalar()->choices.size())
          << schema.name << " " << argument.name;
    }
  }
}

}  // namespace
}  // namespace weft::kernels
