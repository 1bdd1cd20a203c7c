#include "cuda/random.h"

#include <curand.h>

#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/status_macros.h"
#include "cuda/stream.h"
#include "cuda/toolkit_library.h"

namespace weft::cuda {
namespace internal {

#define WEFT_RANDOM_FUNCTIONS(X)        \
  X(curandCreateGenerator)              \
  X(curandDestroyGenerator)             \
  X(curandSetStream)                    \
  X(curandSetPseudoRandomGeneratorSeed) \
  X(curandSetGeneratorOffset)           \
  X(curandSetGeneratorOrdering)         \
  X(curandGenerateSeeds)                \
  X(curandGenerateUniform)              \
  X(curandGenerateUniformDouble)        \
  X(curandGenerateNormal)               \
  X(curandGenerateNormalDouble)         \
  X(curandGenerateLogNormal)            \
  X(curandGenerateLogNormalDouble)

struct RandomFunctions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define WEFT_RANDOM_MEMBER(name) decltype(&::name) name = nullptr;
  WEFT_RANDOM_FUNCTIONS(WEFT_RANDOM_MEMBER)
#undef WEFT_RANDOM_MEMBER

  absl::Status Resolve(const ToolkitLibrary& library) {
    FunctionFinder finder(library);
#define WEFT_RANDOM_FIND(name) finder.Find(#name, name);
    WEFT_RANDOM_FUNCTIONS(WEFT_RANDOM_FIND)
#undef WEFT_RANDOM_FIND
    return finder.status();
  }
};

}  // namespace internal

using internal::RandomFunctions;

namespace {

// cuRAND has no function for it.
absl::string_view NameOfRandomStatus(curandStatus_t status) {
  switch (status) {
    case CURAND_STATUS_VERSION_MISMATCH:
      return "CURAND_STATUS_VERSION_MISMATCH";
    case CURAND_STATUS_NOT_INITIALIZED:
      return "CURAND_STATUS_NOT_INITIALIZED";
    case CURAND_STATUS_ALLOCATION_FAILED:
      return "CURAND_STATUS_ALLOCATION_FAILED";
    case CURAND_STATUS_TYPE_ERROR:
      return "CURAND_STATUS_TYPE_ERROR";
    case CURAND_STATUS_OUT_OF_RANGE:
      return "CURAND_STATUS_OUT_OF_RANGE";
    case CURAND_STATUS_LENGTH_NOT_MULTIPLE:
      return "CURAND_STATUS_LENGTH_NOT_MULTIPLE";
    case CURAND_STATUS_LAUNCH_FAILURE:
      return "CURAND_STATUS_LAUNCH_FAILURE";
    case CURAND_STATUS_PREEXISTING_FAILURE:
      return "CURAND_STATUS_PREEXISTING_FAILURE";
    case CURAND_STATUS_INITIALIZATION_FAILED:
      return "CURAND_STATUS_INITIALIZATION_FAILED";
    case CURAND_STATUS_ARCH_MISMATCH:
      return "CURAND_STATUS_ARCH_MISMATCH";
    default:
      return "an error";
  }
}

absl::Status CheckRandom(curandStatus_t status, absl::string_view call) {
  if (status == CURAND_STATUS_SUCCESS) return absl::OkStatus();
  const std::string text =
      absl::StrCat(call, ": ", NameOfRandomStatus(status), " (", static_cast<int>(status), ")");
  return status == CURAND_STATUS_ALLOCATION_FAILED ? absl::ResourceExhaustedError(text)
                                                   : absl::InternalError(text);
}

}  // namespace

struct RandomGenerator::Library {
  explicit Library(const Context& made_in) : context(made_in) {}
  const Context& context;
  RandomFunctions functions;
};

namespace {

class NumbersCall final : public LibraryCall {
 public:
  NumbersCall(const ContextRef& context, const RandomFunctions& functions,
              const RandomNumbers& numbers, Stream own_stream)
      : context_(context), fns_(functions), numbers_(numbers), own_stream_(std::move(own_stream)) {}
  NumbersCall(const NumbersCall&) = delete;
  NumbersCall& operator=(const NumbersCall&) = delete;
  ~NumbersCall() override {
    const ScopedContext current(context_);
    if (generator_ == nullptr) return;
    fns_.curandSetStream(generator_, own_stream_.handle());  // the last one may be gone
    fns_.curandDestroyGenerator(generator_);
  }

