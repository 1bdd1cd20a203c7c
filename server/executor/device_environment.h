// The device of this executor: driver, context, properties, built-in kernels and those of jobs.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "cuda/context.h"
#include "cuda/device_info.h"
#include "cuda/driver.h"
#include "server/executor/device_compiler.h"
#include "server/executor/device_functions.h"
#include "server/executor/module_store.h"
#include "server/executor/user_modules.h"

namespace weft::executor {

struct DeviceOptions {
  int device = 0;  // ordinal
  cuda::DriverKind driver = cuda::DriverKind::kCuda;
  std::string driver_library;  // empty: search
};

// Owns all of it, destroyed in reverse order. Expensive: see cuda::Context.
// Thread safety: const members may be called from any thread.
class DeviceEnvironment {
 public:
  // Errors: those of cuda::LoadDriver, InitializeDriver, QueryDeviceInfo, Context::Create, and of
  // the built-in kernels' image.
  static absl::StatusOr<std::unique_ptr<DeviceEnvironment>> Create(const DeviceOptions& options);
  DeviceEnvironment(const DeviceEnvironment&) = delete;
  DeviceEnvironment& operator=(const DeviceEnvironment&) = delete;

  const cuda::Context& context() const { return context_; }
  const cuda::DeviceInfo& info() const { return info_; }
  ModuleStore& modules() { return modules_; }
  // Built-in kernels and calls of libraries.
  DeviceFunctions& functions() { return functions_; }
  UserModuleStore& user_modules() { return user_modules_; }

 private:
  DeviceEnvironment(std::unique_ptr<const cuda::Driver> driver, cuda::DeviceInfo info,
                    cuda::Context context)
      : driver_(std::move(driver)),
        info_(std::move(info)),
        context_(std::move(context)),
        modules_(context_),
        functions_(context_,
                   info_.is_cpu ? DeviceFunctions::Device::kCpu : DeviceFunctions::Device::kGpu,
                   modules_),
        user_modules_(context_, info_, [this] { return MakeDeviceCompiler(info_); }) {}

  const std::unique_ptr<const cuda::Driver> driver_;
  const cuda::DeviceInfo info_;
  const cuda::Context context_;
  ModuleStore modules_;
  DeviceFunctions functions_;
  UserModuleStore user_modules_;
};

}  // namespace weft::executor
