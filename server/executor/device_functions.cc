#include "server/executor/device_functions.h"

#include <utility>

#include "absl/strings/match.h"
#include "base/status_macros.h"
#include "kernels/image_store.h"
#include "server/executor/errors.h"
#include "server/executor/library_arguments.h"
#include "server/executor/solver_arguments.h"
#include "server/executor/sparse_arguments.h"

namespace weft::executor {
namespace {

using Prepared = absl::StatusOr<std::shared_ptr<const cuda::LibraryCall>>;

Prepared Explained(const build::LibraryRequest& request, Prepared prepared) {
  if (prepared.ok()) return prepared;
  return LibraryRefusesError(request.schema.name, request.schema.library->library,
                             prepared.status());
}

}  // namespace

Prepared DeviceFunctions::ResolveLibrary(const build::LibraryRequest& request) {
  if (device_ == Device::kCpu) {
    WEFT_RETURN_IF_ERROR(LoadTwins());
    return nullptr;
  }
  const std::string& name = request.schema.name;
  if (name == "blas.matmul") {
    WEFT_ASSIGN_OR_RETURN(const cuda::BlasLt* blas, FindBlas());
    return Explained(request, blas->Prepare(ProductOf(request)));
  }
  if (absl::StartsWith(name, "fft.")) {
    WEFT_ASSIGN_OR_RETURN(const cuda::Fft* fft, FindFft());
    return Explained(request, fft->Prepare(TransformOf(request)));
  }
  if (absl::StartsWith(name, "prim.")) {
    WEFT_ASSIGN_OR_RETURN(const cuda::Prim* prim, FindPrim());
    return Explained(request, prim->Prepare(PrimRequestOf(request)));
  }
  if (name == "dnn.conv2d_forward") {
    WEFT_ASSIGN_OR_RETURN(const cuda::Dnn* dnn,
                          FindIn(&DeviceFunctions::dnn_, {"cuDNN", "libcudnn9", "WEFT_CUDNN"}));
    return Explained(request, dnn->Prepare(ConvolutionOf(request)));
  }
  if (absl::StartsWith(name, "rand.")) {
    WEFT_ASSIGN_OR_RETURN(
        const cuda::RandomGenerator* random,
        FindIn(&DeviceFunctions::random_, {"cuRAND", "libcurand", "WEFT_CURAND"}));
    return Explained(request, random->Prepare(NumbersOf(request)));
  }
  if (absl::StartsWith(name, "solver.")) {
    WEFT_ASSIGN_OR_RETURN(
        const cuda::Solver* solver,
        FindIn(&DeviceFunctions::solver_, {"cuSOLVER", "libcusolver", "WEFT_CUSOLVER"}));
    return Explained(request, PrepareSolution(request, *solver, *this));
  }
  if (absl::StartsWith(name, "sparse.")) {
    WEFT_ASSIGN_OR_RETURN(
        const cuda::Sparse* sparse,
        FindIn(&DeviceFunctions::sparse_, {"cuSPARSE", "libcusparse", "WEFT_CUSPARSE"}));
    return Explained(request, PrepareSparseProduct(request, *sparse, *this));
  }
  return WEFT_BUG("a call of a library has nothing that carries it out");
}

absl::StatusOr<const cuda::BlasLt*> DeviceFunctions::FindBlas() {
  const absl::MutexLock lock(&mutex_);
  if (blas_ != nullptr) return blas_.get();
  absl::StatusOr<std::unique_ptr<const cuda::BlasLt>> loaded = cuda::BlasLt::Load(context_);
  if (!loaded.ok()) {
    return LibraryMissingError({"cuBLASLt", "libcublas", "WEFT_CUBLASLT"}, loaded.status());
  }
  blas_ = *std::move(loaded);
  return blas_.get();
}

absl::StatusOr<const cuda::Fft*> DeviceFunctions::FindFft() {
  const absl::MutexLock lock(&mutex_);
  if (fft_ != nullptr) return fft_.get();
  absl::StatusOr<std::unique_ptr<const cuda::Fft>> loaded = cuda::Fft::Load(context_);
  if (!loaded.ok()) {
    return LibraryMissingError({"cuFFT", "libcufft", "WEFT_CUFFT"}, loaded.status());
  }
  fft_ = *std::move(loaded);
  return fft_.get();
}

absl::StatusOr<const cuda::Prim*> DeviceFunctions::FindPrim() {
  const absl::MutexLock lock(&mutex_);
  if (prim_ != nullptr) return prim_.get();
  absl::StatusOr<std::unique_ptr<const cuda::Prim>> loaded =
      cuda::Prim::Load(context_, kernels::ImageFolders());
  if (!loaded.ok()) return PrimMissingError(loaded.status());
  prim_ = *std::move(loaded);
  return prim_.get();
}

template <typename Library>
absl::StatusOr<const Library*> DeviceFunctions::FindIn(
    std::unique_ptr<const Library> DeviceFunctions::*kept, const LibraryToInstall& library) {
  const absl::MutexLock lock(&mutex_);
  std::unique_ptr<const Library>& found = this->*kept;
  if (found != nullptr) return found.get();
  absl::StatusOr<std::unique_ptr<const Library>> loaded = Library::Load(context_);
  if (!loaded.ok()) return LibraryMissingError(library, loaded.status());
  found = *std::move(loaded);
  return found.get();
}

absl::Status DeviceFunctions::LoadTwins() {
  constexpr char kName[] = "library";
  const absl::MutexLock lock(&mutex_);
  if (modules_.IsLoaded(kName)) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(const std::string image,
                        kernels::LoadBuiltinImage(kernels::ImageKind::kHostLibrary));
  return modules_.Load(kName, image);
}

}  // namespace weft::executor
