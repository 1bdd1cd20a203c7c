// Atomic functions: relaxed, as CUDA's are, and good between launches that run at the same time.
#pragma once

#include <string.h>

namespace weft_on_host {

// Replaces *address by next(*address); the value before.
template <typename T, typename Next>
T AtomicUpdate(T* address, Next next) {
  T before;
  __atomic_load(address, &before, __ATOMIC_RELAXED);
  for (;;) {
    T after = next(before);
    if (__atomic_compare_exchange(address, &before, &after, false, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED)) {
      return before;
    }
  }
}

}  // namespace weft_on_host

// The _block and _system variants order as much.
#define WEFT_ON_HOST_ATOMIC(name, T, ...)                            \
  inline T name(T* address, T value) { return __VA_ARGS__; }         \
  inline T name##_block(T* address, T value) { return __VA_ARGS__; } \
  inline T name##_system(T* address, T value) { return __VA_ARGS__; }
#define WEFT_ON_HOST_UPDATE(expression) \
  weft_on_host::AtomicUpdate(address, [value](auto old) -> decltype(old) { return expression; })
#define WEFT_ON_HOST_INTEGER_ATOMICS(T)                                                     \
  WEFT_ON_HOST_ATOMIC(atomicAdd, T, __atomic_fetch_add(address, value, __ATOMIC_RELAXED))   \
  WEFT_ON_HOST_ATOMIC(atomicSub, T, __atomic_fetch_sub(address, value, __ATOMIC_RELAXED))   \
  WEFT_ON_HOST_ATOMIC(atomicAnd, T, __atomic_fetch_and(address, value, __ATOMIC_RELAXED))   \
  WEFT_ON_HOST_ATOMIC(atomicOr, T, __atomic_fetch_or(address, value, __ATOMIC_RELAXED))     \
  WEFT_ON_HOST_ATOMIC(atomicXor, T, __atomic_fetch_xor(address, value, __ATOMIC_RELAXED))   \
  WEFT_ON_HOST_ATOMIC(atomicExch, T, __atomic_exchange_n(address, value, __ATOMIC_RELAXED)) \
  WEFT_ON_HOST_ATOMIC(atomicMin, T, WEFT_ON_HOST_UPDATE(value < old ? value : old))         \
  WEFT_ON_HOST_ATOMIC(atomicMax, T, WEFT_ON_HOST_UPDATE(value > old ? value : old))         \
  WEFT_ON_HOST_CAS(T)
#define WEFT_ON_HOST_CAS(T)                                                         \
  inline T atomicCAS(T* address, T expected, T value) {                             \
    __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_RELAXED, \
                                __ATOMIC_RELAXED);                                  \
    return expected;                                                                \
  }                                                                                 \
  inline T atomicCAS_block(T* address, T expected, T value) {                       \
    return atomicCAS(address, expected, value);                                     \
  }                                                                                 \
  inline T atomicCAS_system(T* address, T expected, T value) {                      \
    return atomicCAS(address, expected, value);                                     \
  }

WEFT_ON_HOST_INTEGER_ATOMICS(int)
WEFT_ON_HOST_INTEGER_ATOMICS(unsigned int)
WEFT_ON_HOST_INTEGER_ATOMICS(unsigned long long)
// long is as wide; the types of <stdint.h> are made of it.
WEFT_ON_HOST_INTEGER_ATOMICS(long long)
WEFT_ON_HOST_INTEGER_ATOMICS(long)
WEFT_ON_HOST_INTEGER_ATOMICS(unsigned long)
WEFT_ON_HOST_CAS(unsigned short)
WEFT_ON_HOST_ATOMIC(atomicInc, unsigned int, WEFT_ON_HOST_UPDATE(old >= value ? 0 : old + 1))
WEFT_ON_HOST_ATOMIC(atomicDec, unsigned int,
                    WEFT_ON_HOST_UPDATE(old == 0 || old > value ? value : old - 1))
WEFT_ON_HOST_ATOMIC(atomicAdd, float, WEFT_ON_HOST_UPDATE(old + value))
WEFT_ON_HOST_ATOMIC(atomicAdd, double, WEFT_ON_HOST_UPDATE(old + value))
WEFT_ON_HOST_ATOMIC(atomicExch, float, WEFT_ON_HOST_UPDATE(value))

#undef WEFT_ON_HOST_CAS
#undef WEFT_ON_HOST_INTEGER_ATOMICS
#undef WEFT_ON_HOST_UPDATE
#undef WEFT_ON_HOST_ATOMIC
