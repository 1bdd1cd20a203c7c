// The image that the tests load: a few kernels and a symbol.
#include <cstdint>

#include "cuda/host/image_abi.h"

namespace {

int counter = 5;

void AddTo(const weft_host_launch* launch, void* const* params) {
  auto* target = *static_cast<int* const*>(params[0]);
  *target += *static_cast<const int*>(params[1]) * static_cast<int>(launch->grid_x);
}

void Nothing(const weft_host_launch* /*launch*/, void* const* /*params*/) {}

// A table's function for one that carries out the launch by itself and never fails.
template <void (*kRun)(const weft_host_launch*, void* const*)>
int32_t Whole(const weft_host_launch* launch, void* const* params,
              const weft_host_runtime* /*runtime*/) {
  kRun(launch, params);
  return WEFT_HOST_OK;
}

const weft_host_param kAddParams[] = {{0, sizeof(int*)}, {sizeof(int*), sizeof(int)}};
const weft_host_kernel kKernels[] = {
    {"add_to", Whole<AddTo>, kAddParams, 2, 0, 0},
    {"fault", Whole<Nothing>, nullptr, 0, 0, 0},
    {"hang", Whole<Nothing>, nullptr, 0, 0, 0},
    {"narrow", Whole<Nothing>, nullptr, 0, 1024, 128},
};
const weft_host_global kGlobals[] = {{"counter", &counter, sizeof(counter)}};
const weft_host_image kImage = {
#ifdef WEFT_TEST_WRONG_ABI
    WEFT_HOST_IMAGE_ABI + 1,
#else
    WEFT_HOST_IMAGE_ABI,
#endif
    4, kKernels, 1, kGlobals};

}  // namespace

extern "C" __attribute__((visibility("default"))) const weft_host_image* weft_host_image_table() {
  return &kImage;
}
