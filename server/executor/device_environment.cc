#include "server/executor/device_environment.h"

#include "base/status_macros.h"
#include "cuda/device_query.h"
#include "cuda/driver_loader.h"
#include "kernels/image_store.h"
#include "server/executor/errors.h"

namespace weft::executor {

absl::StatusOr<std::unique_ptr<DeviceEnvironment>> DeviceEnvironment::Create(
    const DeviceOptions& options) {
  WEFT_ASSIGN_OR_RETURN(
      std::unique_ptr<const cuda::Driver> driver,
      cuda::LoadDriver({.kind = options.driver, .library_path = options.driver_library}));
  WEFT_RETURN_IF_ERROR(cuda::InitializeDriver(*driver));
  WEFT_ASSIGN_OR_RETURN(const int count, cuda::DeviceCount(*driver));
  if (options.device < 0 || options.device >= count) {
    return NoSuchDeviceError(options.device, count);
  }
  WEFT_ASSIGN_OR_RETURN(cuda::DeviceInfo info, cuda::QueryDeviceInfo(*driver, options.device));
  // The file is read before the context is made: without it a GPU need not be set up.
  WEFT_ASSIGN_OR_RETURN(const std::string image,
                        kernels::LoadBuiltinImage(options.driver == cuda::DriverKind::kHost
                                                      ? kernels::ImageKind::kHost
                                                      : kernels::ImageKind::kCuda));
  // Handlers that wait sleep; the launch loop never waits inside the driver.
  WEFT_ASSIGN_OR_RETURN(cuda::Context context,
                        cuda::Context::Create(*driver, options.device, cuda::WaitMode::kBlocking));
  std::unique_ptr<DeviceEnvironment> environment(
      new DeviceEnvironment(std::move(driver), std::move(info), std::move(context)));
  WEFT_RETURN_IF_ERROR(environment->modules().Load("builtin", image));
  return environment;
}

}  // namespace weft::executor
