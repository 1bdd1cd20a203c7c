#include "cuda/blas_lt.h"

#include <cublasLt.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cuda/toolkit_library.h"

namespace weft::cuda {
namespace internal {

#define WEFT_BLAS_LT_FUNCTIONS(X)     \
  X(cublasLtCreate)                   \
  X(cublasLtDestroy)                  \
  X(cublasLtGetStatusName)            \
  X(cublasLtGetStatusString)          \
  X(cublasLtMatmul)                   \
  X(cublasLtMatmulAlgoGetHeuristic)   \
  X(cublasLtMatmulDescCreate)         \
  X(cublasLtMatmulDescDestroy)        \
  X(cublasLtMatmulDescSetAttribute)   \
  X(cublasLtMatrixLayoutCreate)       \
  X(cublasLtMatrixLayoutDestroy)      \
  X(cublasLtMatrixLayoutSetAttribute) \
  X(cublasLtMatmulPreferenceCreate)   \
  X(cublasLtMatmulPreferenceDestroy)  \
  X(cublasLtMatmulPreferenceSetAttribute)

struct BlasLtFunctions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define WEFT_BLAS_LT_MEMBER(name) decltype(&::name) name = nullptr;
  WEFT_BLAS_LT_FUNCTIONS(WEFT_BLAS_LT_MEMBER)
#undef WEFT_BLAS_LT_MEMBER

  absl::Status Resolve(const ToolkitLibrary& library) {
    FunctionFinder finder(library);
#define WEFT_BLAS_LT_FIND(name) finder.Find(#name, name);
    WEFT_BLAS_LT_FUNCTIONS(WEFT_BLAS_LT_FIND)
#undef WEFT_BLAS_LT_FIND
    return finder.status();
  }

  absl::Status Check(cublasStatus_t status, absl::string_view call) const {
    if (status == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
    const std::string text = absl::StrCat(call, ": ", cublasLtGetStatusName(status), " (",
                                          cublasLtGetStatusString(status), ")");
    return status == CUBLAS_STATUS_NOT_SUPPORTED ? absl::UnimplementedError(text)
                                                 : absl::InternalError(text);
  }
};

}  // namespace internal

using internal::BlasLtFunctions;

struct BlasLt::Library {
  explicit Library(const Context& made_in) : context(made_in.ref()) {}
  ~Library() {
    const ScopedContext current(context);
    if (handle != nullptr) functions.cublasLtDestroy(handle);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const ContextRef context;
  BlasLtFunctions functions;
  cublasLtHandle_t handle = nullptr;
};

namespace {

cudaDataType TypeOf(MatrixProduct::Type type) {
  switch (type) {
    case MatrixProduct::Type::kF32:
      return CUDA_R_32F;
    case MatrixProduct::Type::kF16:
      return CUDA_R_16F;
    case MatrixProduct::Type::kBF16:
      return CUDA_R_16BF;
  }
  return CUDA_R_32F;
}

cublasLtEpilogue_t EpilogueOf(const MatrixProduct& product) {
  const bool bias = product.bias != 0;
  switch (product.activation) {
    case MatrixProduct::Activation::kNone:
      return bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    case MatrixProduct::Activation::kRelu:
      return bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case MatrixProduct::Activation::kGelu:
      return bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  }
  return CUBLASLT_EPILOGUE_DEFAULT;
}

cublasOperation_t OperationOf(MatrixProduct::Transpose transpose) {
  return transpose == MatrixProduct::Transpose::kYes ? CUBLAS_OP_T : CUBLAS_OP_N;
}

// The library takes pointers; device addresses are numbers here.
void* Pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

// What the address is a multiple of; the library has no use for more than 256.
uint32_t AlignmentOf(CUdeviceptr address) {
  constexpr uint64_t kMost = 256;
  return static_cast<uint32_t>(
      std::min<uint64_t>(kMost, address == 0 ? kMost : address & ~(address - 1)));
}

// The descriptors of one product, as the library takes them: a is the job's b and the reverse.
class ProductCall final : public LibraryCall {
 public:
  ProductCall(const BlasLtFunctions& functions, cublasLtHandle_t handle,
              const MatrixProduct& product)
      : fns_(functions), handle_(handle), product_(product) {}
  ProductCall(const ProductCall&) = delete;
  ProductCall& operator=(const ProductCall&) = delete;
  ~ProductCall() override {
    for (cublasLtMatrixLayout_t layout : {a_, b_, c_, d_}) {
      if (layout != nullptr) fns_.cublasLtMatrixLayoutDestroy(layout);
    }
    if (operation_ != nullptr) fns_.cublasLtMatmulDescDestroy(operation_);
  }

