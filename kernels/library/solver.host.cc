// CPU twins of solver.*, by Eigen.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "kernels/library/host_call.h"
#include "kernels/library/solver_schemas.h"

namespace weft::kernels {
namespace {

template <typename T>
using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename T>
using RowsMap = Eigen::Map<Rows<T>>;
template <typename T>
using ConstRowsMap = Eigen::Map<const Rows<T>>;
template <typename T>
using VectorMap = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>;

bool IsUpper(int32_t uplo) { return static_cast<Triangle>(uplo) == Triangle::kUpper; }

// Factors the lower triangle in place, row by row. 0, or the order of the first leading part that is
// not positive definite.
template <typename T>
int32_t FactorLower(Rows<T>& matrix) {
  const Eigen::Index n = matrix.rows();
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      const T sum = matrix.row(i).head(j).dot(matrix.row(j).head(j));
      matrix(i, j) = (matrix(i, j) - sum) / matrix(j, j);
    }
    const T square = matrix(i, i) - matrix.row(i).head(i).squaredNorm();
    if (!(square > 0)) return static_cast<int32_t>(i) + 1;  // NaN too
    matrix(i, i) = std::sqrt(square);
  }
  return 0;
}

template <typename T>
void SolverCholesky(const T* a, T* factor, int32_t* info, int32_t uplo, int64_t n, void*) {
  if (a != factor) std::memcpy(factor, a, sizeof(T) * static_cast<size_t>(n * n));
  RowsMap<T> out(factor, n, n);
  Rows<T> lower = out;
  if (IsUpper(uplo)) lower.transposeInPlace();
  *info = FactorLower(lower);
  if (IsUpper(uplo)) {
    out.template triangularView<Eigen::Upper>() = lower.transpose();
  } else {
    out.template triangularView<Eigen::Lower>() = lower;
  }
}

template <typename T>  // NOLINTNEXTLINE(readability-function-size)
void SolverLuSolve(const T* a, const T* b, T* x, int32_t* info, int32_t trans, int64_t n,
                   int64_t right_sides, void*) {
  const ConstRowsMap<T> matrix(a, n, n);
  const ConstRowsMap<T> right(b, n, right_sides);
  const Rows<T> system = trans != 0 ? Rows<T>(matrix.transpose()) : Rows<T>(matrix);
  const Eigen::PartialPivLU<Rows<T>> lu(system);
  const auto diagonal = lu.matrixLU().diagonal();
  const auto zero = std::find(diagonal.begin(), diagonal.end(), T{0});
  *info = zero == diagonal.end() ? 0 : static_cast<int32_t>(zero - diagonal.begin()) + 1;
  const Rows<T> solution = lu.solve(right);
  RowsMap<T>(x, n, right_sides) = solution;
}

template <typename T>
void SolverEigh(const T* a, T* w, T* v, int32_t* info, int32_t uplo, int64_t n, void*) {
  const ConstRowsMap<T> matrix(a, n, n);
  const Rows<T> lower = IsUpper(uplo) ? Rows<T>(matrix.transpose()) : Rows<T>(matrix);
  const Eigen::SelfAdjointEigenSolver<Rows<T>> solver(lower);
  *info = solver.info() == Eigen::Success ? 0 : 1;
  VectorMap<T>(w, n) = solver.eigenvalues();
  RowsMap<T>(v, n, n) = solver.eigenvectors().transpose();
}

template <typename T>  // NOLINTNEXTLINE(readability-function-size)
void SolverSvd(const T* a, T* s, T* u, T* vt, int32_t* info, int64_t m, int64_t n, int64_t k,
               void*) {
  using Columns = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  const Columns matrix = ConstRowsMap<T>(a, m, n);
  const Eigen::BDCSVD<Columns> svd(matrix, Eigen::ComputeThinU | Eigen::ComputeThinV);
  *info = svd.info() == Eigen::Success ? 0 : 1;
  if (*info != 0) {
    std::fill_n(s, k, T{0});
    std::fill_n(u, m * k, T{0});
    std::fill_n(vt, k * n, T{0});
    return;
  }
  VectorMap<T>(s, k) = svd.singularValues();
  RowsMap<T>(u, m, k) = svd.matrixU();
  RowsMap<T>(vt, k, n) = svd.matrixV().transpose();
}

constexpr weft_host_kernel kSolverEntries[] = {
    HostCall<&SolverCholesky<float>>("weft_solver_cholesky_f32"),
    HostCall<&SolverCholesky<double>>("weft_solver_cholesky_f64"),
    HostCall<&SolverLuSolve<float>>("weft_solver_lu_solve_f32"),
    HostCall<&SolverLuSolve<double>>("weft_solver_lu_solve_f64"),
    HostCall<&SolverEigh<float>>("weft_solver_eigh_f32"),
    HostCall<&SolverEigh<double>>("weft_solver_eigh_f64"),
    HostCall<&SolverSvd<float>>("weft_solver_svd_f32"),
    HostCall<&SolverSvd<double>>("weft_solver_svd_f64"),
};

}  // namespace

HostEntries SolverEntries() { return {kSolverEntries, std::size(kSolverEntries)}; }

}  // namespace weft::kernels
