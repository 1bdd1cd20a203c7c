// Reductions, scans, and both of runs of equal keys. What combines two elements is chosen by a value
// that all threads share: these algorithms wait for memory, not for that.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "kernels/library/prim.cuh"
#include "kernels/library/prim_math.h"

namespace weft::kernels {
namespace {

template <typename Function>
auto Generated(Function function) {
  return thrust::make_transform_iterator(thrust::counting_iterator<int>(0), function);
}

template <typename Bits>
PrimCombine<Bits> CombineOf(uint32_t operation, uint32_t type) {
  return {operation, PrimKindOf(type)};
}

template <typename Bits>
cudaError_t ReduceBits(const weft_prim_call& call, PrimWorkspace& workspace, cudaStream_t stream) {
  const auto combine = CombineOf<Bits>(call.operation, call.key_type);
  return RunCub(workspace, [&](void* temporary, size_t& bytes) {
    return cub::DeviceReduce::Reduce(
        temporary, bytes, static_cast<const Bits*>(call.keys_in), static_cast<Bits*>(call.keys_out),
        static_cast<int>(call.count), combine, combine.Identity(), stream);
  });
}

// Exclusive: that of the elements moved by one, behind the identity.
template <typename Bits>
struct ScanElement {
  const Bits* in;
  int moved;
  Bits identity;
  __host__ __device__ Bits operator()(int i) const { return i < moved ? identity : in[i - moved]; }
};

template <typename Bits>
cudaError_t ScanBits(const weft_prim_call& call, PrimWorkspace& workspace, cudaStream_t stream) {
  const auto combine = CombineOf<Bits>(call.operation, call.key_type);
  const auto in = Generated(ScanElement<Bits>{static_cast<const Bits*>(call.keys_in),
                                              call.exclusive != 0 ? 1 : 0, combine.Identity()});
  return RunCub(workspace, [&](void* temporary, size_t& bytes) {
    return cub::DeviceScan::InclusiveScan(temporary, bytes, in, static_cast<Bits*>(call.keys_out),
                                          combine, static_cast<int>(call.count), stream);
  });
}

// 1 for each element where run lengths are wanted.
template <typename Value>
struct RunValue {
  const Value* in;
  __host__ __device__ Value operator()(int i) const { return in == nullptr ? Value{1} : in[i]; }
};

template <typename Key, typename Value>
cudaError_t ReduceRuns(const weft_prim_call& call, PrimWorkspace& workspace, cudaStream_t stream) {
  const bool lengths = call.algorithm == WEFT_PRIM_RUN_LENGTH_ENCODE;
  const auto combine = lengths ? CombineOf<Value>(WEFT_PRIM_SUM, WEFT_PRIM_I32)
                               : CombineOf<Value>(call.operation, call.value_type);
  const auto values =
      Generated(RunValue<Value>{lengths ? nullptr : static_cast<const Value*>(call.values_in)});
  const cudaError_t error = RunCub(workspace, [&](void* temporary, size_t& bytes) {
    return cub::DeviceReduce::ReduceByKey(
        temporary, bytes, static_cast<const Key*>(call.keys_in), static_cast<Key*>(call.keys_out),
        values, static_cast<Value*>(call.values_out), static_cast<int64_t*>(call.count_out),
        combine, static_cast<int>(call.count), stream);
  });
  if (error != cudaSuccess || workspace.is_counting()) return error;
  if (const cudaError_t cleared = LaunchClearBehind<Key>(call, call.keys_out, stream);
      cleared != cudaSuccess) {
    return cleared;
  }
  return LaunchClearBehind<Value>(call, call.values_out, stream);
}

template <typename Key>
cudaError_t ReduceRunsOf(const weft_prim_call& call, PrimWorkspace& workspace,
                         cudaStream_t stream) {
  const bool wide = call.algorithm == WEFT_PRIM_REDUCE_BY_KEY && IsWide(call.value_type);
  return wide ? ReduceRuns<Key, uint64_t>(call, workspace, stream)
              : ReduceRuns<Key, uint32_t>(call, workspace, stream);
}

}  // namespace

cudaError_t RunReduce(const weft_prim_call& call, PrimWorkspace& workspace, cudaStream_t stream) {
  return IsWide(call.key_type) ? ReduceBits<uint64_t>(call, workspace, stream)
                               : ReduceBits<uint32_t>(call, workspace, stream);
}

cudaError_t RunScan(const weft_prim_call& call, PrimWorkspace& workspace, cudaStream_t stream) {
  return IsWide(call.key_type) ? ScanBits<uint64_t>(call, workspace, stream)
                               : ScanBits<uint32_t>(call, workspace, stream);
}

cudaError_t RunByKey(const weft_prim_call& call, PrimWorkspace& workspace, cudaStream_t stream) {
  return IsWide(call.key_type) ? ReduceRunsOf<uint64_t>(call, workspace, stream)
                               : ReduceRunsOf<uint32_t>(call, workspace, stream);
}

}  // namespace weft::kernels
