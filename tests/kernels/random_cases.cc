#include <array>
#include <cmath>

#include "tests/kernels/kernel_cases.h"

namespace weft::kernels::testing {
namespace {

// Philox4x32-10 with the counter {block, 0} and the key `seed`, written from the paper.
std::array<uint64_t, 4> PhiloxWords(uint64_t seed, uint64_t block) {
  constexpr uint64_t kLow = 0xffffffff;
  uint64_t c[4] = {block & kLow, block >> 32, 0, 0};
  for (uint64_t round = 0; round < 10; ++round) {
    const uint64_t k0 = ((seed & kLow) + round * 0x9e3779b9) & kLow;
    const uint64_t k1 = ((seed >> 32) + round * 0xbb67ae85) & kLow;
    const uint64_t a = c[0] * 0xd2511f53;
    const uint64_t b = c[2] * 0xcd9e8d57;
    c[0] = (b >> 32) ^ c[1] ^ k0;
    c[1] = b & kLow;
    c[2] = (a >> 32) ^ c[3] ^ k1;
    c[3] = a & kLow;
  }
  return {c[0], c[1], c[2], c[3]};
}

// The random bits of element number `position`: a word, or two for types of 8 bytes.
uint64_t BitsAt(DType dtype, uint64_t seed, uint64_t position) {
  if (SizeOf(dtype) < 8) return PhiloxWords(seed, position / 4)[position % 4];
  const auto words = PhiloxWords(seed, position / 2);
  return words[2 * (position % 2) + 1] << 32 | words[2 * (position % 2)];
}

// A fraction of 1 from the highest `digits` bits.
Value Fraction(DType dtype, uint64_t bits, int digits) {
  const int width = SizeOf(dtype) < 8 ? 32 : 64;
  return std::ldexp(static_cast<Value>(bits >> (width - digits)), -digits);
}

int DigitsOf(DType dtype) { return 1 - std::ilogb(EpsilonOf(dtype)); }

constexpr uint64_t kSeed = 0x9a3c5e7f12345678;

// From the start of a block, and from inside one beyond the reach of 32 bits.
uint64_t OffsetFor(const Problem& p) {
  return p.extents().a % 2 == 0 ? 0 : (uint64_t{5} << 40) + p.extents().a % 4;
}

void Uniform(Problem& p) {
  const uint64_t offset = OffsetFor(p);
  p.Scalar("seed", kSeed);
  p.Scalar("offset", offset);
  p.Output("dst", p.dtype(), {p.extents().a});
  p.Expect(kExact, [&](uint64_t i) {
    const uint64_t bits = BitsAt(p.dtype(), kSeed, offset + i);
    if (!IsFloat(p.dtype())) return Expected{static_cast<Value>(bits), 0};
    return Expected{Fraction(p.dtype(), bits, DigitsOf(p.dtype())), 0};
  });
}

void Normal(Problem& p) {
  const uint64_t offset = OffsetFor(p);
  const Value mean = 0.75;
  const Value stddev = 2.5;
  p.Scalar("seed", kSeed);
  p.Scalar("offset", offset);
  p.Scalar("mean", static_cast<double>(mean));
  p.Scalar("stddev", static_cast<double>(stddev));
  p.Output("dst", p.dtype(), {p.extents().a});
  const int digits = DigitsOf(ComputeType(p.dtype()));
  p.Expect({6, 0.5}, [&](uint64_t i) {
    const uint64_t first = (offset + i) / 2 * 2;
    const Value one = Fraction(p.dtype(), BitsAt(p.dtype(), kSeed, first), digits);
    const Value other = Fraction(p.dtype(), BitsAt(p.dtype(), kSeed, first + 1), digits);
    const Value radius = std::sqrt(-2 * std::log(one + std::ldexp(Value{1}, -digits)));
    const Value angle = 2 * std::acos(Value{-1}) * other;
    const Value normal = radius * ((offset + i) % 2 == 0 ? std::cos(angle) : std::sin(angle));
    return Expected{mean + stddev * normal, static_cast<double>(mean + stddev * std::fabs(normal))};
  });
}

constexpr KernelCase kRandomCases[] = {
    {"random_uniform", Sizes::kVector, Twins::kSameBits, Uniform},
    {"random_normal", Sizes::kVector, Twins::kSameBits, Normal},
};

}  // namespace

absl::Span<const KernelCase> RandomCases() { return kRandomCases; }

}  // namespace weft::kernels::testing
