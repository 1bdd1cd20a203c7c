// CUDA C++ for the CPU driver: a kernel's source, compiled behind this header by the system's C++ compiler (C++17 or
// newer, GNU extensions), becomes a host image. Without exceptions: a kernel has none on a GPU either.
//
// There: the qualifiers; threadIdx and its like; barriers, votes, shuffles, matches and reductions of warps; atomics on
// 16, 32 and 64 bits; vector types; the C library's mathematics and CUDA's own names for it; bit intrinsics; printf and
// assert; tex1Dfetch and tex2D. Not there: __half and __nv_bfloat16; other textures, and surfaces; cooperative groups; named barriers, pipelines and
// tensor cores; __managed__; kernels that launch kernels; inline PTX. Each of these is an error of the compiler.
//
// Clusters and cooperative launches have nothing of their own here.
//
// Differs from nvcc: __launch_bounds__ is no limit; what is fast but rough on a GPU (__expf) is exact here;
// __shared__ variables are not counted against a block's shared memory, and their type has no constructor to run.
//
// Names of its own are in the namespace weft_on_host or begin with WEFT_ON_HOST_.
#pragma once

#include "kernels/compile/host/atomics.h"
#include "kernels/compile/host/bits.h"
#include "kernels/compile/host/entry.h"
#include "kernels/compile/host/mathematics.h"
#include "kernels/compile/host/qualifiers.h"
#include "kernels/compile/host/textures.h"
#include "kernels/compile/host/threads.h"
#include "kernels/compile/host/vector_types.h"
#include "kernels/compile/host/warps.h"
