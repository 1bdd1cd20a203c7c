// The functions of image_abi.h that a kernel with threads calls.
#pragma once

#include "cuda/host/image_abi.h"

namespace weft::hostcuda {

const weft_host_runtime& BlockRuntime();

}  // namespace weft::hostcuda
