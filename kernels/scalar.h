// A number in the type of a kernel's argument.
//
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/dtype.h"
#include "kernels/schema.h"

namespace weft::kernels {

// The value's bytes, little-endian, in the low bytes of `bits`; the rest is zero.
struct ScalarValue {
  DType dtype = DType::kI64;
  uint64_t bits = 0;

  // The value as an extent: 0 for a negative value. REQUIRES: an integer type.
  uint64_t AsExtent() const;
  // The value rounded to double.
  double AsDouble() const;
  friend bool operator==(const ScalarValue&, const ScalarValue&) = default;
};

// `number` in type `dtype`; nullopt when it is not representable: a fraction or a value out of
// range for an integer type, a finite value beyond the largest finite one of a float type.
// Otherwise floats are rounded to nearest.
std::optional<ScalarValue> ConvertNumber(const Number& number, DType dtype);

// Exact comparison of what was written; false when either is NaN.
bool Less(const Number& a, const Number& b);

}  // namespace weft::kernels
