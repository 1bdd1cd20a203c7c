// What the kernels promise for NaN, infinities, subnormal numbers, rounding and repetition.
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "tests/kernels/device.h"
#include "tests/kernels/problem.h"
#include "tests/testing/status_matchers.h"

namespace weft::kernels::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr DType kFloats[] = {DType::kF32, DType::kF64, DType::kF16, DType::kBF16};

const KernelSchema& Kernel(const char* name) { return *Registry::Builtin().Find(name); }

// Runs the problem and compares every written buffer with what it expects.
void Check(const Problem& problem) {
  SCOPED_TRACE(problem.schema().name + " of " + std::string(NameOf(problem.dtype())));
  ASSERT_OK_AND_ASSIGN(Device * device, DeviceUnderTest());
  ASSERT_OK_AND_ASSIGN(const Outcome outcome, device->Run(problem, {}));
  for (size_t i = 0; i < problem.buffers().size(); ++i) {
    if (!problem.buffers()[i].written) continue;
    EXPECT_EQ(Difference(problem.buffers()[i], outcome.buffers[i]), "");
  }
}

// One input, one output of the same or another dtype.
void CheckMap(Problem problem, const char* in, const char* out, DType out_dtype,
              const Values& values, const Values& wanted) {
  const DType dtype = problem.dtype();
  problem.Input(in, dtype, {values.size()}, Encode(dtype, values));
  problem.Output(out, out_dtype, {wanted.size()});
  problem.Expect({0, 0}, [&](uint64_t i) { return Expected{wanted[i], 0}; });
  Check(problem);
}

TEST(NanTest, AnyNanMakesAReductionNan) {
  for (const char* kernel : {"reduce_sum", "reduce_min", "reduce_max"}) {
    for (const DType dtype : kFloats) {
      for (const size_t position : {0u, 77u, 4095u, 4999u}) {
        Values values(5000, 1);
        values[position] = kNan;
        const DType result = std::string(kernel) == "reduce_sum" ? SumType(dtype) : dtype;
        CheckMap(Problem(Kernel(kernel), {dtype}, {}), "src", "dst", result, values, {kNan});
      }
    }
  }
}

TEST(NanTest, TheFirstNanIsTheExtremeElement) {
  for (const char* kernel : {"argmax", "argmin"}) {
    for (const DType dtype : kFloats) {
      for (const size_t position : {0u, 77u, 4095u, 4999u}) {
        Values values(5000, 1);
        values[position] = kNan;
        values[4999] = kNan;
        values[10] = position > 10 ? kInf : 1;
        values[11] = position > 10 ? -kInf : 1;
        CheckMap(Problem(Kernel(kernel), {dtype}, {}), "src", "dst", DType::kI64, values,
                 {static_cast<Value>(position)});
      }
    }
  }
}

TEST(TieTest, TheFirstOfEqualElementsIsTheExtremeOne) {
  for (const DType dtype : kFloats) {
    Values values(9000, 0);
    for (size_t i = 0; i < values.size(); ++i) values[i] = i % 2 == 0 ? Value{-0.0} : Value{0};
    CheckMap(Problem(Kernel("argmax"), {dtype}, {}), "src", "dst", DType::kI64, values, {0});
    values[5001] = values[8999] = -kInf;
    values[4100] = values[6000] = kInf;
    CheckMap(Problem(Kernel("argmax"), {dtype}, {}), "src", "dst", DType::kI64, values, {4100});
    CheckMap(Problem(Kernel("argmin"), {dtype}, {}), "src", "dst", DType::kI64, values, {5001});
  }
}

TEST(NanTest, InfinitiesReduceAsNumbers) {
  for (const DType dtype : kFloats) {
    const Values values = {1, -kInf, 2, kInf, -3};
    CheckMap(Problem(Kernel("reduce_min"), {dtype}, {}), "src", "dst", dtype, values, {-kInf});
    CheckMap(Problem(Kernel("reduce_max"), {dtype}, {}), "src", "dst", dtype, values, {kInf});
    CheckMap(Problem(Kernel("reduce_sum"), {dtype}, {}), "src", "dst", SumType(dtype), values,
             {kNan});
  }
}

