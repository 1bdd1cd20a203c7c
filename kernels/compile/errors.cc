#include "kernels/compile/errors.h"

#include "absl/strings/str_cat.h"
#include "kernels/compile/compiler.h"

namespace weft::kernels {

absl::Status CompileError(absl::string_view module, absl::string_view log) {
  const absl::string_view shown = log.substr(0, kMaxLogBytes);
  return absl::InvalidArgumentError(absl::StrCat("module \"", module, "\" does not compile:\n",
                                                 shown, shown.size() < log.size() ? "\n…" : ""));
}

absl::Status CompilerFailedError(absl::string_view why) {
  return absl::InternalError(
      absl::StrCat("the compiler failed: ", why, "; bring PTX, a cubin or a fatbin"));
}

absl::Status UnknownEntryError(absl::string_view module, absl::string_view entry) {
  return absl::NotFoundError(absl::StrCat("module \"", module, "\" has no kernel \"", entry,
                                          "\"; name a __global__ function of it"));
}

absl::Status UnknownVariableError(absl::string_view module, absl::string_view variable) {
  return absl::NotFoundError(
      absl::StrCat("module \"", module, "\" has no variable \"", variable,
                   "\"; name a __constant__ or __device__ variable of it that is not const"));
}

absl::Status NoNvrtcError() {
  return absl::FailedPreconditionError(
      "kernels as CUDA C++ source need NVRTC, and the server finds no libnvrtc.so.13 or .12: "
      "install "
      "the CUDA Toolkit's NVRTC library, or set WEFT_NVRTC to the file; or bring PTX, a cubin or a "
      "fatbin");
}

absl::Status BadImageError(absl::string_view module, absl::string_view kind,
                           absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("module \"", module, "\" is no ", kind, ": ", why, "; build it anew"));
}

absl::Status CompressedImageError(absl::string_view module, absl::string_view architecture) {
  return absl::UnimplementedError(
      absl::StrCat("the image for ", architecture, " in \"", module,
                   "\" is compressed, and is not read; build it with nvcc --no-compress"));
}

}  // namespace weft::kernels
