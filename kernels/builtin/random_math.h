// What random words become, for both sides. Only additions, multiplications, divisions and square roots, each rounded to
// nearest, are used, so that normal numbers too have the same bits on both.
//
// A block of Philox makes kPerBlock<T> elements: four, of one word each, or two of two words where T has 8 bytes.
// Element number p of the sequence comes from block p / kPerBlock<T>.
#pragma once

#include "kernels/builtin/numbers.h"
#include "kernels/builtin/philox.h"

namespace weft::kernels {

template <typename T>
inline constexpr int kPerBlock = sizeof(T) == 8 ? 2 : 4;
template <typename T>
struct RandomElements {
  T values[kPerBlock<T>];
};

template <typename T>
using RandomBits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <typename T>
WEFT_HOST_DEVICE RandomBits<T> BitsOf(const PhiloxBlock& block, int element) {
  if constexpr (sizeof(T) == 8) {
    const int low = 2 * element;
    return static_cast<uint64_t>(block.words[low + 1]) << 32 | block.words[low];
  } else {
    return block.words[element];
  }
}

// Bits of a significand, the leading one included.
template <typename T>
inline constexpr int kSignificandBits = std::is_same_v<T, double>  ? 53
                                        : std::is_same_v<T, float> ? 24
                                        : std::is_same_v<T, F16>   ? 11
                                                                   : 8;

// 2^-kBits.
template <typename C, int kBits>
inline constexpr C kUnit = C{1} / static_cast<C>(uint64_t{1} << kBits);

// Floats: a multiple of 2^-kSignificandBits in [0, 1), which T holds exactly. Integers: the bits.
template <typename T>
WEFT_HOST_DEVICE T UniformElement(RandomBits<T> bits) {
  if constexpr (std::is_integral_v<T>) {
    return bits;
  } else {
    constexpr int kBits = kSignificandBits<T>;
    const RandomBits<T> high = bits >> (8 * static_cast<int>(sizeof(bits)) - kBits);
    return Store<T>(Times(static_cast<Compute<T>>(high), kUnit<Compute<T>, kBits>));
  }
}

// Series as types: kCoefficient<C, i> is that of x^i. The terms beyond kDegree<C> are below half a unit in the last place.
struct AtanhSeries {  // 2 atanh(s) / s, by s squared <= 1 / 25
  template <typename C>
  static constexpr int kDegree = sizeof(C) == 8 ? 11 : 5;
  template <typename C, int i>
  static constexpr C kCoefficient = static_cast<C>(2.0 / (2 * i + 1));
};

constexpr double Factorial(int n) {
  double product = 1;
  for (int k = 2; k <= n; ++k) product *= k;
  return product;
}

struct SineSeries {  // sin(x) / x, by x squared <= (pi / 4)^2
  template <typename C>
  static constexpr int kDegree = sizeof(C) == 8 ? 8 : 4;
  template <typename C, int i>
  static constexpr C kCoefficient = static_cast<C>((i % 2 == 0 ? 1.0 : -1.0) /
                                                   Factorial(2 * i + 1));
};

struct CosineSeries {  // cos(x), by x squared <= (pi / 4)^2
  template <typename C>
  static constexpr int kDegree = sizeof(C) == 8 ? 8 : 5;
  template <typename C, int i>
  static constexpr C kCoefficient = static_cast<C>((i % 2 == 0 ? 1.0 : -1.0) / Factorial(2 * i));
};

// The series' value, by Horner's rule; from term i on, divided by x^i.
template <typename Series, int i = 0, typename C>
WEFT_HOST_DEVICE C Evaluate(C x) {
  constexpr C kOwn = Series::template kCoefficient<C, i>;
  if constexpr (i == Series::template kDegree<C>) {
    return kOwn;
  } else {
    return Plus(Times(Evaluate<Series, i + 1>(x), x), kOwn);
  }
}

WEFT_HOST_DEVICE uint64_t FloatBits(double value) {
#ifdef __CUDA_ARCH__
  return static_cast<uint64_t>(__double_as_longlong(value));
#else
  return __builtin_bit_cast(uint64_t, value);
#endif
}
WEFT_HOST_DEVICE double FloatFromBits(uint64_t bits) {
#ifdef __CUDA_ARCH__
  return __longlong_as_double(static_cast<long long>(bits));
#else
  return __builtin_bit_cast(double, bits);
#endif
}

// The natural logarithm of a positive, normal x = m * 2^e with m in [3/4, 3/2): 2 atanh((m - 1) / (m + 1)) + e ln 2.
template <typename C>
WEFT_HOST_DEVICE C Log(C x) {
  using Bits = RandomBits<C>;
  constexpr int kMantissa = kSignificandBits<C> - 1;
  constexpr Bits kThreeQuarters =
      sizeof(C) == 8 ? static_cast<Bits>(0x3fe8000000000000u) : static_cast<Bits>(0x3f400000u);
  const Bits bits = FloatBits(x);
  const auto exponent =
      static_cast<int>(static_cast<std::make_signed_t<Bits>>(bits - kThreeQuarters) >> kMantissa);
  const C m = FloatFromBits(bits - (static_cast<Bits>(exponent) << kMantissa));
  const C s = Divide(Plus(m, C{-1}), Plus(m, C{1}));
  constexpr C kLn2 = static_cast<C>(0.693147180559945309417232121458);
  return Plus(Times(s, Evaluate<AtanhSeries>(Times(s, s))), Times(static_cast<C>(exponent), kLn2));
}

template <typename C>
struct SineCosine {
  C sine;
  C cosine;
};

// Of `turns` full turns, 0 <= turns < 1. The nearest quarter turn is taken off exactly first.
template <typename C>
WEFT_HOST_DEVICE SineCosine<C> OfTurns(C turns) {
  const int quarter = static_cast<int>(Plus(Times(turns, C{4}), C{0.5}));
  const C rest = Plus(turns, Times(static_cast<C>(quarter), C{-0.25}));
  constexpr C kTwoPi = static_cast<C>(6.28318530717958647692528676656);
  const C angle = Times(rest, kTwoPi);
  const C squared = Times(angle, angle);
  const C sine = Times(angle, Evaluate<SineSeries>(squared));
  const C cosine = Evaluate<CosineSeries>(squared);
  switch (quarter % 4) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

// Two standard normal numbers from two uniform ones: Box and Muller, "A note on the generation of random normal deviates",
// 1958. The first is taken from (0, 1], so that its logarithm is finite.
template <typename C>
WEFT_HOST_DEVICE SineCosine<C> BoxMuller(RandomBits<C> one, RandomBits<C> other) {
  constexpr int kBits = kSignificandBits<C>;
  const C distance = Plus(UniformElement<C>(one), kUnit<C, kBits>);
  const C radius = SquareRoot(Times(C{-2}, Log(distance)));
  const SineCosine<C> direction = OfTurns(UniformElement<C>(other));
  return {Times(radius, direction.sine), Times(radius, direction.cosine)};
}

template <typename T>
WEFT_HOST_DEVICE RandomElements<T> UniformBlock(const PhiloxBlock& block) {
  RandomElements<T> elements;
  for (int i = 0; i < kPerBlock<T>; ++i)
    elements.values[i] = UniformElement<T>(BitsOf<T>(block, i));
  return elements;
}

// Neighbours are the cosine and the sine of one pair of uniform numbers.
template <typename T>
WEFT_HOST_DEVICE RandomElements<T> NormalBlock(const PhiloxBlock& block, Compute<T> mean,
                                               Compute<T> deviation) {
  using C = Compute<T>;
  RandomElements<T> elements;
  for (int i = 0; i < kPerBlock<T>; i += 2) {
    const SineCosine<C> pair = BoxMuller<C>(BitsOf<T>(block, i), BitsOf<T>(block, i + 1));
    elements.values[i] = Store<T>(Plus(mean, Times(deviation, pair.cosine)));
    elements.values[i + 1] = Store<T>(Plus(mean, Times(deviation, pair.sine)));
  }
  return elements;
}

}  // namespace weft::kernels