TEST(NanTest, ScansAreNanFromTheFirstNanOn) {
  for (const DType dtype : kFloats) {
    Values values(2100, 0);
    Values wanted(2100, 0);
    values[1030] = kNan;
    for (size_t i = 1030; i < wanted.size(); ++i) wanted[i] = kNan;
    CheckMap(Problem(Kernel("inclusive_scan"), {dtype}, {}), "src", "dst", SumType(dtype), values,
             wanted);
  }
}

TEST(NanTest, ClampKeepsNanAndTakesItFromItsBounds) {
  for (const DType dtype : kFloats) {
    Problem bounded(Kernel("clamp"), {dtype}, {});
    bounded.Scalar("low", -1.0);
    bounded.Scalar("high", 1.0);
    CheckMap(bounded, "x", "y", dtype, {kNan, kInf, -kInf, 0.5}, {kNan, 1, -1, 0.5});
    Problem nan_bound(Kernel("clamp"), {dtype}, {});
    nan_bound.Scalar("low", -1.0);
    nan_bound.Scalar("high", kNan);
    CheckMap(nan_bound, "x", "y", dtype, {0, 5}, {kNan, kNan});
    Problem open(Kernel("clamp"), {dtype}, {});
    open.Scalar("high", kInf);
    CheckMap(open, "x", "y", dtype, {-3, 0, 7}, {0, 0, 7});
  }
}

TEST(NanTest, SoftmaxOfARowWithNanIsNanAndOthersAreNot) {
  for (const DType dtype : kFloats) {
    Problem problem(Kernel("softmax"), {dtype}, {});
    const Values values = {0, kNan, 0, 0, -kInf, 0, -kInf, -kInf, 30000, 30000, -30000, 30000};
    problem.Input("x", dtype, {6, 2}, Encode(dtype, Values(values)));
    problem.Output("y", dtype, {6, 2});
    const Values wanted = {kNan, kNan, 0.5, 0.5, 0, 1, kNan, kNan, 0.5, 0.5, 0, 1};
    problem.Expect({4, 1}, [&](uint64_t i) { return Expected{wanted[i], 1}; });
    if (dtype == DType::kBF16) continue;  // does not hold 30000
    Check(problem);
  }
}

TEST(CastTest, FloatsSaturateAndNanBecomesZero) {
  for (const DType dtype : kFloats) {
    const Values values = {kNan, kInf, -kInf, -0.75, 0.75, 255.0, 256.0, -1.5};
    CheckMap(Problem(Kernel("cast"), {dtype, DType::kU8}, {}), "src", "dst", DType::kU8, values,
             {0, 255, 0, 0, 0, 255, 255, 0});
    CheckMap(Problem(Kernel("cast"), {dtype, DType::kI32}, {}), "src", "dst", DType::kI32, values,
             {0, 2147483647, -2147483648.0L, 0, 0, 255, 256, -1});
  }
  CheckMap(Problem(Kernel("cast"), {DType::kF64, DType::kI32}, {}), "src", "dst", DType::kI32,
           {2147483646.5, 2147483647.5, -2147483648.5, 1e300},
           {2147483646, 2147483647, -2147483648.0L, 2147483647});
}

// All of f16 and bf16, subnormal numbers and NaN included.
TEST(CastTest, EverySixteenBitFloatConvertsExactly) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    std::vector<uint8_t> bytes(2 << 16);
    for (uint32_t bits = 0; bits < 1 << 16; ++bits) std::memcpy(&bytes[2 * bits], &bits, 2);
    const Values values = Decode(dtype, bytes);
    CheckMap(Problem(Kernel("cast"), {dtype, DType::kF32}, {}), "src", "dst", DType::kF32, values,
             values);
  }
}

// `value` rounded to nearest even in a format of `mantissa_bits`, whose least normal exponent is
// `min_exponent` and which overflows at `limit`.
Value Rounded(Value value, int mantissa_bits, int min_exponent, Value limit) {
  if (std::isnan(value) || std::isinf(value) || value == 0) return value;
  const int exponent = std::max(std::ilogb(value), min_exponent);
  const Value unit = std::ldexp(Value{1}, exponent - mantissa_bits);
  const Value rounded = std::nearbyint(value / unit) * unit;
  return std::fabs(rounded) >= limit ? std::copysign(Value{kInf}, value) : rounded;
}

