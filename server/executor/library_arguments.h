// The arguments of library calls as the libraries' wrappers in cuda/ take them.
//
// Thread safety: pure functions.
#pragma once

#include "cuda/blas_lt.h"
#include "cuda/dnn.h"
#include "cuda/fft.h"
#include "cuda/prim.h"
#include "cuda/random.h"
#include "graph/build/bindings.h"

namespace weft::executor {

// REQUIRES: a request of blas.matmul.
cuda::MatrixProduct ProductOf(const build::LibraryRequest& request);
// REQUIRES: a request of one of the calls fft.*.
cuda::FourierTransform TransformOf(const build::LibraryRequest& request);
// REQUIRES: a request of one of the calls prim.*.
cuda::PrimRequest PrimRequestOf(const build::LibraryRequest& request);
// REQUIRES: a request of dnn.conv2d_forward.
cuda::Convolution ConvolutionOf(const build::LibraryRequest& request);
// REQUIRES: a request of one of the calls rand.*.
cuda::RandomNumbers NumbersOf(const build::LibraryRequest& request);

}  // namespace weft::executor
