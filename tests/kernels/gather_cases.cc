#include "tests/kernels/kernel_cases.h"

namespace weft::kernels::testing {
namespace {

// Indices of the second key's type from a little below 0 to a little above `size`, and some far outside.
Values Indices(Problem& p, const char* name, uint64_t size) {
  Values indices;
  for (uint64_t i = 0; i < p.extents().a; ++i) {
    const auto near = static_cast<Value>(p.random().Next() % (size + 6)) - 3;
    const Value far = i % 2 == 0 ? LowestOf(p.dtype(1)) : HighestOf(p.dtype(1));
    indices.push_back(i % 101 == 100 ? far : near);
  }
  return p.Input(name, p.dtype(1), {p.extents().a}, Encode(p.dtype(1), indices));
}

bool Names(Value index, uint64_t size) { return index >= 0 && index < static_cast<Value>(size); }

// Fewer elements than indices, so that some are named more than once.
uint64_t SizeFor(const Problem& p) { return p.extents().a / 2 + 3; }

void Gather(Problem& p) {
  const uint64_t size = SizeFor(p);
  const Values src = p.Input("src", p.dtype(), {size});
  const Values index = Indices(p, "index", size);
  p.Output("dst", p.dtype(), {p.extents().a});
  p.Expect(kExact, [&](uint64_t i) {
    return Expected{Names(index[i], size) ? src[static_cast<size_t>(index[i])] : 0, 0};
  });
}

void Scatter(Problem& p) {
  const uint64_t size = SizeFor(p);
  const Values src = p.Input("src", p.dtype(), {p.extents().a});
  const Values index = Indices(p, "index", size);
  Values dst = p.InOut("dst", p.dtype(), {size});
  for (size_t i = 0; i < src.size(); ++i) {
    if (Names(index[i], size)) dst[static_cast<size_t>(index[i])] = src[i];
  }
  p.Expect(kExact, [&](uint64_t i) { return Expected{dst[i], 0}; });
}

// Kept are two of three, by masks of any value but 0.
void Compact(Problem& p) {
  const uint64_t n = p.extents().a;
  const Values src = p.Input("src", p.dtype(), {n});
  std::vector<uint8_t> mask(n);
  Values kept;
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t random = p.random().Next();
    mask[i] = random % 3 == 0 ? 0 : static_cast<uint8_t>(1 + random / 3 % 255);
    if (mask[i] != 0) kept.push_back(src[i]);
  }
  p.Input("mask", DType::kU8, {n}, std::move(mask));
  p.Output("dst", p.dtype(), {n});
  p.Expect(kExact, [&](uint64_t i) { return Expected{i < kept.size() ? kept[i] : 0, 0}; });
  p.Output("count", DType::kI64, {1});
  p.Expect(kExact, [&](uint64_t) { return Expected{static_cast<Value>(kept.size()), 0}; });
}

constexpr KernelCase kGatherCases[] = {
    {"gather", Sizes::kVector, Twins::kSameBits, Gather},
    {"scatter", Sizes::kVector, Twins::kSameBits, Scatter},
    {"compact", Sizes::kVector, Twins::kSameBits, Compact},
};

}  // namespace

absl::Span<const KernelCase> GatherCases() { return kGatherCases; }

}  // namespace weft::kernels::testing
