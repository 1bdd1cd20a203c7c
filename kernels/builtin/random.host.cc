// CPU twins of random.cu.
#include <algorithm>
#include <iterator>

#include "kernels/builtin/dtype_list.h"
#include "kernels/builtin/host_tables.h"
#include "kernels/builtin/random_math.h"

namespace weft::kernels {
namespace {

// See FillRandom of random.cu.
template <typename T, typename Make>
void FillRandom(T* dst, uint64_t seed, int64_t offset, int64_t n, Make make) {
  constexpr int64_t kCount = kPerBlock<T>;
  int64_t i = 0;
  while (i < n) {
    const int64_t position = offset + i;
    const RandomElements<T> made = make(RandomBlock(seed, position / kCount));
    const int64_t from = position % kCount;
    const int64_t count = std::min(kCount - from, n - i);
    std::copy(made.values + from, made.values + from + count, dst + i);
    i += count;
  }
}

template <typename T>
void RandomUniform(T* dst, uint64_t seed, int64_t offset, int64_t n) {
  FillRandom(dst, seed, offset, n, [](const PhiloxBlock& block) { return UniformBlock<T>(block); });
}

template <typename T>
void RandomNormal(T* dst, uint64_t seed, int64_t offset, Compute<T> mean, Compute<T> stddev,
                  int64_t n) {
  FillRandom(dst, seed, offset, n,
             [=](const PhiloxBlock& block) { return NormalBlock<T>(block, mean, stddev); });
}

#define WEFT_UNIFORM_ENTRY(name, T) HostEntry<&RandomUniform<T>>("weft_random_uniform_" #name),
#define WEFT_NORMAL_ENTRY(name, T) HostEntry<&RandomNormal<T>>("weft_random_normal_" #name),

constexpr weft_host_kernel kEntries[] = {WEFT_FLOAT_TYPES(WEFT_UNIFORM_ENTRY) WEFT_UNIFORM_ENTRY(
    u32, uint32_t) WEFT_UNIFORM_ENTRY(u64, uint64_t) WEFT_FLOAT_TYPES(WEFT_NORMAL_ENTRY)};

}  // namespace

HostEntries RandomEntries() { return {kEntries, std::size(kEntries)}; }

}  // namespace weft::kernels
