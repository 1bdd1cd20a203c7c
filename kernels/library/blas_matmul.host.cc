// CPU twins of blas.matmul, by Eigen.
#include <Eigen/Core>
#include <cmath>
#include <iterator>

#include "kernels/builtin/numbers.h"
#include "kernels/library/host_call.h"
#include "kernels/library/library_schemas.h"

namespace weft::kernels {
namespace {

using M = MatmulArguments;
using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// One matrix of a batch, as it is stored.
template <typename T>
struct Stored {
  T* first;
  int64_t rows;
  int64_t columns;
  int64_t row_stride;
  int64_t matrix_stride;

  T* Row(int64_t batch, int64_t row) const {
    return first + batch * matrix_stride + row * row_stride;
  }
};

template <typename T>
Stored<T> MakeStored(T* first, int64_t rows, int64_t columns, int64_t leading, int64_t stride) {
  const int64_t row_stride = leading == 0 ? columns : leading;
  return {first, rows, columns, row_stride, stride == -1 ? rows * row_stride : stride};
}

// To 10 bits after the point, to nearest, ties to even; infinities and NaN stay.
float ToTF32(float value) {
  constexpr uint32_t kDropped = 13;
  const uint32_t bits = FloatBits(value);
  if ((bits & 0x7f800000u) == 0x7f800000u) return value;
  const uint32_t rounded = bits + 0xfffu + ((bits >> kDropped) & 1u);
  return FloatFromBits(rounded & ~((1u << kDropped) - 1));
}

template <typename T>
RowMajor ReadMatrix(const Stored<const T>& matrix, int64_t batch, M::Compute compute) {
  RowMajor read(matrix.rows, matrix.columns);
  for (int64_t row = 0; row < matrix.rows; ++row) {
    const T* from = matrix.Row(batch, row);
    for (int64_t column = 0; column < matrix.columns; ++column) {
      const float value = Load(from[column]);
      read(row, column) = compute == M::Compute::kTF32 ? ToTF32(value) : value;
    }
  }
  return read;
}

// The form with tanh, as cuBLASLt's.
float Gelu(float x) {
  constexpr float kRootOfTwoOverPi = 0.7978845608028654F;
  return 0.5F * x * (1 + std::tanh(kRootOfTwoOverPi * (x + 0.044715F * x * x * x)));
}

float Activate(M::Epilogue epilogue, float x) {
  switch (epilogue) {
    case M::Epilogue::kRelu:
    case M::Epilogue::kReluBias:
      return Max(x, 0.0F);
    case M::Epilogue::kGelu:
    case M::Epilogue::kGeluBias:
      return Gelu(x);
    case M::Epilogue::kNone:
    case M::Epilogue::kBias:
      break;
  }
  return x;
}

// What is added to alpha a b, and what is done to the sum.
template <typename T>
struct Finish {
  const Stored<const T>* c;  // null: none
  float beta;
  const T* bias;  // null: none
  M::Epilogue epilogue;

  float operator()(float sum, int64_t batch, int64_t row, int64_t column) const {
    if (c != nullptr) sum += beta * Load(c->Row(batch, row)[column]);
    if (bias != nullptr) sum += Load(bias[column]);
    return Activate(epilogue, sum);
  }
};

RowMajor Multiply(const RowMajor& a, bool trans_a, const RowMajor& b, bool trans_b) {
  if (trans_a && trans_b) return a.transpose() * b.transpose();
  if (trans_a) return a.transpose() * b;
  if (trans_b) return a * b.transpose();
  return a * b;
}

// The parameters are those of the schema, which fixes their number.
template <typename T>  // NOLINTNEXTLINE(readability-function-size)
void BlasMatmul(const T* a, const T* b, const T* c, const T* bias, T* d, int32_t trans_a,
                int32_t trans_b, int64_t m, int64_t n, int64_t k, int64_t batch, float alpha,
                float beta, int32_t epilogue, int32_t compute, int64_t lda, int64_t ldb,
                int64_t ldc, int64_t ldd, int64_t stride_a, int64_t stride_b, int64_t stride_c,
                int64_t stride_d, void* /*workspace*/) {
  const auto in_a = MakeStored(a, trans_a != 0 ? k : m, trans_a != 0 ? m : k, lda, stride_a);
  const auto in_b = MakeStored(b, trans_b != 0 ? n : k, trans_b != 0 ? k : n, ldb, stride_b);
  const auto in_c = MakeStored(c, m, n, ldc, stride_c);
  const auto out = MakeStored(d, m, n, ldd, stride_d);
  const Finish<T> finish{beta != 0 ? &in_c : nullptr, beta, bias,
                         static_cast<M::Epilogue>(epilogue)};
  const auto rounding = static_cast<M::Compute>(compute);
  for (int64_t i = 0; i < batch; ++i) {
    const RowMajor product = Multiply(ReadMatrix(in_a, i, rounding), trans_a != 0,
                                      ReadMatrix(in_b, i, rounding), trans_b != 0);
    for (int64_t row = 0; row < m; ++row) {
      T* to = out.Row(i, row);
      for (int64_t column = 0; column < n; ++column) {
        to[column] = Store<T>(finish(alpha * product(row, column), i, row, column));
      }
    }
  }
}

constexpr weft_host_kernel kMatmulEntries[] = {
    HostCall<&BlasMatmul<float>>("weft_blas_matmul_f32"),
    HostCall<&BlasMatmul<F16>>("weft_blas_matmul_f16"),
    HostCall<&BlasMatmul<BF16>>("weft_blas_matmul_bf16"),
};

}  // namespace

HostEntries BlasMatmulEntries() { return {kMatmulEntries, std::size(kMatmulEntries)}; }

}  // namespace weft::kernels
