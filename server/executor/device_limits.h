// cuda::DeviceInfo ↔ the private protocol's DeviceLimits.
//
// weftd plans with what came through DeviceLimits. The executor plans with the same: with its own
// DeviceInfo the two could differ in a field that the message does not carry, and the plans with it.
#pragma once

#include "cuda/device_info.h"

namespace weft::executor {

namespace v1 {
class DeviceLimits;
}

// `free_memory_bytes` is not part of DeviceInfo and stays 0.
v1::DeviceLimits ToDeviceLimits(const cuda::DeviceInfo& info);
// The inverse, as far as the message goes; other fields have their defaults.
cuda::DeviceInfo FromDeviceLimits(const v1::DeviceLimits& limits);

}  // namespace weft::executor
