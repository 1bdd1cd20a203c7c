// The parts of prim.gpu.so: each puts one kind of algorithm into a stream, by CUB.
//
// All take their memory from a PrimWorkspace. Of one without memory they only count what they need
// and put nothing into the stream; what a call needs does not depend on which of the two it is.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/prim_abi.h"

namespace weft::kernels {

// Memory of one call, handed out from its start.
class PrimWorkspace {
 public:
  // Null and 0 bytes: counts.
  PrimWorkspace(void* memory, uint64_t bytes)
      : memory_(static_cast<unsigned char*>(memory)), bytes_(bytes) {}

  bool is_counting() const { return memory_ == nullptr; }
  uint64_t used() const { return used_; }
  // Null where it counts, and where nothing is left (then failed()).
  template <typename T>
  T* Take(uint64_t count) {
    return static_cast<T*>(TakeBytes(count * sizeof(T)));
  }
  void* TakeBytes(uint64_t bytes) {
    const uint64_t first = used_;
    used_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (is_counting()) return nullptr;
    failed_ = failed_ || used_ > bytes_;
    return failed_ ? nullptr : memory_ + first;
  }
  bool failed() const { return failed_; }

 private:
  static constexpr uint64_t kAlignment = 256;
  unsigned char* memory_;
  uint64_t bytes_;
  uint64_t used_ = 0;
  bool failed_ = false;
};

// Runs one of CUB's algorithms, algorithm(temporary, bytes), which asks for its memory first.
template <typename Algorithm>
cudaError_t RunCub(PrimWorkspace& workspace, Algorithm algorithm) {
  size_t bytes = 0;
  if (const cudaError_t error = algorithm(nullptr, bytes); error != cudaSuccess) return error;
  // CUB takes a null address for another question about the size.
  void* const temporary = workspace.TakeBytes(bytes == 0 ? 1 : bytes);
  if (workspace.failed()) return cudaErrorMemoryAllocation;
  return workspace.is_counting() ? cudaSuccess : algorithm(temporary, bytes);
}

constexpr uint32_t kPrimThreads = 256;
// Blocks of kPrimThreads threads that stride over `count` elements.
inline uint32_t PrimBlocks(uint64_t count) {
  constexpr uint64_t kMaxBlocks = 65536;
  const uint64_t blocks = (count + 4 * kPrimThreads - 1) / (4 * kPrimThreads);
  return static_cast<uint32_t>(blocks < kMaxBlocks ? blocks : kMaxBlocks);
}

// Sets out[*count …) to 0, up to `end`. REQUIRES: end > 0.
template <typename Bits>
__global__ void ClearBehind(Bits* out, const int64_t* count, int64_t end) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = *count + int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < end; i += step) {
    out[i] = 0;
  }
}
template <typename Bits>
cudaError_t LaunchClearBehind(const weft_prim_call& call, void* out, cudaStream_t stream) {
  ClearBehind<Bits><<<PrimBlocks(call.count), kPrimThreads, 0, stream>>>(
      static_cast<Bits*>(out), static_cast<const int64_t*>(call.count_out),
      static_cast<int64_t>(call.count));
  return cudaGetLastError();
}

inline bool IsWide(uint32_t type) { return type >= WEFT_PRIM_I64 && type <= WEFT_PRIM_F64; }

// REQUIRES, of each: the algorithm of the call is its own; count > 0, but for RunHistogram and
// RunReduce.
cudaError_t RunSort(const weft_prim_call& call, PrimWorkspace& workspace, cudaStream_t stream);
cudaError_t RunReduce(const weft_prim_call& call, PrimWorkspace& workspace, cudaStream_t stream);
cudaError_t RunScan(const weft_prim_call& call, PrimWorkspace& workspace, cudaStream_t stream);
// REDUCE_BY_KEY and RUN_LENGTH_ENCODE.
cudaError_t RunByKey(const weft_prim_call& call, PrimWorkspace& workspace, cudaStream_t stream);
// SELECT and UNIQUE.
cudaError_t RunSelect(const weft_prim_call& call, PrimWorkspace& workspace, cudaStream_t stream);
cudaError_t RunHistogram(const weft_prim_call& call, PrimWorkspace& workspace, cudaStream_t stream);

}  // namespace weft::kernels
