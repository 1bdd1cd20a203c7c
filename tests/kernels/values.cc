#include "tests/kernels/values.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace weft::kernels::testing {
namespace {

// A binary interchange format: bits of exponent and mantissa.
struct Format {
  int exponent_bits;
  int mantissa_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};

Format FormatOf(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return {5, 10};
    case DType::kBF16:
      return {8, 7};
    case DType::kF32:
      return {8, 23};
    default:
      return {11, 52};
  }
}

Value DecodeFloat(Format format, uint64_t bits) {
  const int width = 1 + format.exponent_bits + format.mantissa_bits;
  const bool negative = (bits >> (width - 1) & 1) != 0;
  const auto exponent =
      static_cast<int>(bits >> format.mantissa_bits & ((uint64_t{1} << format.exponent_bits) - 1));
  const uint64_t mantissa = bits & ((uint64_t{1} << format.mantissa_bits) - 1);
  Value magnitude = 0;
  if (exponent == (1 << format.exponent_bits) - 1) {
    magnitude = mantissa != 0 ? std::numeric_limits<Value>::quiet_NaN()
                              : std::numeric_limits<Value>::infinity();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<Value>(mantissa), 1 - format.bias() - format.mantissa_bits);
  } else {
    const uint64_t whole = mantissa | uint64_t{1} << format.mantissa_bits;
    magnitude =
        std::ldexp(static_cast<Value>(whole), exponent - format.bias() - format.mantissa_bits);
  }
  return negative ? -magnitude : magnitude;
}

template <typename T>
T LoadAs(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// Values of all 2^16 patterns of a 16-bit format.
const std::vector<float>& TableOf(DType dtype) {
  const auto make = [](Format format) {
    std::vector<float> table(1 << 16);
    for (uint32_t bits = 0; bits < table.size(); ++bits) {
      table[bits] = static_cast<float>(DecodeFloat(format, bits));
    }
    return table;
  };
  static const std::vector<float> f16 = make(FormatOf(DType::kF16));
  static const std::vector<float> bf16 = make(FormatOf(DType::kBF16));
  return dtype == DType::kF16 ? f16 : bf16;
}

template <typename T>
Values DecodeAs(absl::Span<const uint8_t> bytes) {
  Values values(bytes.size() / sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) values[i] = LoadAs<T>(bytes.data() + i * sizeof(T));
  return values;
}

Values DecodeSmallFloat(DType dtype, absl::Span<const uint8_t> bytes) {
  const std::vector<float>& table = TableOf(dtype);
  Values values(bytes.size() / 2);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = table[LoadAs<uint16_t>(bytes.data() + 2 * i)];
  }
  return values;
}

}  // namespace

Values Decode(DType dtype, absl::Span<const uint8_t> bytes) {
  switch (dtype) {
    case DType::kF16:
    case DType::kBF16:
      return DecodeSmallFloat(dtype, bytes);
    case DType::kF32:
      return DecodeAs<float>(bytes);
    case DType::kF64:
      return DecodeAs<double>(bytes);
    case DType::kI8:
      return DecodeAs<int8_t>(bytes);
    case DType::kU8:
      return DecodeAs<uint8_t>(bytes);
    case DType::kI16:
      return DecodeAs<int16_t>(bytes);
    case DType::kU16:
      return DecodeAs<uint16_t>(bytes);
    case DType::kI32:
      return DecodeAs<int32_t>(bytes);
    case DType::kU32:
      return DecodeAs<uint32_t>(bytes);
    case DType::kI64:
      return DecodeAs<int64_t>(bytes);
    case DType::kU64:
      return DecodeAs<uint64_t>(bytes);
  }
  return {};
}

Value DecodeOne(DType dtype, const uint8_t* bytes) {
  return Decode(dtype, absl::MakeConstSpan(bytes, SizeOf(dtype)))[0];
}

