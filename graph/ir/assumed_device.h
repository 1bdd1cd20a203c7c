// The device that is planned for when there is none to ask (`weft plan` without a daemon).
//
// Thread safety: pure function.
#pragma once

#include "cuda/device_info.h"

namespace weft::ir {

// Ordinal 0, with the limits of every GPU of compute capability 8.0 to 10.0 (table "Technical
// Specifications per Compute Capability" of the CUDA C++ Programming Guide 13.0), and 24 GiB of
// memory, the smallest server card's of that range.
cuda::DeviceInfo AssumedDevice();

}  // namespace weft::ir
