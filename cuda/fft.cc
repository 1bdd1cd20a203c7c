#include "cuda/fft.h"

#include <cufft.h>

#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/status_macros.h"
#include "cuda/toolkit_library.h"

namespace weft::cuda {
namespace internal {

#define WEFT_FFT_FUNCTIONS(X) \
  X(cufftCreate)              \
  X(cufftDestroy)             \
  X(cufftSetAutoAllocation)   \
  X(cufftMakePlanMany64)      \
  X(cufftSetWorkArea)         \
  X(cufftSetStream)           \
  X(cufftExecC2C)             \
  X(cufftExecR2C)             \
  X(cufftExecC2R)             \
  X(cufftExecZ2Z)             \
  X(cufftExecD2Z)             \
  X(cufftExecZ2D)

struct FftFunctions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define WEFT_FFT_MEMBER(name) decltype(&::name) name = nullptr;
  WEFT_FFT_FUNCTIONS(WEFT_FFT_MEMBER)
#undef WEFT_FFT_MEMBER

  absl::Status Resolve(const ToolkitLibrary& library) {
    FunctionFinder finder(library);
#define WEFT_FFT_FIND(name) finder.Find(#name, name);
    WEFT_FFT_FUNCTIONS(WEFT_FFT_FIND)
#undef WEFT_FFT_FIND
    return finder.status();
  }
};

}  // namespace internal

using internal::FftFunctions;

namespace {

// cuFFT has no function for it.
absl::string_view NameOfResult(cufftResult result) {
  switch (result) {
    case CUFFT_INVALID_PLAN:
      return "CUFFT_INVALID_PLAN";
    case CUFFT_ALLOC_FAILED:
      return "CUFFT_ALLOC_FAILED";
    case CUFFT_INVALID_TYPE:
      return "CUFFT_INVALID_TYPE";
    case CUFFT_INVALID_VALUE:
      return "CUFFT_INVALID_VALUE";
    case CUFFT_INTERNAL_ERROR:
      return "CUFFT_INTERNAL_ERROR";
    case CUFFT_EXEC_FAILED:
      return "CUFFT_EXEC_FAILED";
    case CUFFT_SETUP_FAILED:
      return "CUFFT_SETUP_FAILED";
    case CUFFT_INVALID_SIZE:
      return "CUFFT_INVALID_SIZE";
    case CUFFT_NOT_SUPPORTED:
      return "CUFFT_NOT_SUPPORTED";
    default:
      return "an error";
  }
}

absl::Status CheckFft(cufftResult result, absl::string_view call) {
  if (result == CUFFT_SUCCESS) return absl::OkStatus();
  const std::string text =
      absl::StrCat(call, ": ", NameOfResult(result), " (", static_cast<int>(result), ")");
  if (result == CUFFT_ALLOC_FAILED) return absl::ResourceExhaustedError(text);
  if (result == CUFFT_NOT_SUPPORTED) return absl::UnimplementedError(text);
  return absl::InternalError(text);
}

cufftType TransformTypeOf(const FourierTransform& transform) {
  const bool is_double = transform.precision == FourierTransform::Precision::kF64;
  switch (transform.kind) {
    case FourierTransform::Kind::kC2C:
      return is_double ? CUFFT_Z2Z : CUFFT_C2C;
    case FourierTransform::Kind::kR2C:
      return is_double ? CUFFT_D2Z : CUFFT_R2C;
    case FourierTransform::Kind::kC2R:
      return is_double ? CUFFT_Z2D : CUFFT_C2R;
  }
  return CUFFT_C2C;
}

}  // namespace

struct Fft::Library {
  explicit Library(const Context& made_in) : context(made_in.ref()) {}
  const ContextRef context;
  FftFunctions functions;
};

namespace {

// A plan and its arguments.
class TransformCall final : public LibraryCall {
 public:
  TransformCall(const ContextRef& context, const FftFunctions& functions,
                FourierTransform transform)
      : context_(context), fns_(functions), transform_(std::move(transform)) {}
  TransformCall(const TransformCall&) = delete;
  TransformCall& operator=(const TransformCall&) = delete;
  ~TransformCall() override {
    const ScopedContext current(context_);
    if (plan_.has_value()) fns_.cufftDestroy(*plan_);
  }

