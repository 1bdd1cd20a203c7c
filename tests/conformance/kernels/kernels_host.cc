// Device code of the conformance suite, for the CPU driver; kernels.cu has the same for GPUs.

#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <thread>

#include "cuda/host/image_abi.h"
#include "kernels/compile/host/textures.h"

namespace {

struct Triple {
  uint32_t x, y, z;
};

template <typename T>
T Param(void* const* params, int index) {
  return *static_cast<const T*>(params[index]);
}

class Deadline {
 public:
  explicit Deadline(uint64_t ns) : end_(Clock::now() + std::chrono::nanoseconds(ns)) {}
  bool passed() const { return Clock::now() >= end_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

void SpinNs(uint64_t ns) {
  const Deadline end(ns);
  while (!end.passed()) std::this_thread::yield();
}

uint64_t Blocks(const weft_host_launch* launch) {
  return uint64_t{launch->grid_x} * launch->grid_y * launch->grid_z;
}

uint64_t Threads(const weft_host_launch* launch) {
  return Blocks(launch) * launch->block_x * launch->block_y * launch->block_z;
}

void Add(const weft_host_launch* launch, void* const* params) {
  const auto* a = Param<const uint32_t*>(params, 0);
  const auto* b = Param<const uint32_t*>(params, 1);
  auto* out = Param<uint32_t*>(params, 2);
  const auto count = Param<uint64_t>(params, 3);
  const uint64_t threads = Threads(launch);
  for (uint64_t i = 0; i < threads && i < count; ++i) out[i] = a[i] + b[i];
}

void Increment(const weft_host_launch*, void* const* params) {
  // Atomic steps, so that losing one is a wrong number and not undefined behaviour.
  std::atomic_ref<uint64_t> counter(*Param<uint64_t*>(params, 0));
  const uint64_t value = counter.load();
  SpinNs(Param<uint64_t>(params, 1));
  counter.store(value + 1);
}

void Append(const weft_host_launch*, void* const* params) {
  auto* log = Param<uint32_t*>(params, 0);
  const uint32_t at = std::atomic_ref<uint32_t>(log[0]).fetch_add(1);
  log[1 + at] = Param<uint32_t>(params, 1);
}

void Spin(const weft_host_launch*, void* const* params) { SpinNs(Param<uint64_t>(params, 0)); }

void Rendezvous(const weft_host_launch*, void* const* params) {
  auto* here = Param<uint32_t*>(params, 0);
  const auto self = Param<uint32_t>(params, 1);
  const std::atomic_ref<uint32_t> other(here[Param<uint32_t>(params, 2)]);
  std::atomic_ref<uint32_t>(here[self]).store(1);
  const Deadline end(Param<uint64_t>(params, 3));
  while (other.load() != 1 && !end.passed()) std::this_thread::yield();
  Param<uint32_t*>(params, 4)[self] = other.load() == 1 ? 1 : 0;
}

void MixedParams(const weft_host_launch*, void* const* params) {
  auto* out = Param<uint64_t*>(params, 5);
  const auto e = Param<Triple>(params, 4);
  out[0] = Param<uint8_t>(params, 0);
  out[1] = Param<uint64_t>(params, 1);
  out[2] = Param<uint16_t>(params, 2);
  out[3] = std::bit_cast<uint32_t>(Param<float>(params, 3));
  out[4] = e.x;
  out[5] = e.y;
  out[6] = e.z;
}

void LaunchShape(const weft_host_launch* launch, void* const* params) {
  auto* out = Param<uint32_t*>(params, 0);
  out[0] = launch->grid_x;
  out[1] = launch->grid_y;
  out[2] = launch->grid_z;
  out[3] = launch->block_x;
  out[4] = launch->block_y;
  out[5] = launch->block_z;
  out[6] = launch->shared_bytes;
  out[7] += static_cast<uint32_t>(Threads(launch));
}

// Written through its table entry alone.
uint64_t* ConformanceVariable() {
  static uint64_t variable = 42;
  return &variable;
}

void ReadVariable(const weft_host_launch*, void* const* params) {
  *Param<uint64_t*>(params, 0) = *ConformanceVariable();
}

void Decrement(const weft_host_launch*, void* const* params) { *Param<uint32_t*>(params, 0) -= 1; }

int32_t SetCondition(const weft_host_launch*, void* const* params,
                     const weft_host_runtime* runtime) {
  runtime->set_conditional(Param<uint64_t>(params, 0), *Param<const uint32_t*>(params, 1));
  return WEFT_HOST_OK;
}

void Sample(const weft_host_launch*, void* const* params) {
  const auto texture = Param<cudaTextureObject_t>(params, 0);
  const auto* points = Param<const float*>(params, 1);
  auto* out = Param<float*>(params, 2);
  const auto count = Param<uint32_t>(params, 3);
  for (uint32_t i = 0; i < count; ++i) {
    out[i] = tex2D<float>(texture, points[2 * i], points[2 * i + 1]);
  }
}

void Fetch(const weft_host_launch*, void* const* params) {
  const auto texture = Param<cudaTextureObject_t>(params, 0);
  const auto first = Param<int32_t>(params, 1);
  auto* out = Param<uint32_t*>(params, 2);
  const auto count = Param<uint32_t>(params, 3);
  for (uint32_t i = 0; i < count; ++i) {
    const uint2 texel = tex1Dfetch<uint2>(texture, first + static_cast<int32_t>(i));
    out[2 * i] = texel.x;
    out[2 * i + 1] = texel.y;
  }
}

// A table's function for one that carries out the launch by itself and never fails.
template <void (*kRun)(const weft_host_launch*, void* const*)>
int32_t Whole(const weft_host_launch* launch, void* const* params,
              const weft_host_runtime* /*runtime*/) {
  kRun(launch, params);
  return WEFT_HOST_OK;
}

constexpr weft_host_param kAddParams[] = {{0, 8}, {8, 8}, {16, 8}, {24, 8}};
constexpr weft_host_param kIncrementParams[] = {{0, 8}, {8, 8}};
constexpr weft_host_param kAppendParams[] = {{0, 8}, {8, 4}};
constexpr weft_host_param kSpinParams[] = {{0, 8}};
constexpr weft_host_param kRendezvousParams[] = {{0, 8}, {8, 4}, {12, 4}, {16, 8}, {24, 8}};
constexpr weft_host_param kMixedParams[] = {{0, 1}, {8, 8}, {16, 2}, {20, 4}, {24, 12}, {40, 8}};
constexpr weft_host_param kSampleParams[] = {{0, 8}, {8, 8}, {16, 8}, {24, 4}};
constexpr weft_host_param kFetchParams[] = {{0, 8}, {8, 4}, {16, 8}, {24, 4}};
constexpr weft_host_param kOnePointer[] = {{0, 8}};
constexpr weft_host_param kTwoWords[] = {{0, 8}, {8, 8}};

template <size_t kCount>
constexpr weft_host_kernel Entry(const char* name, weft_host_kernel_fn run,
                                 const weft_host_param (&params)[kCount]) {
  return {name, run, params, kCount, /*static_shared_bytes=*/0, /*max_threads_per_block=*/0};
}

constexpr weft_host_kernel kKernels[] = {
    Entry("add", Whole<Add>, kAddParams),
    Entry("increment", Whole<Increment>, kIncrementParams),
    Entry("append", Whole<Append>, kAppendParams),
    Entry("set_condition", SetCondition, kTwoWords),
    Entry("decrement", Whole<Decrement>, kOnePointer),
    Entry("spin", Whole<Spin>, kSpinParams),
    Entry("rendezvous", Whole<Rendezvous>, kRendezvousParams),
    Entry("mixed_params", Whole<MixedParams>, kMixedParams),
    Entry("launch_shape", Whole<LaunchShape>, kOnePointer),
    Entry("read_variable", Whole<ReadVariable>, kOnePointer),
    Entry("sample", Whole<Sample>, kSampleParams),
    Entry("fetch", Whole<Fetch>, kFetchParams),
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const weft_host_image* weft_host_image_table() {
  static const weft_host_global globals[] = {
      {"conformance_variable", ConformanceVariable(), sizeof(uint64_t)}};
  static const weft_host_image image = {WEFT_HOST_IMAGE_ABI, std::size(kKernels), kKernels,
                                        std::size(globals), globals};
  return &image;
}
