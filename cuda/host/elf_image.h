// Takes the bytes of a shared object from memory whose size nobody says.
#pragma once

#include "base/unique_fd.h"
#include "cuda/host/cuda_api.h"

namespace weft::hostcuda {

// Copies the ELF shared object that begins at `image` into an anonymous file. Its own headers say
// how long it is; they are not believed before they fit each other. The bytes are read by the kernel
// (write(2)), so that an image which is cut off at the end of mapped memory is an error and not a
// crash. What is inside the segments is for the dynamic loader: an image is code, and trusted as such.
//
// Errors: NO_BINARY_FOR_GPU for the images of GPUs (fatbin, cubin, PTX) and of other processors,
// INVALID_IMAGE for everything else that is no shared object.
CUresult CopyElfImage(const void* image, UniqueFd* file);

}  // namespace weft::hostcuda
