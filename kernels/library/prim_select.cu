// Elements that are kept, by flags or because they differ from the one before; and histograms.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_select.cuh>

#include "kernels/library/prim.cuh"
#include "kernels/library/prim_math.h"

namespace weft::kernels {
namespace {

// Whether an element is kept. Without flags: when it starts a run of equal ones.
template <typename Bits>
struct IsKept {
  const Bits* in;
  const uint8_t* flags;
  __host__ __device__ bool operator()(int64_t i) const {
    if (flags != nullptr) return flags[i] != 0;
    return i == 0 || in[i] != in[i - 1];
  }
};

template <typename Bits>
cudaError_t SelectBits(const weft_prim_call& call, PrimWorkspace& workspace, cudaStream_t stream) {
  const auto in = static_cast<const Bits*>(call.keys_in);
  const bool by_flags = call.algorithm == WEFT_PRIM_SELECT;
  const auto kept = thrust::make_transform_iterator(
      thrust::counting_iterator<int64_t>(0),
      IsKept<Bits>{in, by_flags ? static_cast<const uint8_t*>(call.values_in) : nullptr});
  const cudaError_t error = RunCub(workspace, [&](void* temporary, size_t& bytes) {
    return cub::DeviceSelect::Flagged(temporary, bytes, in, kept, static_cast<Bits*>(call.keys_out),
                                      static_cast<int64_t*>(call.count_out),
                                      static_cast<int>(call.count), stream);
  });
  if (error != cudaSuccess || workspace.is_counting()) return error;
  return LaunchClearBehind<Bits>(call, call.keys_out, stream);
}

// The bin of a sample; CUB does not count those outside of [0, bins).
struct BinOfSample {
  const void* in;
  uint32_t type;
  PrimBins bins;

  template <typename T>
  __host__ __device__ double As(int i) const {
    return static_cast<double>(static_cast<const T*>(in)[i]);
  }
  __host__ __device__ double Sample(int i) const {
    switch (type) {
      case WEFT_PRIM_I32:
        return As<int32_t>(i);
      case WEFT_PRIM_U32:
        return As<uint32_t>(i);
      case WEFT_PRIM_F32:
        return As<float>(i);
      case WEFT_PRIM_I64:
        return As<int64_t>(i);
      case WEFT_PRIM_U64:
        return As<uint64_t>(i);
      case WEFT_PRIM_F64:
        return As<double>(i);
      default:
        return As<uint8_t>(i);
    }
  }
  __host__ __device__ int operator()(int i) const { return bins.Of(Sample(i)); }
};

}  // namespace

cudaError_t RunSelect(const weft_prim_call& call, PrimWorkspace& workspace, cudaStream_t stream) {
  return IsWide(call.key_type) ? SelectBits<uint64_t>(call, workspace, stream)
                               : SelectBits<uint32_t>(call, workspace, stream);
}

cudaError_t RunHistogram(const weft_prim_call& call, PrimWorkspace& workspace,
                         cudaStream_t stream) {
  const auto bins = static_cast<int>(call.bins);
  const auto samples = thrust::make_transform_iterator(
      thrust::counting_iterator<int>(0),
      BinOfSample{call.keys_in, call.key_type, MakePrimBins(call.lower, call.upper, bins)});
  return RunCub(workspace, [&](void* temporary, size_t& bytes) {
    return cub::DeviceHistogram::HistogramEven(temporary, bytes, samples,
                                               static_cast<uint32_t*>(call.keys_out), bins + 1, 0,
                                               bins, static_cast<int>(call.count), stream);
  });
}

}  // namespace weft::kernels
