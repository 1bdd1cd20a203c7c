#include "cuda/solver.h"

#include <cusolverDn.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/status_macros.h"
#include "cuda/memory.h"
#include "cuda/own_memory.h"
#include "cuda/toolkit_library.h"

namespace weft::cuda {
namespace internal {

#define WEFT_SOLVER_FUNCTIONS(X) \
  X(cusolverDnCreate)            \
  X(cusolverDnDestroy)           \
  X(cusolverDnSetStream)         \
  X(cusolverDnCreateParams)      \
  X(cusolverDnDestroyParams)     \
  X(cusolverDnXpotrf_bufferSize) \
  X(cusolverDnXpotrf)            \
  X(cusolverDnXgetrf_bufferSize) \
  X(cusolverDnXgetrf)            \
  X(cusolverDnXgetrs)            \
  X(cusolverDnXsyevd_bufferSize) \
  X(cusolverDnXsyevd)            \
  X(cusolverDnXgesvd_bufferSize) \
  X(cusolverDnXgesvd)

struct SolverFunctions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define WEFT_SOLVER_MEMBER(name) decltype(&::name) name = nullptr;
  WEFT_SOLVER_FUNCTIONS(WEFT_SOLVER_MEMBER)
#undef WEFT_SOLVER_MEMBER

  absl::Status Resolve(const ToolkitLibrary& library) {
    FunctionFinder finder(library);
#define WEFT_SOLVER_FIND(name) finder.Find(#name, name);
    WEFT_SOLVER_FUNCTIONS(WEFT_SOLVER_FIND)
#undef WEFT_SOLVER_FIND
    return finder.status();
  }
};

}  // namespace internal

using internal::SolverFunctions;

namespace {

// cuSOLVER has no function for it.
absl::string_view NameOfStatus(cusolverStatus_t status) {
  switch (status) {
    case CUSOLVER_STATUS_NOT_INITIALIZED:
      return "CUSOLVER_STATUS_NOT_INITIALIZED";
    case CUSOLVER_STATUS_ALLOC_FAILED:
      return "CUSOLVER_STATUS_ALLOC_FAILED";
    case CUSOLVER_STATUS_INVALID_VALUE:
      return "CUSOLVER_STATUS_INVALID_VALUE";
    case CUSOLVER_STATUS_ARCH_MISMATCH:
      return "CUSOLVER_STATUS_ARCH_MISMATCH";
    case CUSOLVER_STATUS_EXECUTION_FAILED:
      return "CUSOLVER_STATUS_EXECUTION_FAILED";
    case CUSOLVER_STATUS_INTERNAL_ERROR:
      return "CUSOLVER_STATUS_INTERNAL_ERROR";
    case CUSOLVER_STATUS_NOT_SUPPORTED:
      return "CUSOLVER_STATUS_NOT_SUPPORTED";
    default:
      return "an error";
  }
}

absl::Status CheckSolver(cusolverStatus_t status, absl::string_view call) {
  if (status == CUSOLVER_STATUS_SUCCESS) return absl::OkStatus();
  const std::string text =
      absl::StrCat(call, ": ", NameOfStatus(status), " (", static_cast<int>(status), ")");
  if (status == CUSOLVER_STATUS_ALLOC_FAILED) return absl::ResourceExhaustedError(text);
  if (status == CUSOLVER_STATUS_NOT_SUPPORTED) return absl::UnimplementedError(text);
  return absl::InternalError(text);
}

void* AsPointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

// Host memory that a call may ask for.
constexpr size_t kMaxHostBytes = size_t{8} << 30;

}  // namespace

struct Solver::Library {
  explicit Library(const Context& made_in) : context(made_in) {}
  const Context& context;
  SolverFunctions functions;
};

namespace {

// A problem, the library's handle for it, and the memory it needs.
class DenseCall final : public LibraryCall {
 public:
  DenseCall(const Context& context, const SolverFunctions& functions, const DenseProblem& problem)
      : context_(context),
        fns_(functions),
        p_(problem),
        type_(problem.precision == DenseProblem::Precision::kF64 ? CUDA_R_64F : CUDA_R_32F),
        uplo_(problem.triangle == DenseProblem::Triangle::kUpper ? CUBLAS_FILL_MODE_UPPER
                                                                 : CUBLAS_FILL_MODE_LOWER) {}
  DenseCall(const DenseCall&) = delete;
  DenseCall& operator=(const DenseCall&) = delete;
  ~DenseCall() override {
    const ScopedContext current(context_.ref());
    if (params_ != nullptr) fns_.cusolverDnDestroyParams(params_);
    if (handle_ != nullptr) fns_.cusolverDnDestroy(handle_);
  }

