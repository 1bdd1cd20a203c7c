#include "server/executor/device_compiler.h"

#include <utility>

#include "base/status_macros.h"
#include "kernels/compile/caching_compiler.h"
#include "kernels/compile/host_compiler.h"
#include "kernels/compile/nvrtc_compiler.h"

namespace weft::executor {
namespace {

std::unique_ptr<const kernels::Compiler> Cached(std::unique_ptr<const kernels::Compiler> compiler) {
  return std::make_unique<const kernels::CachingCompiler>(
      std::move(compiler), kernels::ImageCache(kernels::ImageCache::DefaultFolder()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<const kernels::Compiler>> MakeDeviceCompiler(
    const cuda::DeviceInfo& device) {
  std::unique_ptr<const kernels::Compiler> compiler;
  if (device.is_cpu) {
    WEFT_ASSIGN_OR_RETURN(compiler,
                          kernels::HostCompiler::Create(kernels::HostCompiler::DefaultSettings()));
    return Cached(std::move(compiler));
  }
  WEFT_ASSIGN_OR_RETURN(
      compiler, kernels::NvrtcCompiler::Create({device.compute_major, device.compute_minor}));
  return Cached(std::move(compiler));
}

}  // namespace weft::executor
