// The images of the built-in kernels: files made by the build, found at run time.
//
// Thread safety: pure functions, apart from reading files.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace weft::kernels {

// For which driver an image is.
enum class ImageKind {
  kCuda,  // builtin.fatbin: machine code for the architectures of the build, and PTX of the newest
  kHost,  // builtin.host.so: a host image (cuda/host/image_abi.h)
  kHostLibrary,  // library.host.so: a host image, the twins of library calls
};

// Folders in which images are looked for, in this order: $WEFT_KERNEL_DIR when set; share/weft/kernels beside the
// folder of the running program (bin/) and beside its parent (bin/tests/).
std::vector<std::string> ImageFolders();

// The bytes of the image of the built-in kernels, for cuda::Module::Load.
// Errors: NOT_FOUND, with the folders looked in and what to do.
absl::StatusOr<std::string> LoadBuiltinImage(ImageKind kind);

}  // namespace weft::kernels
