// CPU twins of rand.*: cuRAND's Philox4x32-10 in its legacy order (the library's guide, "Ordering").
//
// 65536 threads have a subsequence each, which is a number in the upper half of Philox's counter, and
// take turns at making four numbers.
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include "kernels/builtin/philox.h"
#include "kernels/library/host_call.h"

namespace weft::kernels {
namespace {

constexpr uint64_t kSubsequences = 65536;
constexpr uint64_t kNumbersATurn = 4;
constexpr uint64_t kWordsOfAll = kSubsequences * kNumbersATurn;

// The blocks that a thread makes a turn from.
template <typename T>
struct TurnBlocks {
  static constexpr uint64_t kCount = std::is_same_v<T, double> ? 2 : 1;
  std::array<PhiloxBlock, kCount> blocks;
};

// `turn` counts those of all threads. The offset, in words, moves the first thread on: by whole
// subsequences, and from the last to the first by a block.
template <typename T>
TurnBlocks<T> BlocksOfTurn(uint64_t seed, uint64_t offset, uint64_t turn) {
  uint64_t subsequence = turn % kSubsequences + offset % kWordsOfAll / kNumbersATurn;
  uint64_t block = offset / kWordsOfAll + turn / kSubsequences * TurnBlocks<T>::kCount;
  if (subsequence >= kSubsequences) {
    subsequence -= kSubsequences;
    ++block;
  }
  TurnBlocks<T> made;
  for (uint64_t i = 0; i < TurnBlocks<T>::kCount; ++i) {
    const uint64_t number = block + i;
    made.blocks[i] =
        Philox4x32({{static_cast<uint32_t>(number), static_cast<uint32_t>(number >> 32),
                     static_cast<uint32_t>(subsequence), 0}},
                   static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
  }
  return made;
}

float UniformOf(uint32_t word) { return static_cast<float>(word) * 0x1p-32F + 0x1p-33F; }
double UniformOf(uint32_t low, uint32_t high) {
  const uint64_t bits = uint64_t{low} ^ (uint64_t{high} << 21);
  return static_cast<double>(bits) * 0x1p-53 + 0x1p-54;
}

// The four numbers of a turn.
template <typename T>
struct UniformNumbers {
  std::array<float, 4> operator()(const TurnBlocks<float>& turn) const {
    const auto& words = turn.blocks[0].words;
    return {UniformOf(words[0]), UniformOf(words[1]), UniformOf(words[2]), UniformOf(words[3])};
  }
  std::array<double, 4> operator()(const TurnBlocks<double>& turn) const {
    const auto& a = turn.blocks[0].words;
    const auto& b = turn.blocks[1].words;
    return {UniformOf(a[0], a[1]), UniformOf(a[2], a[3]), UniformOf(b[0], b[1]),
            UniformOf(b[2], b[3])};
  }
};

// Pairs of them by Box and Muller, the sine first.
template <typename T>
struct NormalNumbers {
  T mean;
  T deviation;

  std::array<T, 4> operator()(const TurnBlocks<T>& turn) const {
    constexpr T kTurn = T(6.283185307179586);
    std::array<T, 4> numbers = UniformNumbers<T>()(turn);
    for (size_t i = 0; i < 4; i += 2) {
      const T radius = std::sqrt(T{-2} * std::log(numbers[i]));
      const T angle = numbers[i + 1] * kTurn;
      numbers[i] = mean + deviation * (std::sin(angle) * radius);
      numbers[i + 1] = mean + deviation * (std::cos(angle) * radius);
    }
    return numbers;
  }
};

template <typename T>
struct LogNormalNumbers {
  NormalNumbers<T> normal;

  std::array<T, 4> operator()(const TurnBlocks<T>& turn) const {
    std::array<T, 4> numbers = normal(turn);
    for (T& number : numbers) number = std::exp(number);
    return numbers;
  }
};

template <typename T, typename Numbers>
void FillWith(T* dst, uint64_t seed, int64_t offset, int64_t n, const Numbers& numbers) {
  const auto start = static_cast<uint64_t>(offset);
  const uint64_t skipped = start % kNumbersATurn;  // of the first turn
  const auto count = static_cast<uint64_t>(n);
  for (uint64_t i = 0; i < count;) {
    const uint64_t turn = (i + skipped) / kNumbersATurn;
    const std::array<T, 4> made = numbers(BlocksOfTurn<T>(seed, start, turn));
    for (uint64_t j = (i + skipped) % kNumbersATurn; j < kNumbersATurn && i < count; ++j, ++i) {
      dst[i] = made[j];
    }
  }
}

template <typename T>
void RandUniform(T* dst, uint64_t seed, int64_t offset, int64_t n) {
  FillWith(dst, seed, offset, n, UniformNumbers<T>());
}
template <typename T>
void RandNormal(T* dst, uint64_t seed, int64_t offset, int64_t n, T mean, T deviation) {
  FillWith(dst, seed, offset, n, NormalNumbers<T>{mean, deviation});
}
template <typename T>
void RandLogNormal(T* dst, uint64_t seed, int64_t offset, int64_t n, T mean, T deviation) {
  FillWith(dst, seed, offset, n, LogNormalNumbers<T>{{mean, deviation}});
}

constexpr weft_host_kernel kRandEntries[] = {
    HostCall<&RandUniform<float>>("weft_rand_uniform_f32"),
    HostCall<&RandUniform<double>>("weft_rand_uniform_f64"),
    HostCall<&RandNormal<float>>("weft_rand_normal_f32"),
    HostCall<&RandNormal<double>>("weft_rand_normal_f64"),
    HostCall<&RandLogNormal<float>>("weft_rand_log_normal_f32"),
    HostCall<&RandLogNormal<double>>("weft_rand_log_normal_f64"),
};

}  // namespace

HostEntries RandEntries() { return {kRandEntries, std::size(kRandEntries)}; }

}  // namespace weft::kernels
