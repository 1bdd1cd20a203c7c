#include <cmath>

#include "tests/kernels/kernel_cases.h"

namespace weft::kernels::testing {
namespace {

// Sums keep ε of the sum of magnitudes times this: 16 to 32 elements a lane, then a tree of lanes.
constexpr Tolerance kSum = {8, 0.5, 0};
void ReduceSum(Problem& p) {
  const Values src = p.Input("src", p.dtype(), {p.extents().a});
  Value sum = 0;
  Value magnitude = 0;
  for (const Value value : src) {
    sum += value;
    magnitude += std::fabs(value);
  }
  p.Output("dst", SumType(p.dtype()), {1});
  p.Expect(kSum, [&](uint64_t) { return Expected{sum, static_cast<double>(magnitude)}; });
}

void ReduceMin(Problem& p) {
  const Values src = p.Input("src", p.dtype(), {p.extents().a});
  Value least = HighestOf(p.dtype());
  for (const Value value : src) least = std::fmin(least, value);
  p.Output("dst", p.dtype(), {1});
  p.Expect(kExact, [&](uint64_t) { return Expected{least, 0}; });
}

void ReduceMax(Problem& p) {
  const Values src = p.Input("src", p.dtype(), {p.extents().a});
  Value largest = LowestOf(p.dtype());
  for (const Value value : src) largest = std::fmax(largest, value);
  p.Output("dst", p.dtype(), {1});
  p.Expect(kExact, [&](uint64_t) { return Expected{largest, 0}; });
}

void Dot(Problem& p) {
  const Values a = p.Input("a", p.dtype(), {p.extents().a});
  const Values b = p.Input("b", p.dtype(), {p.extents().a});
  Value sum = 0;
  Value magnitude = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i];
    magnitude += std::fabs(a[i] * b[i]);
  }
  p.Output("dst", SumType(p.dtype()), {1});
  p.Expect(kSum, [&](uint64_t) { return Expected{sum, static_cast<double>(magnitude)}; });
}

enum class Wanted { kLargest, kSmallest };

// Small types have many equal elements, so that the rule for these is tested too.
template <Wanted kWanted>
void Arg(Problem& p) {
  const Values src = p.Input("src", p.dtype(), {p.extents().a});
  Value place = -1;
  Value best = 0;
  for (size_t i = 0; i < src.size(); ++i) {
    const bool better = kWanted == Wanted::kLargest ? src[i] > best : src[i] < best;
    if (i > 0 && !better) continue;
    best = src[i];
    place = static_cast<Value>(i);
  }
  p.Output("dst", DType::kI64, {1});
  p.Expect(kExact, [&](uint64_t) { return Expected{place, 0}; });
}

enum class Own { kIncluded, kExcluded };

template <Own kOwn>
void Scan(Problem& p) {
  const Values src = p.Input("src", p.dtype(), {p.extents().a});
  Value sum = 0;
  Value magnitude = 0;
  p.Output("dst", SumType(p.dtype()), {p.extents().a});
  p.Expect(kSum, [&](uint64_t i) {
    const Expected before{sum, static_cast<double>(magnitude)};
    sum += src[i];
    magnitude += std::fabs(src[i]);
    return kOwn == Own::kExcluded ? before : Expected{sum, static_cast<double>(magnitude)};
  });
}

// Bins that fit shared memory, that fit it not, and fewer than there are values.
uint64_t BinsFor(const Problem& p) {
  if (p.dtype() == DType::kU8) return p.extents().a % 2 == 0 ? 256 : 200;
  return p.extents().a % 2 == 0 ? 20000 : 257;
}

void Histogram(Problem& p) {
  const uint64_t bins = BinsFor(p);
  // Around the bins, so that some values are outside on either side.
  std::vector<uint8_t> bytes = RandomBytes(p.dtype(), p.extents().a, p.random());
  for (size_t i = 0; p.dtype() == DType::kI32 && i < bytes.size(); i += 4) {
    const auto value = static_cast<int64_t>(p.random().Next() % (bins + 20)) - 10;
    const uint64_t bits = EncodeExact(DType::kI32, static_cast<Value>(value));
    for (size_t byte = 0; byte < 4; ++byte)
      bytes[i + byte] = static_cast<uint8_t>(bits >> 8 * byte);
  }
  const Values src = p.Input("src", p.dtype(), {p.extents().a}, std::move(bytes));
  std::vector<uint64_t> counts(bins);
  for (const Value value : src) {
    if (value >= 0 && value < bins) ++counts[static_cast<size_t>(value)];
  }
  p.Output("counts", DType::kU32, {bins});
  p.Expect(kExact, [&](uint64_t i) { return Expected{static_cast<Value>(counts[i]), 0}; });
}

constexpr KernelCase kReductionCases[] = {
    {"reduce_sum", Sizes::kVector, Twins::kSameBits, ReduceSum},
    {"reduce_min", Sizes::kVector, Twins::kSameBits, ReduceMin},
    {"reduce_max", Sizes::kVector, Twins::kSameBits, ReduceMax},
    {"dot", Sizes::kVector, Twins::kSameBits, Dot},
    {"argmax", Sizes::kVector, Twins::kSameBits, Arg<Wanted::kLargest>},
    {"argmin", Sizes::kVector, Twins::kSameBits, Arg<Wanted::kSmallest>},
    {"inclusive_scan", Sizes::kVector, Twins::kWithinTolerance, Scan<Own::kIncluded>},
    {"exclusive_scan", Sizes::kVector, Twins::kWithinTolerance, Scan<Own::kExcluded>},
    {"histogram", Sizes::kVector, Twins::kSameBits, Histogram},
};

}  // namespace

absl::Span<const KernelCase> ReductionCases() { return kReductionCases; }

}  // namespace weft::kernels::testing
