// fill, iota, copy, cast, axpy, scale, add, mul, clamp.
#include "kernels/builtin/device_math.cuh"
#include "kernels/builtin/elementwise_math.h"

namespace weft::kernels {

#define WEFT_DEFINE(name, T)                                                                      \
  extern "C" __global__ void weft_fill_##name(T* dst, Compute<T> value, int64_t n) {              \
    const T stored = Store<T>(value);                                                             \
    Map(n, dst, [=](int64_t) { return stored; });                                                 \
  }                                                                                               \
  extern "C" __global__ void weft_iota_##name(T* dst, Compute<T> start, Compute<T> step,          \
                                              int64_t n) {                                        \
    Map(n, dst, [=](int64_t i) { return IotaElement<T>(start, step, i); });                       \
  }                                                                                               \
  extern "C" __global__ void weft_axpy_##name(const T* x, T* y, Compute<T> a, int64_t n) {        \
    Map(                                                                                          \
        n, y, [=](int64_t, T u, T v) { return AxpyElement(u, v, a); }, x, y);                     \
  }                                                                                               \
  extern "C" __global__ void weft_scale_##name(const T* x, T* y, Compute<T> a, int64_t n) {       \
    Map(                                                                                          \
        n, y, [=](int64_t, T u) { return ScaleElement(u, a); }, x);                               \
  }                                                                                               \
  extern "C" __global__ void weft_add_##name(const T* a, const T* b, T* dst, int64_t n) {         \
    Map(                                                                                          \
        n, dst, [](int64_t, T u, T v) { return AddElement(u, v); }, a, b);                        \
  }                                                                                               \
  extern "C" __global__ void weft_mul_##name(const T* a, const T* b, T* dst, int64_t n) {         \
    Map(                                                                                          \
        n, dst, [](int64_t, T u, T v) { return MulElement(u, v); }, a, b);                        \
  }                                                                                               \
  extern "C" __global__ void weft_clamp_##name(const T* x, T* y, Compute<T> low, Compute<T> high, \
                                               int64_t n) {                                       \
    Map(                                                                                          \
        n, y, [=](int64_t, T u) { return ClampElement(u, low, high); }, x);                       \
  }
WEFT_ARITHMETIC_TYPES(WEFT_DEFINE)
#undef WEFT_DEFINE

#define WEFT_DEFINE(name, T)                                                     \
  extern "C" __global__ void weft_copy_##name(const T* src, T* dst, int64_t n) { \
    Map(                                                                         \
        n, dst, [](int64_t, T u) { return u; }, src);                            \
  }
WEFT_WIDTHS(WEFT_DEFINE)
#undef WEFT_DEFINE

#define WEFT_DEFINE_PAIR(from, From, to, To)                                                \
  extern "C" __global__ void weft_cast_##from##_##to(const From* src, To* dst, int64_t n) { \
    Map(                                                                                    \
        n, dst, [](int64_t, From u) { return CastElement<From, To>(u); }, src);             \
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
