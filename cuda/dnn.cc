#include "cuda/dnn.h"

#if __has_include(<cudnn.h>)
#include <cudnn.h>

#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/status_macros.h"
#include "cuda/own_memory.h"
#include "cuda/toolkit_library.h"

// Its functions of descriptors are marked as deprecated in favour of graphs, which need its frontend.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace weft::cuda {
namespace internal {

#define WEFT_DNN_FUNCTIONS(X)                \
  X(cudnnCreate)                             \
  X(cudnnDestroy)                            \
  X(cudnnSetStream)                          \
  X(cudnnGetErrorString)                     \
  X(cudnnCreateTensorDescriptor)             \
  X(cudnnSetTensor4dDescriptor)              \
  X(cudnnDestroyTensorDescriptor)            \
  X(cudnnCreateFilterDescriptor)             \
  X(cudnnSetFilter4dDescriptor)              \
  X(cudnnDestroyFilterDescriptor)            \
  X(cudnnCreateConvolutionDescriptor)        \
  X(cudnnSetConvolution2dDescriptor)         \
  X(cudnnSetConvolutionMathType)             \
  X(cudnnDestroyConvolutionDescriptor)       \
  X(cudnnCreateActivationDescriptor)         \
  X(cudnnSetActivationDescriptor)            \
  X(cudnnDestroyActivationDescriptor)        \
  X(cudnnGetConvolutionForwardWorkspaceSize) \
  X(cudnnConvolutionBiasActivationForward)

struct DnnFunctions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define WEFT_DNN_MEMBER(name) decltype(&::name) name = nullptr;
  WEFT_DNN_FUNCTIONS(WEFT_DNN_MEMBER)
#undef WEFT_DNN_MEMBER

  absl::Status Resolve(const ToolkitLibrary& library) {
    FunctionFinder finder(library);
#define WEFT_DNN_FIND(name) finder.Find(#name, name);
    WEFT_DNN_FUNCTIONS(WEFT_DNN_FIND)
#undef WEFT_DNN_FIND
    return finder.status();
  }

  // Errors of a kind share their thousands (cudnn_graph.h).
  absl::Status Check(cudnnStatus_t status, absl::string_view call) const {
    if (status == CUDNN_STATUS_SUCCESS) return absl::OkStatus();
    const std::string text =
        absl::StrCat(call, ": ", cudnnGetErrorString(status), " (", static_cast<int>(status), ")");
    const bool no_memory = status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
                           status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
    if (no_memory) return absl::ResourceExhaustedError(text);
    return status / 1000 == CUDNN_STATUS_NOT_SUPPORTED / 1000 ? absl::UnimplementedError(text)
                                                              : absl::InternalError(text);
  }
};

}  // namespace internal

using internal::DnnFunctions;

struct Dnn::Library {
  explicit Library(const Context& made_in) : context(made_in) {}
  const Context& context;
  DnnFunctions functions;
};

namespace {

// The one that takes any activation, and the same at every run.
constexpr cudnnConvolutionFwdAlgo_t kConvolutionAlgorithm =
    CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;

void* DnnPointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

class ConvolutionCall final : public LibraryCall {
 public:
  ConvolutionCall(const Context& context, const DnnFunctions& functions,
                  const Convolution& convolution)
      : context_(context), fns_(functions), c_(convolution) {}
  ConvolutionCall(const ConvolutionCall&) = delete;
  ConvolutionCall& operator=(const ConvolutionCall&) = delete;
  ~ConvolutionCall() override {
    const ScopedContext current(context_.ref());
    for (cudnnTensorDescriptor_t tensor : {x_, bias_, y_}) {
      if (tensor != nullptr) fns_.cudnnDestroyTensorDescriptor(tensor);
    }
    if (filter_ != nullptr) fns_.cudnnDestroyFilterDescriptor(filter_);
    if (operation_ != nullptr) fns_.cudnnDestroyConvolutionDescriptor(operation_);
    if (activation_ != nullptr) fns_.cudnnDestroyActivationDescriptor(activation_);
    if (handle_ != nullptr) fns_.cudnnDestroy(handle_);
  }

  absl::Status Create() {
    WEFT_RETURN_IF_ERROR(fns_.Check(fns_.cudnnCreate(&handle_), "cudnnCreate"));
    WEFT_RETURN_IF_ERROR(CreateTensor(x_, c_.images, c_.channels, c_.height, c_.width));
    WEFT_RETURN_IF_ERROR(CreateTensor(bias_, 1, c_.filters, 1, 1));
    WEFT_RETURN_IF_ERROR(CreateTensor(y_, c_.images, c_.filters, c_.out_height, c_.out_width));
    WEFT_RETURN_IF_ERROR(CreateFilter());
    WEFT_RETURN_IF_ERROR(CreateOperation());
    WEFT_RETURN_IF_ERROR(CreateActivation());
    WEFT_RETURN_IF_ERROR(
        fns_.Check(fns_.cudnnGetConvolutionForwardWorkspaceSize(
                       handle_, x_, filter_, operation_, y_, kConvolutionAlgorithm, &area_bytes_),
                   "cudnnGetConvolutionForwardWorkspaceSize"));
    area_ = c_.workspace;
    if (area_bytes_ <= c_.workspace_bytes) return absl::OkStatus();
    WEFT_ASSIGN_OR_RETURN(own_area_, OwnMemory::Create(context_, area_bytes_));
    area_ = own_area_->address();
    return absl::OkStatus();
  }

