// Intrinsics on integers and on the bits of numbers.
#pragma once

#include <math.h>
#include <string.h>

namespace weft_on_host {

template <typename To, typename From>
To BitCast(From from) {
  static_assert(sizeof(To) == sizeof(From), "");
  To to;
  memcpy(&to, &from, sizeof(to));
  return to;
}

// Truncated to the range of To as a GPU does: NaN is 0.
template <typename To, typename From>
To Saturate(From value) {
  constexpr To kLowest = To(-1) < To(0) ? To(To(1) << (8 * sizeof(To) - 1)) : To(0);
  constexpr To kHighest = To(~kLowest);
  if (!(value == value)) return 0;
  if (value <= static_cast<From>(kLowest)) return kLowest;
  if (value >= static_cast<From>(kHighest)) return kHighest;
  return static_cast<To>(value);
}

}  // namespace weft_on_host

inline int __popc(unsigned int x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned int __brev(unsigned int x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
inline unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
  const unsigned long long both = static_cast<unsigned long long>(y) << 32 | x;
  unsigned int result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned nibble = selector >> (4 * i);
    unsigned byte = static_cast<unsigned>(both >> (8 * (nibble & 7))) & 0xff;
    if ((nibble & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;  // the sign alone
    result |= byte << (8 * i);
  }
  return result;
}
inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both << (shift & 31) >> 32);
}
inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both >> (shift & 31));
}

inline int __mul24(int x, int y) { return (x << 8 >> 8) * (y << 8 >> 8); }
inline unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffff) * (y & 0xffffff); }
inline int __mulhi(int x, int y) { return static_cast<int>(static_cast<long long>(x) * y >> 32); }
inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
inline long long __mul64hi(long long x, long long y) {
  return static_cast<long long>(static_cast<__int128>(x) * y >> 64);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}

inline int __float_as_int(float x) { return weft_on_host::BitCast<int>(x); }
inline unsigned __float_as_uint(float x) { return weft_on_host::BitCast<unsigned>(x); }
inline float __int_as_float(int x) { return weft_on_host::BitCast<float>(x); }
inline float __uint_as_float(unsigned x) { return weft_on_host::BitCast<float>(x); }
inline long long __double_as_longlong(double x) { return weft_on_host::BitCast<long long>(x); }
inline double __longlong_as_double(long long x) { return weft_on_host::BitCast<double>(x); }

inline int __float2int_rn(float x) { return weft_on_host::Saturate<int>(rintf(x)); }
inline int __float2int_rz(float x) { return weft_on_host::Saturate<int>(truncf(x)); }
inline int __float2int_ru(float x) { return weft_on_host::Saturate<int>(ceilf(x)); }
inline int __float2int_rd(float x) { return weft_on_host::Saturate<int>(floorf(x)); }
inline unsigned __float2uint_rn(float x) { return weft_on_host::Saturate<unsigned>(rintf(x)); }
inline unsigned __float2uint_rz(float x) { return weft_on_host::Saturate<unsigned>(truncf(x)); }
inline int __double2int_rn(double x) { return weft_on_host::Saturate<int>(rint(x)); }
inline int __double2int_rz(double x) { return weft_on_host::Saturate<int>(trunc(x)); }
inline long long __double2ll_rn(double x) { return weft_on_host::Saturate<long long>(rint(x)); }
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }

// Loads with a hint for a GPU's caches.
template <typename T>
T __ldg(const T* address) {
  return *address;
}
template <typename T>
T __ldcg(const T* address) {
  return *address;
}
template <typename T>
T __ldcs(const T* address) {
  return *address;
}
template <typename T>
void __stcs(T* address, T value) {
  *address = value;
}
