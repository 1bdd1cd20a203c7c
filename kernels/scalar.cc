#include "kernels/scalar.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <variant>

#include "kernels/builtin/half_types.h"

namespace weft::kernels {
namespace {

template <typename T>
ScalarValue Store(DType dtype, T value) {
  ScalarValue result{dtype, 0};
  std::memcpy(&result.bits, &value, sizeof value);
  return result;
}

template <typename T>
T Load(const ScalarValue& value) {
  T result;
  std::memcpy(&result, &value.bits, sizeof result);
  return result;
}

// Largest finite values, above which a finite number does not convert. Half-way cases round down
// to them.
constexpr double kMaxF16 = 65504.0;
constexpr double kMaxBF16 = 0x1.FEp127;
constexpr double kMaxF32 = std::numeric_limits<float>::max();

std::optional<ScalarValue> ToFloatType(double value, DType dtype) {
  const bool finite = std::isfinite(value);
  const auto fits = [&](double max) { return !finite || std::fabs(value) <= max; };
  const auto as_float = static_cast<float>(fits(kMaxF32) ? value : 0.0);
  switch (dtype) {
    case DType::kF16:
      if (!fits(kMaxF16)) return std::nullopt;
      return Store(dtype, ToF16(as_float));
    case DType::kBF16:
      if (!fits(kMaxBF16)) return std::nullopt;
      return Store(dtype, ToBF16(as_float));
    case DType::kF32:
      if (!fits(kMaxF32)) return std::nullopt;
      return Store(dtype, as_float);
    default:
      return Store(dtype, value);
  }
}

// An integer as sign and magnitude, so that both 64-bit types fit.
struct Integer {
  bool negative = false;
  uint64_t magnitude = 0;
};

std::optional<Integer> ToInteger(const Number& number) {
  if (const auto* u = std::get_if<uint64_t>(&number)) return Integer{false, *u};
  if (const auto* i = std::get_if<int64_t>(&number)) {
    const auto bits = static_cast<uint64_t>(*i);
    return *i < 0 ? Integer{true, uint64_t{0} - bits} : Integer{false, bits};
  }
  const double value = std::get<double>(number);
  if (std::trunc(value) != value || std::fabs(value) >= 0x1p64) return std::nullopt;
  return Integer{value < 0, static_cast<uint64_t>(std::fabs(value))};
}

std::optional<ScalarValue> ToIntegerType(const Integer& value, DType dtype) {
  const uint32_t width = 8 * SizeOf(dtype);
  const uint64_t top = uint64_t{1} << (width - 1);
  const bool fits = IsSigned(dtype) ? value.magnitude < top + (value.negative ? 1 : 0)
                                    : (!value.negative || value.magnitude == 0) &&
                                          (width == 64 || value.magnitude < 2 * top);
  if (!fits) return std::nullopt;
  const uint64_t bits = value.negative ? uint64_t{0} - value.magnitude : value.magnitude;
  const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  return ScalarValue{dtype, bits & mask};
}

// The stored integer, sign-extended where its type is signed.
uint64_t ExtendedBits(const ScalarValue& value) {
  const uint32_t unused = 64 - 8 * SizeOf(value.dtype);
  if (!IsSigned(value.dtype)) return value.bits;
  return static_cast<uint64_t>(static_cast<int64_t>(value.bits << unused) >> unused);
}

}  // namespace

uint64_t ScalarValue::AsExtent() const {
  const uint64_t extended = ExtendedBits(*this);
  const bool negative = IsSigned(dtype) && static_cast<int64_t>(extended) < 0;
  return negative ? 0 : extended;
}

double ScalarValue::AsDouble() const {
  switch (dtype) {
    case DType::kF16:
      return ToFloat(Load<F16>(*this));
    case DType::kBF16:
      return ToFloat(Load<BF16>(*this));
    case DType::kF32:
      return Load<float>(*this);
    case DType::kF64:
      return Load<double>(*this);
    default:
      break;
  }
  const uint64_t extended = ExtendedBits(*this);
  return IsSigned(dtype) ? static_cast<double>(static_cast<int64_t>(extended))
                         : static_cast<double>(extended);
}

std::optional<ScalarValue> ConvertNumber(const Number& number, DType dtype) {
  if (IsFloat(dtype)) {
    const double value = std::visit([](auto v) { return static_cast<double>(v); }, number);
    return ToFloatType(value, dtype);
  }
  const std::optional<Integer> integer = ToInteger(number);
  if (!integer.has_value()) return std::nullopt;
  return ToIntegerType(*integer, dtype);
}

bool Less(const Number& a, const Number& b) {
  const std::optional<Integer> x = ToInteger(a);
  const std::optional<Integer> y = ToInteger(b);
  if (!x.has_value() || !y.has_value()) {
    const auto as_double = [](auto v) { return static_cast<double>(v); };
    return std::visit(as_double, a) < std::visit(as_double, b);
  }
  if (x->negative != y->negative) return x->negative && (x->magnitude | y->magnitude) != 0;
  return x->negative ? y->magnitude < x->magnitude : x->magnitude < y->magnitude;
}

}  // namespace weft::kernels