  absl::Status Create() {
    WEFT_RETURN_IF_ERROR(CreateOperation());
    WEFT_RETURN_IF_ERROR(CreateLayout(product_.b, a_));
    WEFT_RETURN_IF_ERROR(CreateLayout(product_.a, b_));
    WEFT_RETURN_IF_ERROR(CreateLayout(product_.c.address != 0 ? product_.c : product_.d, c_));
    WEFT_RETURN_IF_ERROR(CreateLayout(product_.d, d_));
    cublasLtMatmulPreference_t preference = nullptr;
    WEFT_RETURN_IF_ERROR(fns_.Check(fns_.cublasLtMatmulPreferenceCreate(&preference),
                                    "cublasLtMatmulPreferenceCreate"));
    absl::Status chosen = ChooseAlgorithm(preference);
    fns_.cublasLtMatmulPreferenceDestroy(preference);
    return chosen;
  }

  absl::Status Enqueue(const StreamRef& stream) const override {
    WEFT_MAKE_CURRENT(stream.context());
    return fns_.Check(
        fns_.cublasLtMatmul(handle_, operation_, &product_.alpha, Pointer(product_.b.address), a_,
                            Pointer(product_.a.address), b_, &product_.beta, Pointer(AddressOfC()),
                            c_, Pointer(product_.d.address), d_, &algorithm_,
                            Pointer(product_.workspace), product_.workspace_bytes, stream.handle()),
        "cublasLtMatmul");
  }

 private:
  // Without c, beta is 0 and the library reads nothing there.
  CUdeviceptr AddressOfC() const {
    return product_.c.address != 0 ? product_.c.address : product_.d.address;
  }

  template <typename Value>
  absl::Status SetOperation(cublasLtMatmulDescAttributes_t attribute, const Value& value) {
    return fns_.Check(
        fns_.cublasLtMatmulDescSetAttribute(operation_, attribute, &value, sizeof value),
        "cublasLtMatmulDescSetAttribute");
  }

  absl::Status CreateOperation() {
    const cublasComputeType_t compute = product_.compute == MatrixProduct::Compute::kTF32
                                            ? CUBLAS_COMPUTE_32F_FAST_TF32
                                            : CUBLAS_COMPUTE_32F;
    WEFT_RETURN_IF_ERROR(fns_.Check(fns_.cublasLtMatmulDescCreate(&operation_, compute, CUDA_R_32F),
                                    "cublasLtMatmulDescCreate"));
    const cublasOperation_t of_a = OperationOf(product_.trans_b);
    const cublasOperation_t of_b = OperationOf(product_.trans_a);
    WEFT_RETURN_IF_ERROR(SetOperation(CUBLASLT_MATMUL_DESC_TRANSA, of_a));
    WEFT_RETURN_IF_ERROR(SetOperation(CUBLASLT_MATMUL_DESC_TRANSB, of_b));
    WEFT_RETURN_IF_ERROR(SetOperation(CUBLASLT_MATMUL_DESC_EPILOGUE, EpilogueOf(product_)));
    if (product_.bias == 0) return absl::OkStatus();
    const void* const bias = Pointer(product_.bias);
    return SetOperation(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  }

  absl::Status CreateLayout(const BatchedMatrix& matrix, cublasLtMatrixLayout_t& layout) {
    WEFT_RETURN_IF_ERROR(fns_.Check(
        fns_.cublasLtMatrixLayoutCreate(&layout, TypeOf(product_.type), matrix.columns, matrix.rows,
                                        static_cast<int64_t>(matrix.row_stride)),
        "cublasLtMatrixLayoutCreate"));
    if (product_.batch == 1) return absl::OkStatus();
    const auto batch = static_cast<int32_t>(product_.batch);
    const auto stride = static_cast<int64_t>(matrix.matrix_stride);
    WEFT_RETURN_IF_ERROR(
        fns_.Check(fns_.cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                                         &batch, sizeof batch),
                   "cublasLtMatrixLayoutSetAttribute"));
    return fns_.Check(
        fns_.cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                              &stride, sizeof stride),
        "cublasLtMatrixLayoutSetAttribute");
  }

