// layernorm: the mean, then the sum of squared deviations, then the scaled row.
#include "kernels/builtin/rows.cuh"

namespace weft::kernels {
namespace {

template <typename T>
struct LayernormOperands {
  const T* x;
  const T* gamma;
  const T* beta;
  T* y;
  Compute<T> epsilon;
};

// y may be x: a thread reads an element for the last time right before it writes it.
template <typename T>
__device__ void Layernorm(const LayernormOperands<T>& given, int64_t rows, int64_t cols) {
  using C = Compute<T>;
  ForEachRow(rows, cols, [=](int64_t row, int thread, int threads, auto over) {
    const T* x = given.x + row * cols;
    T* y = given.y + row * cols;
    const auto plus = [](C a, C b) { return Plus(a, b); };
    C own = 0;
    for (int64_t i = thread; i < cols; i += threads) own = Plus(own, Load(x[i]));
    const C mean = RowMean(over(own, plus), cols);
    CompensatedSum<C> squares;
    for (int64_t i = thread; i < cols; i += threads) squares.Add(SquaredDeviation(x[i], mean));
    const auto scaling = ScalingOf(mean, over(squares.value(), plus), cols, given.epsilon);
    for (int64_t i = thread; i < cols; i += threads) {
      y[i] = ScaledElement(x[i], given.gamma[i], given.beta[i], scaling);
    }
  });
}

}  // namespace

#define WEFT_DEFINE(name, T)                                                                     \
  extern "C" __global__ void __launch_bounds__(256)                                              \
      weft_layernorm_##name(const T* x, const T* gamma, const T* beta, T* y, Compute<T> epsilon, \
                            int64_t rows, int64_t cols) {                                        \
    Layernorm<T>({x, gamma, beta, y, epsilon}, rows, cols);                                      \
  }
WEFT_FLOAT_TYPES(WEFT_DEFINE)
#undef WEFT_DEFINE

}  // namespace weft::kernels