TEST(CastTest, RoundsToNearestEvenOverTheWholeRange) {
  Random random(7);
  Values values;
  for (int i = 0; i < 20000; ++i) {
    auto bits = static_cast<uint32_t>(random.Next());
    if (i % 2 == 0) bits = (bits & 0x8fffffffu) | 0x30000000u;  // where f16 has its numbers
    if (i % 4 == 0) bits &= ~0xfffu;                            // half-way cases
    values.push_back(DecodeOne(DType::kF32, reinterpret_cast<const uint8_t*>(&bits)));
  }
  Values f16;
  Values bf16;
  for (const Value value : values) {
    f16.push_back(Rounded(value, 10, -14, 65536));
    bf16.push_back(Rounded(value, 7, -126, std::ldexp(Value{1}, 128)));
  }
  CheckMap(Problem(Kernel("cast"), {DType::kF32, DType::kF16}, {}), "src", "dst", DType::kF16,
           values, f16);
  CheckMap(Problem(Kernel("cast"), {DType::kF32, DType::kBF16}, {}), "src", "dst", DType::kBF16,
           values, bf16);
}

TEST(RepetitionTest, TheSameInputGivesTheSameBitsWhereverItLies) {
  ASSERT_OK_AND_ASSIGN(Device * device, DeviceUnderTest());
  for (const char* kernel : {"reduce_sum", "inclusive_scan", "exclusive_scan"}) {
    Problem problem(Kernel(kernel), {DType::kF32}, {});
    constexpr uint64_t kCount = 100003;
    problem.Input("src", DType::kF32, {kCount});
    problem.Output("dst", DType::kF32, {std::string(kernel) == "reduce_sum" ? 1 : kCount});
    problem.Expect({}, [](uint64_t) { return Expected{}; });
    ASSERT_OK_AND_ASSIGN(const Outcome first, device->Run(problem, {}));
    ASSERT_OK_AND_ASSIGN(const Outcome second, device->Run(problem, {}));
    ASSERT_OK_AND_ASSIGN(const Outcome shifted, device->Run(problem, {1, false, {}}));
    EXPECT_EQ(first.buffers[1], second.buffers[1]) << kernel;
    EXPECT_EQ(first.buffers[1], shifted.buffers[1]) << kernel;
  }
}

TEST(ZeroSizeTest, NothingIsLaunchedForNoElements) {
  ASSERT_OK_AND_ASSIGN(Device * device, DeviceUnderTest());
  Problem problem(Kernel("scale"), {DType::kF32}, {});
  problem.Input("x", DType::kF32, {0});
  problem.Output("y", DType::kF32, {0});
  problem.Expect({}, [](uint64_t) { return Expected{}; });
  problem.Scalar("a", 2.0);
  ASSERT_OK_AND_ASSIGN(const Outcome outcome, device->Run(problem, {}));
  EXPECT_EQ(outcome.phases, 0u);
}

TEST(SpinTest, MarksStartAndEndAtLeastTheGivenTimeApart) {
  ASSERT_OK_AND_ASSIGN(Device * device, DeviceUnderTest());
  constexpr int64_t kNs = 2'000'000;
  Problem problem(Kernel("spin"), {DType::kU64}, {});
  problem.Scalar("ns", kNs);
  problem.Output("mark", DType::kU64, {2});
  problem.Expect({}, [](uint64_t) { return Expected{}; });
  ASSERT_OK_AND_ASSIGN(const Outcome outcome, device->Run(problem, {}));
  uint64_t marks[2];
  std::memcpy(marks, outcome.buffers[0].data(), sizeof marks);
  EXPECT_GE(marks[1] - marks[0], static_cast<uint64_t>(kNs));
  EXPECT_EQ(outcome.stray_bytes, 0u);
}

}  // namespace
}  // namespace weft::kernels::testing
