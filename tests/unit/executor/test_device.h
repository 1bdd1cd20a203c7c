// The CPU driver with two devices, set up once for the whole test program. A test that loses a
// context uses device 1 and is the only one to do so: a lost context stays lost.
#pragma once

#include "cuda/context.h"
#include "cuda/driver.h"

namespace weft::executor {

inline constexpr int kHealthyDevice = 0;
inline constexpr int kDoomedDevice = 1;

// Loaded at the first call; ends the program when that fails, for nothing could be tested.
const cuda::Driver& TestDriver();
cuda::Context MakeContext(int device = kHealthyDevice);
// Name and bytes of test_image.cc.
const char* TestImagePath();

}  // namespace weft::executor
