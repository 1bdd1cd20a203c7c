// The compiler for CUDA C++ source of one device, with its cache on disk.
//
// Thread safety: pure function, apart from loading the compiler.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "cuda/device_info.h"
#include "kernels/compile/compiler.h"

namespace weft::executor {

// NVRTC for a GPU, the system's C++ compiler for a CPU device. Errors: FAILED_PRECONDITION when it is not there, with what to install.
absl::StatusOr<std::unique_ptr<const kernels::Compiler>> MakeDeviceCompiler(
    const cuda::DeviceInfo& device);

}  // namespace weft::executor
