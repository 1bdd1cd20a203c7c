// Vector types, dim3, and their makers.
#pragma once

#define WEFT_ON_HOST_VECTOR1(name, T) \
  struct name##1 {                    \
    T x;                              \
  };                                  \
  inline name##1 make_##name##1(T x) { return {x}; }
#define WEFT_ON_HOST_VECTOR2(name, T)     \
  struct alignas(2 * sizeof(T)) name##2 { \
    T x, y;                               \
  };                                      \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }
#define WEFT_ON_HOST_VECTOR3(name, T) \
  struct name##3 {                    \
    T x, y, z;                        \
  };                                  \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }
#define WEFT_ON_HOST_VECTOR4(name, T)                               \
  struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) name##4 { \
    T x, y, z, w;                                                   \
  };                                                                \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define WEFT_ON_HOST_VECTORS(name, T) \
  WEFT_ON_HOST_VECTOR1(name, T)       \
  WEFT_ON_HOST_VECTOR2(name, T)       \
  WEFT_ON_HOST_VECTOR3(name, T)       \
  WEFT_ON_HOST_VECTOR4(name, T)

WEFT_ON_HOST_VECTORS(char, signed char)
WEFT_ON_HOST_VECTORS(uchar, unsigned char)
WEFT_ON_HOST_VECTORS(short, short)
WEFT_ON_HOST_VECTORS(ushort, unsigned short)
WEFT_ON_HOST_VECTORS(int, int)
WEFT_ON_HOST_VECTORS(uint, unsigned int)
WEFT_ON_HOST_VECTORS(long, long)
WEFT_ON_HOST_VECTORS(ulong, unsigned long)
WEFT_ON_HOST_VECTORS(longlong, long long)
WEFT_ON_HOST_VECTORS(ulonglong, unsigned long long)
WEFT_ON_HOST_VECTORS(float, float)
WEFT_ON_HOST_VECTORS(double, double)

#undef WEFT_ON_HOST_VECTORS
#undef WEFT_ON_HOST_VECTOR4
#undef WEFT_ON_HOST_VECTOR3
#undef WEFT_ON_HOST_VECTOR2
#undef WEFT_ON_HOST_VECTOR1

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1)
      : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
