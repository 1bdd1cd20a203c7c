// The words that CUDA adds to C++.
#pragma once

#define WEFT_ON_HOST 1

#define __global__
#define __device__
#define __host__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __inline_hint__
// Empty: the headers of the C++ library write __attribute__((__noinline__)), which then says nothing.
#define __noinline__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))

// The threads of a block take turns on one of the system's threads, and blocks of other launches run on others: what is
// thread_local belongs to the block. 16: as much as a float4 that the variable is read as needs.
// `extern __shared__ T name[];` cannot be a macro; the compiler of kernels rewrites it (host_source.h).
#define __shared__ static thread_local __attribute__((aligned(16)))
// The compiler of kernels puts these variables of namespaces into the image's table of symbols.
#define __constant__
#define __managed__ \
  _Pragma("GCC error \"__managed__ variables are not available: give the kernel a pointer\"")
