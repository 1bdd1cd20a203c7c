// A module image for the CPU driver with the kernels that the tests of the executor launch: each
// adds one to the 32-bit number at the address that is its parameter. The fault plan of the tests
// makes "crash" fault.
#include <cstdint>

#include "cuda/host/image_abi.h"

namespace {

void Increment(const weft_host_launch*, void* const* params) {
  ++*reinterpret_cast<uint32_t*>(*static_cast<uint64_t*>(params[0]));
}

// A table's function for one that carries out the launch by itself and never fails.
template <void (*kRun)(const weft_host_launch*, void* const*)>
int32_t Whole(const weft_host_launch* launch, void* const* params,
              const weft_host_runtime* /*runtime*/) {
  kRun(launch, params);
  return WEFT_HOST_OK;
}

constexpr weft_host_param kParams[] = {{0, 8}};
constexpr weft_host_kernel kKernels[] = {
    {"increment", Whole<Increment>, kParams, 1, 0, 0},
    {"crash", Whole<Increment>, kParams, 1, 0, 0},
};
constexpr weft_host_image kImage = {WEFT_HOST_IMAGE_ABI, 2, kKernels, 0, nullptr};

}  // namespace

extern "C" __attribute__((visibility("default"))) const weft_host_image* weft_host_image_table() {
  return &kImage;
}
