// CUDA C++ → machine code of one architecture, by NVRTC (the run-time compiler of the CUDA Toolkit),
// which is loaded when a compiler is made: a server without it serves all jobs that bring no source.
#pragma once

#include <memory>
#include <string>
#include <utility>

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
  NvrtcCompiler(std::unique_ptr<const cuda::Nvrtc> nvrtc, std::string architecture)
      : nvrtc_(std::move(nvrtc)), architecture_(std::move(architecture)) {}

  const std::unique_ptr<const cuda::Nvrtc> nvrtc_;
  const std::string architecture_;  // "sm_90"
};

}  // namespace weft::kernels