  absl::Status Create() {
    cufftHandle plan = 0;
    WEFT_RETURN_IF_ERROR(CheckFft(fns_.cufftCreate(&plan), "cufftCreate"));
    plan_ = plan;
    WEFT_RETURN_IF_ERROR(CheckFft(fns_.cufftSetAutoAllocation(plan, 0), "cufftSetAutoAllocation"));
    std::vector<long long> extents(transform_.extents.begin(), transform_.extents.end());
    size_t needed = 0;
    WEFT_RETURN_IF_ERROR(
        CheckFft(fns_.cufftMakePlanMany64(plan, static_cast<int>(extents.size()), extents.data(),
                                          /*inembed=*/nullptr, 1, 0, /*onembed=*/nullptr, 1, 0,
                                          TransformTypeOf(transform_),
                                          static_cast<long long>(transform_.batch), &needed),
                 "cufftMakePlanMany64"));
    if (needed > transform_.workspace_bytes) {
      return absl::ResourceExhaustedError(absl::StrCat("cuFFT needs ", needed,
                                                       " bytes of workspace, and the plan has ",
                                                       transform_.workspace_bytes));
    }
    return CheckFft(fns_.cufftSetWorkArea(plan, reinterpret_cast<void*>(transform_.workspace)),
                    "cufftSetWorkArea");
  }

  absl::Status Enqueue(const StreamRef& stream) const override {
    WEFT_MAKE_CURRENT(context_);
    const absl::MutexLock lock(&mutex_);
    WEFT_RETURN_IF_ERROR(CheckFft(fns_.cufftSetStream(*plan_, stream.handle()), "cufftSetStream"));
    return CheckFft(Execute(), "cufftExec");
  }

 private:
  cufftResult Execute() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    void* const from = reinterpret_cast<void*>(transform_.source);
    void* const to = reinterpret_cast<void*>(transform_.destination);
    const int sign = transform_.direction == FourierTransform::Direction::kForward ? CUFFT_FORWARD
                                                                                   : CUFFT_INVERSE;
    switch (TransformTypeOf(transform_)) {
      case CUFFT_C2C:
        return fns_.cufftExecC2C(*plan_, static_cast<cufftComplex*>(from),
                                 static_cast<cufftComplex*>(to), sign);
      case CUFFT_R2C:
        return fns_.cufftExecR2C(*plan_, static_cast<cufftReal*>(from),
                                 static_cast<cufftComplex*>(to));
      case CUFFT_C2R:
        return fns_.cufftExecC2R(*plan_, static_cast<cufftComplex*>(from),
                                 static_cast<cufftReal*>(to));
      case CUFFT_Z2Z:
        return fns_.cufftExecZ2Z(*plan_, static_cast<cufftDoubleComplex*>(from),
                                 static_cast<cufftDoubleComplex*>(to), sign);
      case CUFFT_D2Z:
        return fns_.cufftExecD2Z(*plan_, static_cast<cufftDoubleReal*>(from),
                                 static_cast<cufftDoubleComplex*>(to));
      case CUFFT_Z2D:
        return fns_.cufftExecZ2D(*plan_, static_cast<cufftDoubleComplex*>(from),
                                 static_cast<cufftDoubleReal*>(to));
    }
    return CUFFT_INVALID_TYPE;
  }

  const ContextRef context_;
  const FftFunctions& fns_;
  const FourierTransform transform_;
  std::optional<cufftHandle> plan_;
  mutable absl::Mutex mutex_;  // the stream is a property of the plan
};

}  // namespace

Fft::Fft(std::unique_ptr<const Library> library) : library_(std::move(library)) {}
Fft::~Fft() = default;

absl::StatusOr<std::unique_ptr<const Fft>> Fft::Load(const Context& context) {
  WEFT_MAKE_CURRENT(context.ref());
  WEFT_ASSIGN_OR_RETURN(
      const ToolkitLibrary opened,
      ToolkitLibrary::Open({"cuFFT", "WEFT_CUFFT", {"libcufft.so.12", "libcufft.so.11"}}));
  auto library = std::make_unique<Library>(context);
  WEFT_RETURN_IF_ERROR(library->functions.Resolve(opened));
  return std::unique_ptr<const Fft>(new Fft(std::move(library)));
}

absl::StatusOr<std::shared_ptr<const LibraryCall>> Fft::Prepare(
    const FourierTransform& transform) const {
  WEFT_MAKE_CURRENT(library_->context);
  auto call = std::make_shared<TransformCall>(library_->context, library_->functions, transform);
  WEFT_RETURN_IF_ERROR(call->Create());
  return call;
}

}  // namespace weft::cuda
