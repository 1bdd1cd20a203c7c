// What an executor says of its device, as the rest of weftd reads it.
#pragma once

#include "absl/status/statusor.h"
#include "cuda/device_info.h"

namespace weft::executor::v1 {
class DeviceLimits;
}

namespace weft::daemon {

// INVALID_ARGUMENT when what planning divides by or bounds with is missing.
absl::StatusOr<cuda::DeviceInfo> DeviceInfoFrom(const executor::v1::DeviceLimits& limits);

}  // namespace weft::daemon
