// The rule of compact, shared by both sides.
#pragma once

#include <cstdint>

#include "kernels/builtin/half_types.h"

namespace weft::kernels {

// As NumPy reads a mask of bytes.
WEFT_HOST_DEVICE bool IsKept(uint8_t mask) { return mask != 0; }

}  // namespace weft::kernels
