// What the calls prim.* mean, as one text for the device code and the CPU twins: how elements are
// ordered and combined, and which bin a sample belongs to. Algorithms move elements as bits, 4 or 8
// bytes wide; what the bits stand for is a value, not a type, so that few algorithms are compiled.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "cuda/prim_abi.h"
#include "kernels/builtin/numbers.h"

namespace weft::kernels {

// What bits stand for.
enum class PrimKind : uint32_t { kSigned, kUnsigned, kFloat };

WEFT_HOST_DEVICE PrimKind PrimKindOf(uint32_t type) {
  switch (type) {
    case WEFT_PRIM_I32:
    case WEFT_PRIM_I64:
      return PrimKind::kSigned;
    case WEFT_PRIM_F32:
    case WEFT_PRIM_F64:
      return PrimKind::kFloat;
    default:
      return PrimKind::kUnsigned;
  }
}

template <typename Bits>
using PrimFloat = std::conditional_t<sizeof(Bits) == 4, float, double>;

// Bits whose order as unsigned integers is that of the elements. Floats have IEEE 754's total order:
// NaN with a sign, -infinity … -0, +0 … infinity, NaN without one.
template <typename Bits>
struct PrimOrder {
  static constexpr int kSignShift = 8 * sizeof(Bits) - 1;
  static constexpr Bits kSign = Bits{1} << kSignShift;

  PrimKind kind;
  bool descending;

  WEFT_HOST_DEVICE bool changes_nothing() const {
    return kind == PrimKind::kUnsigned && !descending;
  }
  WEFT_HOST_DEVICE Bits Ordered(Bits bits) const {
    if (kind == PrimKind::kSigned) bits ^= kSign;
    if (kind == PrimKind::kFloat) bits ^= (bits & kSign) != 0 ? static_cast<Bits>(-1) : kSign;
    return descending ? ~bits : bits;
  }
  // The inverse.
  WEFT_HOST_DEVICE Bits Restored(Bits ordered) const {
    Bits bits = descending ? ~ordered : ordered;
    if (kind == PrimKind::kSigned) bits ^= kSign;
    if (kind == PrimKind::kFloat) bits ^= (bits & kSign) != 0 ? kSign : static_cast<Bits>(-1);
    return bits;
  }
};

// What combines two elements of a reduction or a scan. Integers wrap; the smallest or largest of
// floats is NaN where one is NaN.
template <typename Bits>
struct PrimCombine {
  uint32_t operation;  // weft_prim_operation
  PrimKind kind;

  WEFT_HOST_DEVICE Bits operator()(Bits a, Bits b) const {
    if (kind == PrimKind::kFloat) return As<PrimFloat<Bits>>(a, b);
    if (kind == PrimKind::kSigned) return As<std::make_signed_t<Bits>>(a, b);
    return As<Bits>(a, b);
  }
  // Of no elements.
  WEFT_HOST_DEVICE Bits Identity() const {
    if (operation == WEFT_PRIM_SUM) return 0;
    if (kind == PrimKind::kFloat) return Extreme<PrimFloat<Bits>>();
    if (kind == PrimKind::kSigned) return Extreme<std::make_signed_t<Bits>>();
    return Extreme<Bits>();
  }

 private:
  template <typename T>
  WEFT_HOST_DEVICE Bits As(Bits a, Bits b) const {
    const T x = std::bit_cast<T>(a);
    const T y = std::bit_cast<T>(b);
    if (operation == WEFT_PRIM_MIN) return std::bit_cast<Bits>(Min(x, y));
    if (operation == WEFT_PRIM_MAX) return std::bit_cast<Bits>(Max(x, y));
    return std::bit_cast<Bits>(Plus(x, y));
  }
  template <typename T>
  WEFT_HOST_DEVICE Bits Extreme() const {
    using Limits = std::numeric_limits<T>;
    const bool is_min = operation == WEFT_PRIM_MIN;
    if constexpr (std::is_floating_point_v<T>) {
      return std::bit_cast<Bits>(is_min ? Limits::infinity() : -Limits::infinity());
    } else {
      return std::bit_cast<Bits>(is_min ? Limits::max() : Limits::lowest());
    }
  }
};

// The bin of a sample among `bins` even ones in [lower, upper); -1: none, as of NaN.
struct PrimBins {
  double lower;
  double upper;
  double per_unit;  // bins / (upper - lower), finite
  int32_t bins;

  WEFT_HOST_DEVICE int32_t Of(double sample) const {
    if (!(sample >= lower && sample < upper)) return -1;
    // It may be rounded up to the end of the last bin.
    const auto bin = static_cast<int32_t>((sample - lower) * per_unit);
    return bin < bins ? bin : bins - 1;
  }
};

inline PrimBins MakePrimBins(double lower, double upper, int64_t bins) {
  return {lower, upper, static_cast<double>(bins) / (upper - lower), static_cast<int32_t>(bins)};
}

}  // namespace weft::kernels
