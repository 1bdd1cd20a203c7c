// The schemas of the calls of libraries, each in a file of its own, and the positions of their
// arguments, which what carries a call out reads them by.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/schema.h"

namespace weft::kernels {

// All of them, in no order. Registry::Library() has them by name.
std::vector<KernelSchema> LibrarySchemas();

KernelSchema BlasMatmulSchema();
// fft.{c2c,r2c,c2r}_{1,2,3}d.
std::vector<KernelSchema> FftSchemas();

// blas.matmul
struct MatmulArguments {
  enum : uint32_t {
    kA,
    kB,
    kC,
    kBias,
    kD,
    kTransA,
    kTransB,
    kM,
    kN,
    kK,
    kBatch,
    kAlpha,
    kBeta,
    kEpilogue,
    kCompute,
    kLda,
    kLdb,
    kLdc,
    kLdd,
    kStrideA,
    kStrideB,
    kStrideC,
    kStrideD,
    kCount,
  };
  // Positions of the choices of kEpilogue.
  enum class Epilogue : uint32_t { kNone, kRelu, kGelu, kBias, kReluBias, kGeluBias };
  // Of kCompute.
  enum class Compute : uint32_t { kF32, kTF32 };
};

// Bytes of workspace that a matrix product may use on a GPU, whatever its size: what cuBLASLt
// recommends for the newest architectures (its manual, "Workspace"; Hopper and later 32 MiB).
inline constexpr uint64_t kMatmulWorkspaceBytes = uint64_t{32} << 20;

// How the matrices of a call lie in memory, its defaults filled in. In elements.
struct MatrixLayout {
  uint64_t rows = 0;  // as stored, row by row
  uint64_t columns = 0;
  uint64_t row_stride = 0;
  uint64_t matrix_stride = 0;  // from one of the batch to the next; 0: all are the same
};
enum class MatmulOperand { kA, kB, kC, kD };
// nullopt when an extent does not fit 64 bits.
std::optional<MatrixLayout> MatmulLayout(const BoundCall& call, MatmulOperand operand);

// fft.*: buffers first; then the direction (c2c alone); then the extents, outermost first; then the
// number of transforms.
enum class FftKind : uint8_t { kC2C, kR2C, kC2R };
struct FftArguments {
  enum : uint32_t { kSrc, kDst, kFirstOfRest };
  enum class Direction : uint32_t { kForward, kInverse };
};
// What the name of a call says.
struct FftShape {
  FftKind kind = FftKind::kC2C;
  uint32_t rank = 1;  // 1 to 3
  uint32_t FirstExtent() const {
    return FftArguments::kFirstOfRest + (kind == FftKind::kC2C ? 1 : 0);
  }
  uint32_t Batch() const { return FirstExtent() + rank; }
};
// REQUIRES: `schema` is one of FftSchemas().
FftShape FftShapeOf(const KernelSchema& schema);

}  // namespace weft::kernels
