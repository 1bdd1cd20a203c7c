#include "cuda/sparse.h"

#include <cusparse.h>

#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/status_macros.h"
#include "cuda/own_memory.h"
#include "cuda/toolkit_library.h"

namespace weft::cuda {
namespace internal {

#define WEFT_SPARSE_FUNCTIONS(X) \
  X(cusparseCreate)              \
  X(cusparseDestroy)             \
  X(cusparseSetStream)           \
  X(cusparseGetErrorName)        \
  X(cusparseGetErrorString)      \
  X(cusparseCreateConstCsr)      \
  X(cusparseDestroySpMat)        \
  X(cusparseCreateConstDnVec)    \
  X(cusparseCreateDnVec)         \
  X(cusparseDestroyDnVec)        \
  X(cusparseCreateConstDnMat)    \
  X(cusparseCreateDnMat)         \
  X(cusparseDestroyDnMat)        \
  X(cusparseSpMV_bufferSize)     \
  X(cusparseSpMV)                \
  X(cusparseSpMM_bufferSize)     \
  X(cusparseSpMM)

struct SparseFunctions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define WEFT_SPARSE_MEMBER(name) decltype(&::name) name = nullptr;
  WEFT_SPARSE_FUNCTIONS(WEFT_SPARSE_MEMBER)
#undef WEFT_SPARSE_MEMBER

  absl::Status Resolve(const ToolkitLibrary& library) {
    FunctionFinder finder(library);
#define WEFT_SPARSE_FIND(name) finder.Find(#name, name);
    WEFT_SPARSE_FUNCTIONS(WEFT_SPARSE_FIND)
#undef WEFT_SPARSE_FIND
    return finder.status();
  }

  absl::Status Check(cusparseStatus_t status, absl::string_view call) const {
    if (status == CUSPARSE_STATUS_SUCCESS) return absl::OkStatus();
    const std::string text = absl::StrCat(call, ": ", cusparseGetErrorName(status), " (",
                                          cusparseGetErrorString(status), ")");
    if (status == CUSPARSE_STATUS_ALLOC_FAILED ||
        status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES) {
      return absl::ResourceExhaustedError(text);
    }
    return status == CUSPARSE_STATUS_NOT_SUPPORTED ? absl::UnimplementedError(text)
                                                   : absl::InternalError(text);
  }
};

}  // namespace internal

using internal::SparseFunctions;

struct Sparse::Library {
  explicit Library(const Context& made_in) : context(made_in) {}
  const Context& context;
  SparseFunctions functions;
};

namespace {

void* SparsePointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

// The algorithms with the same bits at every run of a vector, and for row-major matrices.
constexpr cusparseSpMVAlg_t kVectorAlgorithm = CUSPARSE_SPMV_CSR_ALG2;
constexpr cusparseSpMMAlg_t kMatrixAlgorithm = CUSPARSE_SPMM_CSR_ALG2;

class SparseProductCall final : public LibraryCall {
 public:
  SparseProductCall(const Context& context, const SparseFunctions& functions,
                    const SparseProduct& product)
      : context_(context),
        fns_(functions),
        p_(product),
        type_(product.precision == SparseProduct::Precision::kF64 ? CUDA_R_64F : CUDA_R_32F),
        alpha_f32_(static_cast<float>(product.alpha)) {}
  SparseProductCall(const SparseProductCall&) = delete;
  SparseProductCall& operator=(const SparseProductCall&) = delete;
  ~SparseProductCall() override {
    const ScopedContext current(context_.ref());
    if (matrix_ != nullptr) fns_.cusparseDestroySpMat(matrix_);
    if (x_ != nullptr) fns_.cusparseDestroyDnVec(x_);
    if (y_ != nullptr) fns_.cusparseDestroyDnVec(y_);
    if (b_ != nullptr) fns_.cusparseDestroyDnMat(b_);
    if (c_ != nullptr) fns_.cusparseDestroyDnMat(c_);
    if (handle_ != nullptr) fns_.cusparseDestroy(handle_);
  }

  absl::Status Create() {
    WEFT_RETURN_IF_ERROR(fns_.Check(fns_.cusparseCreate(&handle_), "cusparseCreate"));
    WEFT_RETURN_IF_ERROR(fns_.Check(
        fns_.cusparseCreateConstCsr(&matrix_, p_.rows, p_.columns, p_.nonzeros,
                                    SparsePointer(p_.row_offsets), SparsePointer(p_.column_indices),
                                    SparsePointer(p_.values), CUSPARSE_INDEX_32I,
                                    CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type_),
        "cusparseCreateConstCsr"));
    size_t needed = 0;
    WEFT_RETURN_IF_ERROR(IsVector() ? CreateVectors(needed) : CreateMatrices(needed));
    area_ = p_.workspace;
    if (needed <= p_.workspace_bytes) return absl::OkStatus();
    WEFT_ASSIGN_OR_RETURN(own_area_, OwnMemory::Create(context_, needed));
    area_ = own_area_->address();
    return absl::OkStatus();
  }

