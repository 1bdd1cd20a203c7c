// Numbers of any dtype as the references compute with them: long double holds every value of every
// dtype exactly, 64-bit integers included. Written apart from the kernels' own conversions.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "kernels/dtype.h"

namespace weft::kernels::testing {

using Value = long double;
using Values = std::vector<Value>;

// The elements that `bytes` hold.
Values Decode(DType dtype, absl::Span<const uint8_t> bytes);
Value DecodeOne(DType dtype, const uint8_t* bytes);
// The bit pattern of `value`, which must be representable (or NaN, or infinite for floats).
uint64_t EncodeExact(DType dtype, Value value);
// The bytes of such values, one after the other.
std::vector<uint8_t> Encode(DType dtype, const Values& values);

// `value` modulo 2^width, as the integer type has it. REQUIRES: an integer below 2^63 in magnitude.
Value Wrap(DType dtype, Value value);
// Distance of neighbours at 1: 2^-10 for f16, 2^-7 for bf16 …; 0 for integers.
double EpsilonOf(DType dtype);
// Smallest positive value; 0 for integers.
double TinyOf(DType dtype);
Value LowestOf(DType dtype);
Value HighestOf(DType dtype);

// Deterministic random numbers (splitmix64), the same everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next();

 private:
  uint64_t state_;
};

// `count` random elements: integers over their whole range; floats of either sign with magnitudes
// from 2^-3 to 4, every mantissa.
std::vector<uint8_t> RandomBytes(DType dtype, uint64_t count, Random& random);

}  // namespace weft::kernels::testing
