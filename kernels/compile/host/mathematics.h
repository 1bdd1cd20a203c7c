// CUDA's own mathematical names; those of C come with <math.h>.
#pragma once

#include <math.h>
#include <stdlib.h>

inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline float fdividef(float x, float y) { return x / y; }
inline float sinpif(float x) { return static_cast<float>(sin(M_PI * static_cast<double>(x))); }
inline float cospif(float x) { return static_cast<float>(cos(M_PI * static_cast<double>(x))); }
inline double sinpi(double x) { return sin(M_PI * x); }
inline double cospi(double x) { return cos(M_PI * x); }
inline float norm3df(float x, float y, float z) { return sqrtf(x * x + y * y + z * z); }
inline float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
inline float normcdff(float x) { return 0.5f * erfcf(-x * static_cast<float>(M_SQRT1_2)); }

// Approximations of a GPU, exact here.
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return exp2f(x * 3.321928094887362f); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __tanhf(float x) { return tanhf(x); }
inline void __sincosf(float x, float* sine, float* cosine) {
  *sine = sinf(x);
  *cosine = cosf(x);
}
inline float __fdividef(float x, float y) { return x / y; }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }  // NaN: 0

// One rounding, to nearest, and no contraction with what is around.
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }
#define WEFT_ON_HOST_ROUNDED(name, T, operation) \
  inline T name(T x, T y) {                      \
    volatile T result = x operation y;           \
    return result;                               \
  }
WEFT_ON_HOST_ROUNDED(__fadd_rn, float, +)
WEFT_ON_HOST_ROUNDED(__fsub_rn, float, -)
WEFT_ON_HOST_ROUNDED(__fmul_rn, float, *)
WEFT_ON_HOST_ROUNDED(__fdiv_rn, float, /)
WEFT_ON_HOST_ROUNDED(__dadd_rn, double, +)
WEFT_ON_HOST_ROUNDED(__dsub_rn, double, -)
WEFT_ON_HOST_ROUNDED(__dmul_rn, double, *)
WEFT_ON_HOST_ROUNDED(__ddiv_rn, double, /)
#undef WEFT_ON_HOST_ROUNDED

// min and max of each pair of types that CUDA has them for: the result has the wider type, unsigned where one is.
#define WEFT_ON_HOST_MIN_MAX(R, A, B)                                                     \
  inline constexpr R min(A a, B b) {                                                      \
    return static_cast<R>(a) < static_cast<R>(b) ? static_cast<R>(a) : static_cast<R>(b); \
  }                                                                                       \
  inline constexpr R max(A a, B b) {                                                      \
    return static_cast<R>(a) > static_cast<R>(b) ? static_cast<R>(a) : static_cast<R>(b); \
  }
WEFT_ON_HOST_MIN_MAX(int, int, int)
WEFT_ON_HOST_MIN_MAX(unsigned, unsigned, unsigned)
WEFT_ON_HOST_MIN_MAX(unsigned, int, unsigned)
WEFT_ON_HOST_MIN_MAX(unsigned, unsigned, int)
WEFT_ON_HOST_MIN_MAX(long, long, long)
WEFT_ON_HOST_MIN_MAX(unsigned long, unsigned long, unsigned long)
WEFT_ON_HOST_MIN_MAX(unsigned long, long, unsigned long)
WEFT_ON_HOST_MIN_MAX(unsigned long, unsigned long, long)
WEFT_ON_HOST_MIN_MAX(long long, long long, long long)
WEFT_ON_HOST_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
WEFT_ON_HOST_MIN_MAX(unsigned long long, long long, unsigned long long)
WEFT_ON_HOST_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef WEFT_ON_HOST_MIN_MAX
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(float a, double b) { return fmin(static_cast<double>(a), b); }
inline double max(float a, double b) { return fmax(static_cast<double>(a), b); }
inline double min(double a, float b) { return fmin(a, static_cast<double>(b)); }
inline double max(double a, float b) { return fmax(a, static_cast<double>(b)); }
inline unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
