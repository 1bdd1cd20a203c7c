// NVRTC, the run-time compiler of the CUDA Toolkit: CUDA C++ → machine code of one architecture. Loaded
// when first needed, so that programs run without it; it needs no GPU and no driver.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace weft::cuda {

struct NvrtcSource {
  enum class Output { kCubin, kPtx };
  struct Header {
    std::string name;  // as #include names it
    std::string code;
  };
  std::string file_name;  // for messages
  std::string code;
  std::vector<Header> headers;
  std::vector<std::string> options;  // as they are; one must be --gpu-architecture=…: sm_…
                                     // for a cubin, compute_… for PTX
  std::vector<std::string> name_expressions;  // "scale", "ns::axpy<float>"
  Output output = Output::kCubin;
};

struct NvrtcResult {
  std::string image;                       // a cubin, or PTX
  std::vector<std::string> lowered_names;  // by position in NvrtcSource::name_expressions
};

// A library that is there.
struct NvrtcFile {
  std::string path;
  // Real path, size and time of the last change: what is compiled under one value is interchangeable.
  std::string identity;
};

// Thread safety: all members may be called from any thread; compilations run side by side.
class Nvrtc {
 public:
  // The library's file, without opening it, which takes 7 ms. Looks for libnvrtc.so.13, then .12: at
  // $WEFT_NVRTC (a file) when set, in the folders of $LD_LIBRARY_PATH, in $CUDA_HOME/lib64, in
  // /usr/local/cuda/lib64, and last where else the dynamic loader looks (which does open it).
  // Errors: NOT_FOUND.
  static absl::StatusOr<NvrtcFile> Find();

  // Errors: NOT_FOUND when it cannot be opened, or is none.
  static absl::StatusOr<std::unique_ptr<const Nvrtc>> Load(const NvrtcFile& file);
  ~Nvrtc();

  // Blocks for 0.1 to 30 s. Errors: INVALID_ARGUMENT, whose message is the compiler's output;
  // INTERNAL when a call fails for another reason.
  absl::StatusOr<NvrtcResult> Compile(const NvrtcSource& source) const;

 private:
  struct Library;
  explicit Nvrtc(std::unique_ptr<const Library> library);
  const std::unique_ptr<const Library> library_;
};

}  // namespace weft::cuda
