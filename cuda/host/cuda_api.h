// <cuda.h> with its functions exported: the library is built with hidden visibility, and only the
// driver's entry points leave it. The files of this folder include this header, never <cuda.h>.
#pragma once

#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop

// As cuda/driver.h has them.
#if CUDA_VERSION < 13000
#define cuMemPrefetchAsync cuMemPrefetchAsync_v2
#define cuMemAdvise cuMemAdvise_v2
#endif
