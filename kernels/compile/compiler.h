// Compilers of kernels that come as CUDA C++ source: one for each driver.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace weft::kernels {

// CUDA C++ as a job brings it.
struct CudaSource {
  struct Header {
    std::string name;  // as #include names it
    std::string code;
  };
  std::string name;  // for the compiler's messages: "<name>.cu"
  std::string code;
  std::vector<std::string> options;  // those that CheckOptions allows
  std::vector<Header> headers;
  // The kernels wanted, as name expressions: "scale", "ns::axpy<float>".
  std::vector<std::string> entries;
  // The __constant__ and __device__ variables wanted, as C++ names them: "coefficients", "ns::bias".
  std::vector<std::string> variables;
};

struct CompiledModule {
  std::string image;  // for cuda::Module::Load
  // In the image: by position in CudaSource::entries, then by position in CudaSource::variables.
  std::vector<std::string> symbols;
};

// Thread safety: all members may be called from any thread; compilations run side by side.
class Compiler {
 public:
  virtual ~Compiler() = default;

  // Compiles for the device that the compiler was made for. Blocks for 0.1 to 30 s.
  // Errors: INVALID_ARGUMENT with the compiler's own lines (at most kMaxLogBytes);
  // FAILED_PRECONDITION when there is no compiler, saying what to install.
  virtual absl::StatusOr<CompiledModule> Compile(const CudaSource& source) const = 0;

  // Names compiler, version and target: images made under one value are interchangeable.
  virtual std::string Identity() const = 0;
};

// Of a compiler's output, from its beginning, in an error.
inline constexpr size_t kMaxLogBytes = 4096;

}  // namespace weft::kernels
