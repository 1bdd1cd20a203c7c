// CPU twin of layernorm.cu, in the order of additions that row_math.h lays down.
#include <algorithm>
#include <array>
#include <iterator>

#include "kernels/builtin/dtype_list.h"
#include "kernels/builtin/host_tables.h"
#include "kernels/builtin/reduce_host.h"
#include "kernels/builtin/row_math.h"

namespace weft::kernels {
namespace {

constexpr int kMostThreads = 32 * kRowWarps;

template <typename C>
C OverThreads(C* values, int threads) {
  for (int first = 0; first < threads; first += 32) CombineTree<SumOp, 32>(values + first);
  C sum = values[0];
  for (int first = 32; first < threads; first += 32) sum = Plus(sum, values[first]);
  return sum;
}

// add(thread, element) for all elements of the row, a line of threads at a time, so that the compiler makes vectors of
// them.
template <typename T, typename Add>
void ForEachElement(const T* x, int64_t cols, int threads, Add add) {
  for (int64_t first = 0; first < cols; first += threads) {
    const int64_t count = std::min<int64_t>(threads, cols - first);
    for (int64_t thread = 0; thread < count; ++thread) add(thread, x[first + thread]);
  }
}

template <typename T>
RowScaling<Compute<T>> ScalingOfRow(const T* x, int64_t cols, Compute<T> epsilon) {
  using C = Compute<T>;
  const int threads = RowThreads(cols);
  std::array<C, kMostThreads> sums{};
  ForEachElement(x, cols, threads, [&](int64_t thread, T element) {
    sums[thread] = Plus(sums[thread], Load(element));
  });
  const C mean = RowMean(OverThreads(sums.data(), threads), cols);
  std::array<CompensatedSum<C>, kMostThreads> squares{};
  ForEachElement(x, cols, threads, [&](int64_t thread, T element) {
    squares[thread].Add(SquaredDeviation(element, mean));
  });
  for (int thread = 0; thread < threads; ++thread) sums[thread] = squares[thread].value();
  return ScalingOf(mean, OverThreads(sums.data(), threads), cols, epsilon);
}

template <typename T>
// NOLINTNEXTLINE(readability-function-size): the entry point's own parameters
void Layernorm(const T* x, const T* gamma, const T* beta, T* y, Compute<T> epsilon, int64_t rows,
               int64_t cols) {
  for (int64_t row = 0; row < rows; ++row) {
    const T* in = x + row * cols;
    T* out = y + row * cols;
    const auto scaling = ScalingOfRow(in, cols, epsilon);
    for (int64_t i = 0; i < cols; ++i) out[i] = ScaledElement(in[i], gamma[i], beta[i], scaling);
  }
}

#define WEFT_ENTRY(name, T) HostEntry<&Layernorm<T>>("weft_layernorm_" #name),

constexpr weft_host_kernel kEntries[] = {WEFT_FLOAT_TYPES(WEFT_ENTRY)};

}  // namespace

HostEntries LayernormEntries() { return {kEntries, std::size(kEntries)}; }

}  // namespace weft::kernels
