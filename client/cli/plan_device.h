// The device that `weft plan` plans for.
//
// Thread safety: pure functions.
#pragma once

#include "cuda/device_info.h"
#include "weft/v1/device.pb.h"

namespace weft::cli {

// What the API tells of a device. What it does not tell is as ir::AssumedDevice
// has it.
cuda::DeviceInfo FromProto(const v1::DeviceInfo& device);

}  // namespace weft::cli
