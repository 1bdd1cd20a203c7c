// CUDA C++ of an expression whose names have types, for the compilers of kernels/compile. It contains
// nothing of the expression's text but numbers, written anew.
//
// All values have the compute type of what is written (dtype.h): elements and scalars are converted to
// it first. Integers wrap; dividing by 0 gives 0, and so does its remainder. Products and sums are
// rounded apart. What is written keeps the low bits of an integer.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/dtype.h"
#include "kernels/expression/expression.h"

namespace weft::kernels {

struct ExpressionOperand {
  enum class Kind : uint8_t {
    kElements,    // as many as are written
    kOneElement,  // the same for all
    kScalar,      // a parameter of the compute type
  };
  Kind kind = Kind::kElements;
  DType dtype = DType::kF32;  // of elements
};

// The parameters and the body of a kernel, what stands behind `__global__ void name`. Its parameters:
// the address of what is written; for each name in order its address or value; the number of elements,
// an i64. Operands: one for each of Expression::names. To be compiled without contraction (--fmad=false).
// Errors: INVALID_ARGUMENT, with what to do.
absl::StatusOr<std::string> ExpressionSource(const Expression& expression, DType target,
                                             const std::vector<ExpressionOperand>& operands);

}  // namespace weft::kernels
