// The schema of dnn.conv2d_forward.
#pragma once

#include <cstdint>

#include "kernels/schema.h"

namespace weft::kernels {

KernelSchema Conv2dForwardSchema();

// Positions of its arguments.
struct Conv2dArguments {
  enum : uint32_t {
    kX,
    kFilters,
    kBias,
    kY,
    kActivation,
    kPadH,
    kPadW,
    kStrideH,
    kStrideW,
    kDilationH,
    kDilationW,
    kImages,
    kChannels,
    kHeight,
    kWidth,
    kFilterCount,
    kFilterHeight,
    kFilterWidth,
    kOutHeight,
    kOutWidth,
  };
  // Of kActivation.
  enum class Activation : uint32_t { kNone, kRelu };
};

}  // namespace weft::kernels
