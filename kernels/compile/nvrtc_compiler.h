// CUDA C++ → machine code of one architecture, by NVRTC (the run-time compiler of the CUDA Toolkit),
// which is opened at the first compilation: a server without it serves all jobs that bring no source,
// and one whose sources are all compiled already does not wait for it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/base/call_once.h"
#include "absl/status/statusor.h"
#include "cuda/nvrtc.h"
#include "kernels/compile/compiler.h"

namespace weft::kernels {

// Compute capability of the device.
struct CudaArchitecture {
  int major = 0;
  int minor = 0;
};

class NvrtcCompiler final : public Compiler {
 public:
  // Errors: FAILED_PRECONDITION when NVRTC is not found (cuda/nvrtc.h), with what to install.
  static absl::StatusOr<std::unique_ptr<NvrtcCompiler>> Create(CudaArchitecture architecture);

  absl::StatusOr<CompiledModule> Compile(const CudaSource& source) const override;
  std::string Identity() const override;

 private:
  NvrtcCompiler(cuda::NvrtcFile file, std::string architecture)
      : file_(std::move(file)), architecture_(std::move(architecture)) {}

  // Opened once; an error is kept, too.
  const absl::StatusOr<std::unique_ptr<const cuda::Nvrtc>>& Opened() const;

  const cuda::NvrtcFile file_;
  const std::string architecture_;  // "sm_90"
  mutable absl::once_flag opening_;
  mutable absl::StatusOr<std::unique_ptr<const cuda::Nvrtc>> nvrtc_;  // written by `opening_` alone
};

}  // namespace weft::kernels
