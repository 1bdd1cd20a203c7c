// Fills a DeviceInfo from the driver.
#pragma once

#include "absl/status/statusor.h"
#include "cuda/device_info.h"
#include "cuda/driver.h"

namespace weft::cuda {

// Number of devices. REQUIRES: InitializeDriver(driver) was OK.
absl::StatusOr<int> DeviceCount(const Driver& driver);

// Properties of device `ordinal`. Needs no context and makes none; some microseconds.
// REQUIRES: InitializeDriver(driver) was OK. Errors: INVALID_ARGUMENT (no such device).
absl::StatusOr<DeviceInfo> QueryDeviceInfo(const Driver& driver, int ordinal);

// Whether work of device `ordinal` can reach the memory of device `peer`. A device is no peer of
// its own. Needs no context. REQUIRES: InitializeDriver(driver) was OK.
// Errors: INVALID_ARGUMENT (no such device).
absl::StatusOr<bool> CanAccessPeer(const Driver& driver, int ordinal, int peer);

}  // namespace weft::cuda
