// Compiles CUDA C++ for an architecture that need not be there: what `weft kernel` does. Unlike
// Compiler, which serves strangers, it takes any option of NVRTC, and a source of which no kernel is
// named: those that are no templates are then all in it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/compile/compiler.h"

namespace weft::kernels {

struct OfflineTarget {
  enum class Output { kCubin, kPtx };
  std::string architecture;  // "90", "90a": what stands behind "sm_"
  Output output = Output::kCubin;
};

// `source.entries` may be empty; `source.options` are NVRTC's, unchecked. Blocks for 0.1 to 30 s.
// Errors: INVALID_ARGUMENT with the compiler's lines; FAILED_PRECONDITION when there is no NVRTC.
absl::StatusOr<CompiledModule> CompileOffline(const CudaSource& source,
                                              const OfflineTarget& target);

}  // namespace weft::kernels