uint64_t EncodeExact(DType dtype, Value value) {
  if (!IsFloat(dtype)) {
    const uint32_t unused = 64 - 8 * SizeOf(dtype);
    const uint64_t bits = value < 0 ? static_cast<uint64_t>(static_cast<int64_t>(value))
                                    : static_cast<uint64_t>(value);
    return bits << unused >> unused;
  }
  const Format format = FormatOf(dtype);
  const int width = 1 + format.exponent_bits + format.mantissa_bits;
  const uint64_t sign = std::signbit(value) ? uint64_t{1} << (width - 1) : 0;
  const uint64_t infinity = ((uint64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits;
  if (std::isnan(value)) return infinity | uint64_t{1} << (format.mantissa_bits - 1);
  if (std::isinf(value)) return sign | infinity;
  if (value == 0) return sign;
  int exponent = 0;
  std::frexp(value, &exponent);  // value = f * 2^exponent with 0.5 <= |f| < 1
  const int biased = exponent - 1 + format.bias();
  const int lowest = 1 - format.bias() - format.mantissa_bits;
  const int unit = biased > 0 ? exponent - 1 - format.mantissa_bits : lowest;
  const auto whole = static_cast<uint64_t>(std::ldexp(std::fabs(value), -unit));
  const uint64_t mantissa = whole & ((uint64_t{1} << format.mantissa_bits) - 1);
  return sign | static_cast<uint64_t>(biased > 0 ? biased : 0) << format.mantissa_bits | mantissa;
}

std::vector<uint8_t> Encode(DType dtype, const Values& values) {
  std::vector<uint8_t> bytes;
  bytes.reserve(values.size() * SizeOf(dtype));
  for (const Value value : values) {
    const uint64_t bits = EncodeExact(dtype, value);
    const auto* first = reinterpret_cast<const uint8_t*>(&bits);
    bytes.insert(bytes.end(), first, first + SizeOf(dtype));
  }
  return bytes;
}

Value Wrap(DType dtype, Value value) {
  const uint64_t bits = EncodeExact(dtype, value);
  return DecodeOne(dtype, reinterpret_cast<const uint8_t*>(&bits));
}

double EpsilonOf(DType dtype) {
  return IsFloat(dtype) ? std::ldexp(1.0, -FormatOf(dtype).mantissa_bits) : 0;
}

double TinyOf(DType dtype) {
  if (!IsFloat(dtype)) return 0;
  const Format format = FormatOf(dtype);
  return std::ldexp(1.0, 1 - format.bias() - format.mantissa_bits);
}

Value HighestOf(DType dtype) {
  if (IsFloat(dtype)) return std::numeric_limits<Value>::infinity();
  return std::ldexp(Value{1}, static_cast<int>(8 * SizeOf(dtype)) - (IsSigned(dtype) ? 1 : 0)) - 1;
}

Value LowestOf(DType dtype) {
  if (!IsSigned(dtype)) return 0;
  return IsFloat(dtype) ? -HighestOf(dtype) : -HighestOf(dtype) - 1;
}

uint64_t Random::Next() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

namespace {

template <typename Bits, typename Shape>
std::vector<uint8_t> RandomAs(uint64_t count, Random& random, Shape shape) {
  std::vector<uint8_t> bytes(count * sizeof(Bits));
  for (uint64_t i = 0; i < count; ++i) {
    const auto bits = static_cast<Bits>(shape(random.Next()));
    std::memcpy(bytes.data() + i * sizeof(Bits), &bits, sizeof(Bits));
  }
  return bytes;
}

template <typename Shape>
std::vector<uint8_t> RandomOfSize(uint32_t size, uint64_t count, Random& random, Shape shape) {
  if (size == 1) return RandomAs<uint8_t>(count, random, shape);
  if (size == 2) return RandomAs<uint16_t>(count, random, shape);
  if (size == 4) return RandomAs<uint32_t>(count, random, shape);
  return RandomAs<uint64_t>(count, random, shape);
}

}  // namespace

std::vector<uint8_t> RandomBytes(DType dtype, uint64_t count, Random& random) {
  const uint32_t size = SizeOf(dtype);
  if (!IsFloat(dtype)) return RandomOfSize(size, count, random, [](uint64_t bits) { return bits; });
  const Format format = FormatOf(dtype);
  const uint64_t mantissa_mask = (uint64_t{1} << format.mantissa_bits) - 1;
  const int sign_bit = static_cast<int>(8 * size) - 1;
  const auto least_exponent = static_cast<uint64_t>(format.bias() - 3);
  return RandomOfSize(size, count, random, [=](uint64_t bits) {
    const uint64_t exponent = least_exponent + (bits >> 57) % 5;
    return (bits >> 56 & 1) << sign_bit | exponent << format.mantissa_bits | (bits & mantissa_mask);
  });
}

}  // namespace weft::kernels::testing