  absl::Status Create() {
    WEFT_RETURN_IF_ERROR(CheckSolver(fns_.cusolverDnCreate(&handle_), "cusolverDnCreate"));
    WEFT_RETURN_IF_ERROR(
        CheckSolver(fns_.cusolverDnCreateParams(&params_), "cusolverDnCreateParams"));
    size_t on_host = 0;
    WEFT_RETURN_IF_ERROR(CheckSolver(AskSizes(&area_bytes_, &on_host), "cusolverDn bufferSize"));
    if (on_host > kMaxHostBytes) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "cuSOLVER needs ", on_host, " bytes of host memory; the limit is ", kMaxHostBytes));
    }
    host_area_.resize(on_host);
    area_ = p_.workspace;
    if (area_bytes_ <= p_.workspace_bytes) return absl::OkStatus();
    WEFT_ASSIGN_OR_RETURN(own_area_, OwnMemory::Create(context_, area_bytes_));
    area_ = own_area_->address();
    return absl::OkStatus();
  }

  absl::Status Enqueue(const StreamRef& stream) const override {
    WEFT_MAKE_CURRENT(context_.ref());
    const absl::MutexLock lock(&mutex_);
    const size_t element = type_ == CUDA_R_64F ? 8 : 4;
    const auto bytes = [element](int64_t rows, int64_t columns) {
      return static_cast<size_t>(rows) * static_cast<size_t>(columns) * element;
    };
    if (p_.source != p_.matrix) {
      WEFT_RETURN_IF_ERROR(CopyAsync(stream, p_.matrix, p_.source, bytes(p_.rows, p_.columns)));
    }
    if (p_.left_source != 0 && p_.left_source != p_.left) {
      WEFT_RETURN_IF_ERROR(
          CopyAsync(stream, p_.left, p_.left_source, bytes(p_.rows, p_.right_sides)));
    }
    WEFT_RETURN_IF_ERROR(
        CheckSolver(fns_.cusolverDnSetStream(handle_, stream.handle()), "cusolverDnSetStream"));
    return Solve();
  }

 private:
  cusolverStatus_t AskSizes(size_t* on_device, size_t* on_host) const {
    const void* const matrix = AsPointer(p_.matrix);
    switch (p_.kind) {
      case DenseProblem::Kind::kCholesky:
        return fns_.cusolverDnXpotrf_bufferSize(handle_, params_, uplo_, p_.rows, type_, matrix,
                                                p_.rows, type_, on_device, on_host);
      case DenseProblem::Kind::kLuSolve:
        return fns_.cusolverDnXgetrf_bufferSize(handle_, params_, p_.rows, p_.rows, type_, matrix,
                                                p_.rows, type_, on_device, on_host);
      case DenseProblem::Kind::kEigen:
        return fns_.cusolverDnXsyevd_bufferSize(handle_, params_, CUSOLVER_EIG_MODE_VECTOR, uplo_,
                                                p_.rows, type_, matrix, p_.rows, type_,
                                                AsPointer(p_.values), type_, on_device, on_host);
      case DenseProblem::Kind::kSvd:
        return fns_.cusolverDnXgesvd_bufferSize(
            handle_, params_, 'S', 'S', p_.rows, p_.columns, type_, matrix, p_.rows, type_,
            AsPointer(p_.values), type_, AsPointer(p_.left), p_.rows, type_, AsPointer(p_.right),
            p_.columns, type_, on_device, on_host);
    }
    return CUSOLVER_STATUS_NOT_SUPPORTED;
  }

  absl::Status Solve() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    int* const info = static_cast<int*>(AsPointer(p_.info));
    void* const matrix = AsPointer(p_.matrix);
    void* const area = AsPointer(area_);
    switch (p_.kind) {
      case DenseProblem::Kind::kCholesky:
        return CheckSolver(
            fns_.cusolverDnXpotrf(handle_, params_, uplo_, p_.rows, type_, matrix, p_.rows, type_,
                                  area, area_bytes_, host_area_.data(), host_area_.size(), info),
            "cusolverDnXpotrf");
      case DenseProblem::Kind::kLuSolve:
        return SolveByLu();
      case DenseProblem::Kind::kEigen:
        return CheckSolver(
            fns_.cusolverDnXsyevd(handle_, params_, CUSOLVER_EIG_MODE_VECTOR, uplo_, p_.rows, type_,
                                  matrix, p_.rows, type_, AsPointer(p_.values), type_, area,
                                  area_bytes_, host_area_.data(), host_area_.size(), info),
            "cusolverDnXsyevd");
      case DenseProblem::Kind::kSvd:
        return CheckSolver(
            fns_.cusolverDnXgesvd(handle_, params_, 'S', 'S', p_.rows, p_.columns, type_, matrix,
                                  p_.rows, type_, AsPointer(p_.values), type_, AsPointer(p_.left),
                                  p_.rows, type_, AsPointer(p_.right), p_.columns, type_, area,
                                  area_bytes_, host_area_.data(), host_area_.size(), info),
            "cusolverDnXgesvd");
    }
    return absl::UnimplementedError("no such problem");
  }

  absl::Status SolveByLu() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    auto* const pivots = static_cast<int64_t*>(AsPointer(p_.pivots));
    // That of the solution only tells of wrong arguments; it goes behind the pivots.
    int* const solved = reinterpret_cast<int*>(pivots + p_.rows);
    void* const matrix = AsPointer(p_.matrix);
    WEFT_RETURN_IF_ERROR(CheckSolver(
        fns_.cusolverDnXgetrf(handle_, params_, p_.rows, p_.rows, type_, matrix, p_.rows, pivots,
                              type_, AsPointer(area_), area_bytes_, host_area_.data(),
                              host_area_.size(), static_cast<int*>(AsPointer(p_.info))),
        "cusolverDnXgetrf"));
    const cublasOperation_t operation =
        p_.transpose == DenseProblem::Transpose::kYes ? CUBLAS_OP_T : CUBLAS_OP_N;
    return CheckSolver(
        fns_.cusolverDnXgetrs(handle_, params_, operation, p_.rows, p_.right_sides, type_, matrix,
                              p_.rows, pivots, type_, AsPointer(p_.left), p_.rows, solved),
        "cusolverDnXgetrs");
  }

  const Context& context_;
  const SolverFunctions& fns_;
  const DenseProblem p_;
  const cudaDataType type_;
  const cublasFillMode_t uplo_;
  cusolverDnHandle_t handle_ = nullptr;
  cusolverDnParams_t params_ = nullptr;
  std::optional<OwnMemory> own_area_;
  CUdeviceptr area_ = 0;
  size_t area_bytes_ = 0;
  mutable absl::Mutex mutex_;  // the stream is a property of the handle
  mutable std::vector<char> host_area_;
};

}  // namespace

Solver::Solver(std::unique_ptr<const Library> library) : library_(std::move(library)) {}
Solver::~Solver() = default;

absl::StatusOr<std::unique_ptr<const Solver>> Solver::Load(const Context& context) {
  WEFT_MAKE_CURRENT(context.ref());
  WEFT_ASSIGN_OR_RETURN(
      const ToolkitLibrary opened,
      ToolkitLibrary::Open(
          {"cuSOLVER", "WEFT_CUSOLVER", {"libcusolver.so.12", "libcusolver.so.11"}}));
  auto library = std::make_unique<Library>(context);
  WEFT_RETURN_IF_ERROR(library->functions.Resolve(opened));
  return std::unique_ptr<const Solver>(new Solver(std::move(library)));
}

absl::StatusOr<std::shared_ptr<const LibraryCall>> Solver::Prepare(
    const DenseProblem& problem) const {
  WEFT_MAKE_CURRENT(library_->context.ref());
  auto call = std::make_shared<DenseCall>(library_->context, library_->functions, problem);
  WEFT_RETURN_IF_ERROR(call->Create());
  return call;
}

}  // namespace weft::cuda