  absl::Status Enqueue(const StreamRef& stream) const override {
    WEFT_MAKE_CURRENT(context_.ref());
    const absl::MutexLock lock(&mutex_);
    WEFT_RETURN_IF_ERROR(
        fns_.Check(fns_.cusparseSetStream(handle_, stream.handle()), "cusparseSetStream"));
    if (IsVector()) {
      return fns_.Check(
          fns_.cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha(), matrix_, x_, beta(),
                            y_, type_, kVectorAlgorithm, SparsePointer(area_)),
          "cusparseSpMV");
    }
    return fns_.Check(fns_.cusparseSpMM(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                        CUSPARSE_OPERATION_NON_TRANSPOSE, alpha(), matrix_, b_,
                                        beta(), c_, type_, kMatrixAlgorithm, SparsePointer(area_)),
                      "cusparseSpMM");
  }

 private:
  bool IsVector() const { return p_.shape == SparseProduct::Shape::kVector; }
  // As the library takes them, by their type.
  const void* alpha() const {
    return type_ == CUDA_R_64F ? static_cast<const void*>(&p_.alpha) : &alpha_f32_;
  }
  const void* beta() const {
    static constexpr double kZeroF64 = 0;
    static constexpr float kZeroF32 = 0;
    return type_ == CUDA_R_64F ? static_cast<const void*>(&kZeroF64) : &kZeroF32;
  }

  absl::Status CreateVectors(size_t& needed) {
    WEFT_RETURN_IF_ERROR(
        fns_.Check(fns_.cusparseCreateConstDnVec(&x_, p_.columns, SparsePointer(p_.dense), type_),
                   "cusparseCreateConstDnVec"));
    WEFT_RETURN_IF_ERROR(
        fns_.Check(fns_.cusparseCreateDnVec(&y_, p_.rows, SparsePointer(p_.result), type_),
                   "cusparseCreateDnVec"));
    return fns_.Check(
        fns_.cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha(), matrix_,
                                     x_, beta(), y_, type_, kVectorAlgorithm, &needed),
        "cusparseSpMV_bufferSize");
  }

  absl::Status CreateMatrices(size_t& needed) {
    WEFT_RETURN_IF_ERROR(fns_.Check(
        fns_.cusparseCreateConstDnMat(&b_, p_.columns, p_.width, p_.width, SparsePointer(p_.dense),
                                      type_, CUSPARSE_ORDER_ROW),
        "cusparseCreateConstDnMat"));
    WEFT_RETURN_IF_ERROR(
        fns_.Check(fns_.cusparseCreateDnMat(&c_, p_.rows, p_.width, p_.width,
                                            SparsePointer(p_.result), type_, CUSPARSE_ORDER_ROW),
                   "cusparseCreateDnMat"));
    return fns_.Check(
        fns_.cusparseSpMM_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                     CUSPARSE_OPERATION_NON_TRANSPOSE, alpha(), matrix_, b_, beta(),
                                     c_, type_, kMatrixAlgorithm, &needed),
        "cusparseSpMM_bufferSize");
  }

  const Context& context_;
  const SparseFunctions& fns_;
  const SparseProduct p_;
  const cudaDataType type_;
  const float alpha_f32_;
  cusparseHandle_t handle_ = nullptr;
  cusparseConstSpMatDescr_t matrix_ = nullptr;
  cusparseConstDnVecDescr_t x_ = nullptr;
  cusparseDnVecDescr_t y_ = nullptr;
  cusparseConstDnMatDescr_t b_ = nullptr;
  cusparseDnMatDescr_t c_ = nullptr;
  std::optional<OwnMemory> own_area_;
  CUdeviceptr area_ = 0;
  mutable absl::Mutex mutex_;  // the stream is a property of the handle
};

}  // namespace

Sparse::Sparse(std::unique_ptr<const Library> library) : library_(std::move(library)) {}
Sparse::~Sparse() = default;

absl::StatusOr<std::unique_ptr<const Sparse>> Sparse::Load(const Context& context) {
  WEFT_MAKE_CURRENT(context.ref());
  WEFT_ASSIGN_OR_RETURN(const ToolkitLibrary opened,
                        ToolkitLibrary::Open({"cuSPARSE", "WEFT_CUSPARSE", {"libcusparse.so.12"}}));
  auto library = std::make_unique<Library>(context);
  WEFT_RETURN_IF_ERROR(library->functions.Resolve(opened));
  return std::unique_ptr<const Sparse>(new Sparse(std::move(library)));
}

absl::StatusOr<std::shared_ptr<const LibraryCall>> Sparse::Prepare(
    const SparseProduct& product) const {
  WEFT_MAKE_CURRENT(library_->context.ref());
  auto call = std::make_shared<SparseProductCall>(library_->context, library_->functions, product);
  WEFT_RETURN_IF_ERROR(call->Create());
  return call;
}

}  // namespace weft::cuda