  template <typename Value>
  absl::Status SetPreference(cublasLtMatmulPreference_t preference,
                             cublasLtMatmulPreferenceAttributes_t attribute, const Value& value) {
    return fns_.Check(
        fns_.cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value),
        "cublasLtMatmulPreferenceSetAttribute");
  }

  absl::Status ChooseAlgorithm(cublasLtMatmulPreference_t preference) {
    WEFT_RETURN_IF_ERROR(SetPreference(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                       product_.workspace_bytes));
    // Left out, the library takes all of them to be multiples of 256.
    const std::pair<cublasLtMatmulPreferenceAttributes_t, CUdeviceptr> operands[] = {
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, product_.b.address},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, product_.a.address},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, AddressOfC()},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, product_.d.address}};
    for (const auto& [attribute, address] : operands) {
      WEFT_RETURN_IF_ERROR(SetPreference(preference, attribute, AlignmentOf(address)));
    }
    cublasLtMatmulHeuristicResult_t result = {};
    int found = 0;
    WEFT_RETURN_IF_ERROR(fns_.Check(
        fns_.cublasLtMatmulAlgoGetHeuristic(handle_, operation_, a_, b_, c_, d_, preference,
                                            /*requestedAlgoCount=*/1, &result, &found),
        "cublasLtMatmulAlgoGetHeuristic"));
    if (found == 0) return absl::UnimplementedError("cuBLASLt has no algorithm for it");
    WEFT_RETURN_IF_ERROR(fns_.Check(result.state, "cublasLtMatmulAlgoGetHeuristic"));
    algorithm_ = result.algo;
    return absl::OkStatus();
  }

  const BlasLtFunctions& fns_;
  const cublasLtHandle_t handle_;
  const MatrixProduct product_;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr;
  cublasLtMatrixLayout_t b_ = nullptr;
  cublasLtMatrixLayout_t c_ = nullptr;
  cublasLtMatrixLayout_t d_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_ = {};
};

}  // namespace

BlasLt::BlasLt(std::unique_ptr<const Library> library) : library_(std::move(library)) {}
BlasLt::~BlasLt() = default;

absl::StatusOr<std::unique_ptr<const BlasLt>> BlasLt::Load(const Context& context) {
  WEFT_MAKE_CURRENT(context.ref());
  WEFT_ASSIGN_OR_RETURN(
      const ToolkitLibrary opened,
      ToolkitLibrary::Open(
          {"cuBLASLt", "WEFT_CUBLASLT", {"libcublasLt.so.13", "libcublasLt.so.12"}}));
  auto library = std::make_unique<Library>(context);
  WEFT_RETURN_IF_ERROR(library->functions.Resolve(opened));
  WEFT_RETURN_IF_ERROR(library->functions.Check(library->functions.cublasLtCreate(&library->handle),
                                                "cublasLtCreate"));
  return std::unique_ptr<const BlasLt>(new BlasLt(std::move(library)));
}

absl::StatusOr<std::shared_ptr<const LibraryCall>> BlasLt::Prepare(
    const MatrixProduct& product) const {
  WEFT_MAKE_CURRENT(library_->context);
  auto call = std::make_shared<ProductCall>(library_->functions, library_->handle, product);
  WEFT_RETURN_IF_ERROR(call->Create());
  return call;
}

}  // namespace weft::cuda
