// fill, iota, copy, cast, axpy, scale, add, mul, clamp: a thread an element.
#include "kernels/builtin/device_index.cuh"
#include "kernels/builtin/elementwise_math.h"

namespace weft::kernels {

#define WEFT_EACH(i, n) for (int64_t i = FirstIndex(); i < (n); i += GridStride())

#define WEFT_DEFINE(name, T)                                                                      \
  extern "C" __global__ void weft_fill_##name(T* dst, Compute<T> value, int64_t n) {              \
    const T stored = Store<T>(value);                                                             \
    WEFT_EACH(i, n) dst[i] = stored;                                                              \
  }                                                                                               \
  extern "C" __global__ void weft_iota_##name(T* dst, Compute<T> start, Compute<T> step,          \
                                              int64_t n) {                                        \
    WEFT_EACH(i, n) dst[i] = IotaElement<T>(start, step, i);                                      \
  }                                                                                               \
  extern "C" __global__ void weft_axpy_##name(const T* x, T* y, Compute<T> a, int64_t n) {        \
    WEFT_EACH(i, n) y[i] = AxpyElement(x[i], y[i], a);                                            \
  }                                                                                               \
  extern "C" __global__ void weft_scale_##name(const T* x, T* y, Compute<T> a, int64_t n) {       \
    WEFT_EACH(i, n) y[i] = ScaleElement(x[i], a);                                                 \
  }                                                                                               \
  extern "C" __global__ void weft_add_##name(const T* a, const T* b, T* dst, int64_t n) {         \
    WEFT_EACH(i, n) dst[i] = AddElement(a[i], b[i]);                                              \
  }                                                                                               \
  extern "C" __global__ void weft_mul_##name(const T* a, const T* b, T* dst, int64_t n) {         \
    WEFT_EACH(i, n) dst[i] = MulElement(a[i], b[i]);                                              \
  }                                                                                               \
  extern "C" __global__ void weft_clamp_##name(const T* x, T* y, Compute<T> low, Compute<T> high, \
                                               int64_t n) {                                       \
    WEFT_EACH(i, n) y[i] = ClampElement(x[i], low, high);                                         \
  }
WEFT_ARITHMETIC_TYPES(WEFT_DEFINE)
#undef WEFT_DEFINE

#define WEFT_DEFINE(name, T)                                                     \
  extern "C" __global__ void weft_copy_##name(const T* src, T* dst, int64_t n) { \
    WEFT_EACH(i, n) dst[i] = src[i];                                             \
  }
WEFT_WIDTHS(WEFT_DEFINE)
#undef WEFT_DEFINE

#define WEFT_DEFINE_PAIR(from, From, to, To)                                                \
  extern "C" __global__ void weft_cast_##from##_##to(const From* src, To* dst, int64_t n) { \
    WEFT_EACH(i, n) dst[i] = CastElement<From, To>(src[i]);                                 \
  }
#define WEFT_DEFINE(from, From)              \
  WEFT_DEFINE_PAIR(from, From, f32, float)   \
  WEFT_DEFINE_PAIR(from, From, f64, double)  \
  WEFT_DEFINE_PAIR(from, From, f16, F16)     \
  WEFT_DEFINE_PAIR(from, From, bf16, BF16)   \
  WEFT_DEFINE_PAIR(from, From, i32, int32_t) \
  WEFT_DEFINE_PAIR(from, From, u8, uint8_t)
WEFT_ARITHMETIC_TYPES(WEFT_DEFINE)
#undef WEFT_DEFINE

}  // namespace weft::kernels
