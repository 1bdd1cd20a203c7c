// CUDA C++ compiled for the CPU driver by the system's C++ compiler, behind the headers in host/.
//
//   WEFT_ASSIGN_OR_RETURN(auto compiler, HostCompiler::Create(HostCompiler::DefaultSettings()));
//   WEFT_ASSIGN_OR_RETURN(CompiledModule module, compiler->Compile(source));
//
// Products and sums are contracted to fused multiply-adds where the processor's basic instructions have one (not on
// x86-64), unless --fmad=false says otherwise. Images run on every processor of the architecture.
//
// The code is the client's and runs with the rights of the process that loads the image: there is no GPU that keeps it
// from the system's calls. Nothing here makes it safe to compile what one would not run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/compile/compiler.h"

namespace weft::kernels {

// Thread safety: all members may be called from any thread; compilations run side by side, each in a process.
class HostCompiler final : public Compiler {
 public:
  struct Settings {
    // Names or paths; the first that is found is taken.
    std::vector<std::string> compilers;
    // The first that has kernels/compile/host/cuda_on_host.h is taken.
    std::vector<std::string> header_folders;
    absl::Duration time_limit = absl::Seconds(60);
  };
  // $WEFT_CXX alone when it is set, else c++, g++ and clang++; the folders host/ beside the images of ImageFolders().
  static Settings DefaultSettings();

  // Runs no program. Errors: FAILED_PRECONDITION when there is no compiler, with what to install;
  // NOT_FOUND when the headers are missing, with the folders looked in.
  static absl::StatusOr<std::unique_ptr<HostCompiler>> Create(const Settings& settings);

  // Also INVALID_ARGUMENT for what CheckOptions, CheckHeaderName and CheckEntry refuse, and for more shared memory than
  // kMaxSharedBytes; DEADLINE_EXCEEDED after the time limit. A module's symbols are the entries themselves.
  absl::StatusOr<CompiledModule> Compile(const CudaSource& source) const override;
  std::string Identity() const override { return identity_; }

 private:
  HostCompiler() = default;

  std::string compiler_;  // its path
  std::string header_folder_;
  std::string identity_;
  absl::Duration time_limit_;
};

// Of the __shared__ variables of all kernels of a module: each worker thread gets this much memory for it.
inline constexpr uint64_t kMaxSharedBytes = 16 << 20;

}  // namespace weft::kernels