  absl::Status Create() {
    WEFT_RETURN_IF_ERROR(
        CheckRandom(fns_.curandCreateGenerator(&generator_, CURAND_RNG_PSEUDO_PHILOX4_32_10),
                    "curandCreateGenerator"));
    WEFT_RETURN_IF_ERROR(
        CheckRandom(fns_.curandSetStream(generator_, own_stream_.handle()), "curandSetStream"));
    WEFT_RETURN_IF_ERROR(
        CheckRandom(fns_.curandSetGeneratorOrdering(generator_, CURAND_ORDERING_PSEUDO_LEGACY),
                    "curandSetGeneratorOrdering"));
    WEFT_RETURN_IF_ERROR(
        CheckRandom(fns_.curandSetPseudoRandomGeneratorSeed(generator_, numbers_.seed),
                    "curandSetPseudoRandomGeneratorSeed"));
    WEFT_RETURN_IF_ERROR(CheckRandom(fns_.curandGenerateSeeds(generator_), "curandGenerateSeeds"));
    return own_stream_.ref().Synchronize();
  }

  absl::Status Enqueue(const StreamRef& stream) const override {
    WEFT_MAKE_CURRENT(context_);
    const absl::MutexLock lock(&mutex_);
    WEFT_RETURN_IF_ERROR(
        CheckRandom(fns_.curandSetStream(generator_, stream.handle()), "curandSetStream"));
    WEFT_RETURN_IF_ERROR(CheckRandom(fns_.curandSetGeneratorOffset(generator_, numbers_.offset),
                                     "curandSetGeneratorOffset"));
    return CheckRandom(Generate(), "curandGenerate");
  }

 private:
  curandStatus_t Generate() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (numbers_.precision == RandomNumbers::Precision::kF64) return GenerateF64();
    auto* const to = reinterpret_cast<float*>(numbers_.destination);
    const auto mean = static_cast<float>(numbers_.mean);
    const auto deviation = static_cast<float>(numbers_.deviation);
    switch (numbers_.kind) {
      case RandomNumbers::Kind::kUniform:
        return fns_.curandGenerateUniform(generator_, to, numbers_.count);
      case RandomNumbers::Kind::kNormal:
        return fns_.curandGenerateNormal(generator_, to, numbers_.count, mean, deviation);
      case RandomNumbers::Kind::kLogNormal:
        return fns_.curandGenerateLogNormal(generator_, to, numbers_.count, mean, deviation);
    }
    return CURAND_STATUS_TYPE_ERROR;
  }

  curandStatus_t GenerateF64() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    auto* const to = reinterpret_cast<double*>(numbers_.destination);
    switch (numbers_.kind) {
      case RandomNumbers::Kind::kUniform:
        return fns_.curandGenerateUniformDouble(generator_, to, numbers_.count);
      case RandomNumbers::Kind::kNormal:
        return fns_.curandGenerateNormalDouble(generator_, to, numbers_.count, numbers_.mean,
                                               numbers_.deviation);
      case RandomNumbers::Kind::kLogNormal:
        return fns_.curandGenerateLogNormalDouble(generator_, to, numbers_.count, numbers_.mean,
                                                  numbers_.deviation);
    }
    return CURAND_STATUS_TYPE_ERROR;
  }

  const ContextRef context_;
  const RandomFunctions& fns_;
  const RandomNumbers numbers_;
  const Stream own_stream_;  // of the states' setup, which streams of jobs do not wait for
  curandGenerator_t generator_ = nullptr;
  mutable absl::Mutex mutex_;  // stream and offset are properties of the generator
};

}  // namespace

RandomGenerator::RandomGenerator(std::unique_ptr<const Library> library)
    : library_(std::move(library)) {}
RandomGenerator::~RandomGenerator() = default;

absl::StatusOr<std::unique_ptr<const RandomGenerator>> RandomGenerator::Load(
    const Context& context) {
  WEFT_MAKE_CURRENT(context.ref());
  WEFT_ASSIGN_OR_RETURN(const ToolkitLibrary opened,
                        ToolkitLibrary::Open({"cuRAND", "WEFT_CURAND", {"libcurand.so.10"}}));
  auto library = std::make_unique<Library>(context);
  WEFT_RETURN_IF_ERROR(library->functions.Resolve(opened));
  return std::unique_ptr<const RandomGenerator>(new RandomGenerator(std::move(library)));
}

absl::StatusOr<std::shared_ptr<const LibraryCall>> RandomGenerator::Prepare(
    const RandomNumbers& numbers) const {
  WEFT_MAKE_CURRENT(library_->context.ref());
  WEFT_ASSIGN_OR_RETURN(Stream own_stream, Stream::Create(library_->context, {}));
  auto call = std::make_shared<NumbersCall>(library_->context.ref(), library_->functions, numbers,
                                            std::move(own_stream));
  WEFT_RETURN_IF_ERROR(call->Create());
  return call;
}

}  // namespace weft::cuda
