// The schemas of rand.*.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/schema.h"

namespace weft::kernels {

// rand.{uniform,normal,log_normal}.
std::vector<KernelSchema> RandSchemas();

// Positions of their arguments; uniform has no kMean and no kDeviation.
struct RandArguments {
  enum : uint32_t { kDst, kSeed, kOffset, kN, kMean, kDeviation };
};

}  // namespace weft::kernels
