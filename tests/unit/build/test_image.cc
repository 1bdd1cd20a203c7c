// A module image for the CPU driver with the kernels that the tests of graph/build launch. The
// first parameter of each is the address of an int32 buffer; see test_graph.h for the others.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>

#include "cuda/host/image_abi.h"
#include "cuda/host/texture_abi.h"

namespace {

int32_t* BufferAt(void* const* params, int index) {
  return reinterpret_cast<int32_t*>(*static_cast<uint64_t*>(params[index]));
}

// x[i] = x[i] * factor + addend, for as many i as there are threads.
void Affine(const weft_host_launch* launch, void* const* params) {
  int32_t* x = BufferAt(params, 0);
  const auto factor = *static_cast<int32_t*>(params[1]);
  const auto addend = *static_cast<int32_t*>(params[2]);
  const uint32_t count = launch->grid_x * launch->block_x;
  for (uint32_t i = 0; i < count; ++i) x[i] = x[i] * factor + addend;
}

// As Affine, but late: whoever does not wait for it sees the old values.
void SlowAffine(const weft_host_launch* launch, void* const* params) {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  Affine(launch, params);
}

// Counts itself in x[0] and waits until `factor` launches have done so: they must run at once.
void Meet(const weft_host_launch*, void* const* params) {
  std::atomic_ref<int32_t> arrived(*BufferAt(params, 0));
  const auto expected = *static_cast<int32_t*>(params[1]);
  arrived.fetch_add(1);
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (arrived.load() < expected && std::chrono::steady_clock::now() < limit) {
    std::this_thread::yield();
  }
}

// A table's function for one that carries out the launch by itself and never fails.
template <void (*kRun)(const weft_host_launch*, void* const*)>
int32_t Whole(const weft_host_launch* launch, void* const* params,
              const weft_host_runtime* /*runtime*/) {
  kRun(launch, params);
  return WEFT_HOST_OK;
}

constexpr weft_host_param kParams[] = {{0, 8}, {8, 4}, {12, 4}};
constexpr weft_host_kernel kKernels[] = {
    {"affine", Whole<Affine>, kParams, 3, 0, 0},
    {"slow_affine", Whole<SlowAffine>, kParams, 3, 0, 0},
    {"meet", Whole<Meet>, kParams, 3, 0, 0},
};
// A variable, as jobs set them; "read_variable" copies it to x[0].
int32_t variable[4];
void ReadVariable(const weft_host_launch*, void* const* params) {
  *BufferAt(params, 0) = variable[1];
}
// x[0] becomes the first texel of the texture, and x[1] how many texels it has.
void ReadTexture(const weft_host_launch*, void* const* params) {
  const auto* texture =
      reinterpret_cast<const weft_host_texture*>(*static_cast<uint64_t*>(params[1]));
  BufferAt(params, 0)[0] = *reinterpret_cast<const int32_t*>(texture->texels);
  BufferAt(params, 0)[1] = static_cast<int32_t>(texture->width);
}
// As the built-in kernel of this name.
void CopyBytes(const weft_host_launch*, void* const* params) {
  std::memcpy(BufferAt(params, 0), BufferAt(params, 1), *static_cast<uint64_t*>(params[2]));
}
constexpr weft_host_param kCopyParams[] = {{0, 8}, {8, 8}, {16, 8}};
constexpr weft_host_param kTextureParams[] = {{0, 8}, {8, 8}};
constexpr weft_host_kernel kAllKernels[] = {
    kKernels[0],
    kKernels[1],
    kKernels[2],
    {"read_variable", Whole<ReadVariable>, kParams, 1, 0, 0},
    {"read_texture", Whole<ReadTexture>, kTextureParams, 2, 0, 0},
    {"weft_copy_bytes", Whole<CopyBytes>, kCopyParams, 3, 0, 0}};
const weft_host_global kGlobals[] = {{"variable", variable, sizeof variable}};
const weft_host_image kImage = {WEFT_HOST_IMAGE_ABI, 6, kAllKernels, 1, kGlobals};

}  // namespace

extern "C" __attribute__((visibility("default"))) const weft_host_image* weft_host_image_table() {
  return &kImage;
}
