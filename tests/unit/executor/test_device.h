// The CPU driver with two devices, set up once for the whole test program. A test that loses a
// context uses device 1 and is the only one to do so: a lost context stays lost.
#pragma once

#include <cstdint>

#include "base/unique_fd.h"
#include "cuda/context.h"
#include "cuda/driver.h"

namespace weft::executor {

inline constexpr int kHealthyDevice = 0;
inline constexpr int kDoomedDevice = 1;

// Loaded at the first call; ends the program when that fails, for nothing could be tested.
const cuda::Driver& TestDriver();
cuda::Context MakeContext(int device = kHealthyDevice);
// One granule of memory of device 1, as the other executor would have exported it.
UniqueFd MemoryOfOtherDevice(const cuda::Context& context, uint64_t& size_bytes);
// Name and bytes of test_image.cc.
const char* TestImagePath();

}  // namespace weft::executor
