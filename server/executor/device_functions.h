// What the device of this executor can run of what jobs name: the built-in kernels, and the calls of
// libraries, which on a GPU are those of the CUDA Toolkit and on a CPU device kernels too.
#pragma once

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "cuda/blas_lt.h"
#include "cuda/context.h"
#include "cuda/dnn.h"
#include "cuda/fft.h"
#include "cuda/prim.h"
#include "cuda/random.h"
#include "cuda/solver.h"
#include "cuda/sparse.h"
#include "graph/build/bindings.h"
#include "server/executor/errors.h"
#include "server/executor/module_store.h"

namespace weft::executor {

// Thread safety: all members may be called from any thread. The context and the modules outlive it,
// and it outlives the calls that it gave out.
class DeviceFunctions final : public build::FunctionResolver {
 public:
  enum class Device : uint8_t { kGpu, kCpu };

  DeviceFunctions(const cuda::Context& context, Device device, ModuleStore& modules)
      : context_(context), device_(device), modules_(modules) {}
  DeviceFunctions(const DeviceFunctions&) = delete;
  DeviceFunctions& operator=(const DeviceFunctions&) = delete;

  absl::StatusOr<cuda::Function> Resolve(const std::string& symbol) override {
    return modules_.Resolve(symbol);
  }
  // The first call of a library loads it: some 10 ms. Errors: LibraryMissingError,
  // LibraryRefusesError.
  absl::StatusOr<std::shared_ptr<const cuda::LibraryCall>> ResolveLibrary(
      const build::LibraryRequest& request) override;

 private:
  absl::StatusOr<const cuda::BlasLt*> FindBlas();
  absl::StatusOr<const cuda::Fft*> FindFft();
  absl::StatusOr<const cuda::Prim*> FindPrim();
  // The library in `kept`, loaded at the first call.
  template <typename Library>
  absl::StatusOr<const Library*> FindIn(std::unique_ptr<const Library> DeviceFunctions::*kept,
                                        const LibraryToInstall& library);
  absl::Status LoadTwins();

  const cuda::Context& context_;
  const Device device_;
  ModuleStore& modules_;
  absl::Mutex mutex_;
  std::unique_ptr<const cuda::BlasLt> blas_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<const cuda::Fft> fft_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<const cuda::Prim> prim_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<const cuda::Dnn> dnn_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<const cuda::RandomGenerator> random_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<const cuda::Solver> solver_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<const cuda::Sparse> sparse_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace weft::executor
