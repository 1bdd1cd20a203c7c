// Sorts of 4- and 8-byte keys as unsigned integers: elements of other types, and descending orders,
// are sorted as bits that have their order (prim_math.h), and turned back afterwards.
#include <cub/device/device_radix_sort.cuh>

#include "kernels/library/prim.cuh"
#include "kernels/library/prim_math.h"

namespace weft::kernels {
namespace {

template <typename Bits>
__global__ void ToOrdered(const Bits* in, Bits* out, int64_t count, PrimOrder<Bits> order) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    out[i] = order.Ordered(in[i]);
  }
}

template <typename Bits>
__global__ void FromOrdered(Bits* keys, int64_t count, PrimOrder<Bits> order) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    keys[i] = order.Restored(keys[i]);
  }
}

template <typename Bits>
cudaError_t SortKeys(const weft_prim_call& call, const Bits* keys, PrimWorkspace& workspace,
                     cudaStream_t stream) {
  const auto out = static_cast<Bits*>(call.keys_out);
  return RunCub(workspace, [&](void* temporary, size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(temporary, bytes, keys, out, static_cast<int>(call.count),
                                          0, 8 * sizeof(Bits), stream);
  });
}

template <typename Value, typename Bits>
cudaError_t SortPairs(const weft_prim_call& call, const Bits* keys, PrimWorkspace& workspace,
                      cudaStream_t stream) {
  const auto out = static_cast<Bits*>(call.keys_out);
  const auto values = static_cast<const Value*>(call.values_in);
  const auto values_out = static_cast<Value*>(call.values_out);
  return RunCub(workspace, [&](void* temporary, size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(temporary, bytes, keys, out, values, values_out,
                                           static_cast<int>(call.count), 0, 8 * sizeof(Bits),
                                           stream);
  });
}

template <typename Bits>
cudaError_t SortOrdered(const weft_prim_call& call, const Bits* keys, PrimWorkspace& workspace,
                        cudaStream_t stream) {
  if (call.algorithm == WEFT_PRIM_SORT) return SortKeys(call, keys, workspace, stream);
  if (IsWide(call.value_type)) return SortPairs<uint64_t>(call, keys, workspace, stream);
  return SortPairs<uint32_t>(call, keys, workspace, stream);
}

template <typename Bits>
cudaError_t SortBits(const weft_prim_call& call, PrimWorkspace& workspace, cudaStream_t stream) {
  const auto keys = static_cast<const Bits*>(call.keys_in);
  const PrimOrder<Bits> order{PrimKindOf(call.key_type), call.descending != 0};
  if (order.changes_nothing()) return SortOrdered(call, keys, workspace, stream);
  const auto count = static_cast<int64_t>(call.count);
  Bits* const ordered = workspace.Take<Bits>(call.count);
  if (workspace.failed()) return cudaErrorMemoryAllocation;
  if (workspace.is_counting()) return SortOrdered<Bits>(call, ordered, workspace, stream);
  ToOrdered<<<PrimBlocks(call.count), kPrimThreads, 0, stream>>>(keys, ordered, count, order);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
  if (const cudaError_t error = SortOrdered<Bits>(call, ordered, workspace, stream);
      error != cudaSuccess) {
    return error;
  }
  FromOrdered<<<PrimBlocks(call.count), kPrimThreads, 0, stream>>>(
      static_cast<Bits*>(call.keys_out), count, order);
  return cudaGetLastError();
}

}  // namespace

cudaError_t RunSort(const weft_prim_call& call, PrimWorkspace& workspace, cudaStream_t stream) {
  return IsWide(call.key_type) ? SortBits<uint64_t>(call, workspace, stream)
                               : SortBits<uint32_t>(call, workspace, stream);
}

}  // namespace weft::kernels