  absl::Status Enqueue(const StreamRef& stream) const override {
    static constexpr float kOne = 1;
    static constexpr float kZero = 0;
    WEFT_MAKE_CURRENT(context_.ref());
    const absl::MutexLock lock(&mutex_);
    WEFT_RETURN_IF_ERROR(
        fns_.Check(fns_.cudnnSetStream(handle_, stream.handle()), "cudnnSetStream"));
    return fns_.Check(fns_.cudnnConvolutionBiasActivationForward(
                          handle_, &kOne, x_, DnnPointer(c_.source), filter_, DnnPointer(c_.filter),
                          operation_, kConvolutionAlgorithm, DnnPointer(area_), area_bytes_, &kZero,
                          y_, DnnPointer(c_.destination), bias_, DnnPointer(c_.bias), activation_,
                          y_, DnnPointer(c_.destination)),
                      "cudnnConvolutionBiasActivationForward");
  }

 private:
  cudnnDataType_t type() const {
    return c_.type == Convolution::Type::kF16 ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT;
  }

  absl::Status CreateTensor(cudnnTensorDescriptor_t& tensor, int n, int c, int h, int w) {
    WEFT_RETURN_IF_ERROR(
        fns_.Check(fns_.cudnnCreateTensorDescriptor(&tensor), "cudnnCreateTensorDescriptor"));
    return fns_.Check(
        fns_.cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, type(), n, c, h, w),
        "cudnnSetTensor4dDescriptor");
  }

  absl::Status CreateFilter() {
    WEFT_RETURN_IF_ERROR(
        fns_.Check(fns_.cudnnCreateFilterDescriptor(&filter_), "cudnnCreateFilterDescriptor"));
    return fns_.Check(
        fns_.cudnnSetFilter4dDescriptor(filter_, type(), CUDNN_TENSOR_NCHW, c_.filters, c_.channels,
                                        c_.filter_height, c_.filter_width),
        "cudnnSetFilter4dDescriptor");
  }

  absl::Status CreateOperation() {
    WEFT_RETURN_IF_ERROR(fns_.Check(fns_.cudnnCreateConvolutionDescriptor(&operation_),
                                    "cudnnCreateConvolutionDescriptor"));
    WEFT_RETURN_IF_ERROR(
        fns_.Check(fns_.cudnnSetConvolution2dDescriptor(operation_, c_.pad_h, c_.pad_w, c_.stride_h,
                                                        c_.stride_w, c_.dilation_h, c_.dilation_w,
                                                        CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
                   "cudnnSetConvolution2dDescriptor"));
    // Left to itself, the library rounds f32 to 10 bits.
    return fns_.Check(
        fns_.cudnnSetConvolutionMathType(
            operation_, c_.type == Convolution::Type::kF16 ? CUDNN_TENSOR_OP_MATH : CUDNN_FMA_MATH),
        "cudnnSetConvolutionMathType");
  }

  absl::Status CreateActivation() {
    WEFT_RETURN_IF_ERROR(fns_.Check(fns_.cudnnCreateActivationDescriptor(&activation_),
                                    "cudnnCreateActivationDescriptor"));
    const cudnnActivationMode_t mode = c_.activation == Convolution::Activation::kRelu
                                           ? CUDNN_ACTIVATION_RELU
                                           : CUDNN_ACTIVATION_IDENTITY;
    return fns_.Check(
        fns_.cudnnSetActivationDescriptor(activation_, mode, CUDNN_PROPAGATE_NAN, /*coef=*/0),
        "cudnnSetActivationDescriptor");
  }

  const Context& context_;
  const DnnFunctions& fns_;
  const Convolution c_;
  cudnnHandle_t handle_ = nullptr;
  cudnnTensorDescriptor_t x_ = nullptr;
  cudnnTensorDescriptor_t bias_ = nullptr;
  cudnnTensorDescriptor_t y_ = nullptr;
  cudnnFilterDescriptor_t filter_ = nullptr;
  cudnnConvolutionDescriptor_t operation_ = nullptr;
  cudnnActivationDescriptor_t activation_ = nullptr;
  std::optional<OwnMemory> own_area_;
  CUdeviceptr area_ = 0;
  size_t area_bytes_ = 0;
  mutable absl::Mutex mutex_;  // the stream is a property of the handle
};

}  // namespace

absl::StatusOr<std::unique_ptr<const Dnn>> Dnn::Load(const Context& context) {
  WEFT_MAKE_CURRENT(context.ref());
  WEFT_ASSIGN_OR_RETURN(const ToolkitLibrary opened,
                        ToolkitLibrary::Open({"cuDNN", "WEFT_CUDNN", {"libcudnn.so.9"}}));
  auto library = std::make_unique<Library>(context);
  WEFT_RETURN_IF_ERROR(library->functions.Resolve(opened));
  return std::unique_ptr<const Dnn>(new Dnn(std::move(library)));
}

absl::StatusOr<std::shared_ptr<const LibraryCall>> Dnn::Prepare(
    const Convolution& convolution) const {
  WEFT_MAKE_CURRENT(library_->context.ref());
  auto call =
      std::make_shared<ConvolutionCall>(library_->context, library_->functions, convolution);
  WEFT_RETURN_IF_ERROR(call->Create());
  return call;
}

#pragma GCC diagnostic pop

#else  // no headers

namespace weft::cuda {

struct Dnn::Library {};

absl::StatusOr<std::unique_ptr<const Dnn>> Dnn::Load(const Context&) {
  return absl::NotFoundError("this build was made without its headers");
}

absl::StatusOr<std::shared_ptr<const LibraryCall>> Dnn::Prepare(const Convolution&) const {
  return absl::UnimplementedError("this build was made without its headers");
}

#endif

Dnn::Dnn(std::unique_ptr<const Library> library) : library_(std::move(library)) {}
Dnn::~Dnn() = default;

}  // namespace weft::cuda
