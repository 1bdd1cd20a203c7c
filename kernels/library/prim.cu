// The table of prim.gpu.so (cuda/prim_abi.h).
#include "kernels/library/prim.cuh"

namespace weft::kernels {
namespace {

constexpr uint64_t kMaxPrimCount = uint64_t{1} << 30;  // CUB counts in 32 bits

// What there is to do of no elements: counts are 0.
cudaError_t RunOfNothing(const weft_prim_call& call, const PrimWorkspace& workspace,
                         cudaStream_t stream) {
  const bool counts = call.algorithm == WEFT_PRIM_REDUCE_BY_KEY ||
                      call.algorithm == WEFT_PRIM_SELECT || call.algorithm == WEFT_PRIM_UNIQUE ||
                      call.algorithm == WEFT_PRIM_RUN_LENGTH_ENCODE;
  if (!counts || workspace.is_counting()) return cudaSuccess;
  return cudaMemsetAsync(call.count_out, 0, sizeof(int64_t), stream);
}

cudaError_t RunPrim(const weft_prim_call& call, PrimWorkspace& workspace, cudaStream_t stream) {
  if (call.count > kMaxPrimCount) return cudaErrorInvalidValue;
  if (call.algorithm == WEFT_PRIM_REDUCE) return RunReduce(call, workspace, stream);
  if (call.algorithm == WEFT_PRIM_HISTOGRAM) return RunHistogram(call, workspace, stream);
  if (call.count == 0) return RunOfNothing(call, workspace, stream);
  switch (call.algorithm) {
    case WEFT_PRIM_SORT:
    case WEFT_PRIM_SORT_BY_KEY:
      return RunSort(call, workspace, stream);
    case WEFT_PRIM_SCAN:
      return RunScan(call, workspace, stream);
    case WEFT_PRIM_REDUCE_BY_KEY:
    case WEFT_PRIM_RUN_LENGTH_ENCODE:
      return RunByKey(call, workspace, stream);
    case WEFT_PRIM_SELECT:
    case WEFT_PRIM_UNIQUE:
      return RunSelect(call, workspace, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

// The runtime keeps the last error of a thread; what failed here is not the next call's.
int32_t Reported(cudaError_t error) {
  if (error != cudaSuccess) cudaGetLastError();
  return static_cast<int32_t>(error);
}

int32_t CountWorkspace(const weft_prim_call* call, uint64_t* bytes) {
  PrimWorkspace workspace(nullptr, 0);
  const cudaError_t set_up = cudaFree(nullptr);
  if (set_up != cudaSuccess) return Reported(set_up);
  const cudaError_t error = RunPrim(*call, workspace, nullptr);
  *bytes = workspace.used();
  return Reported(error);
}

int32_t EnqueueCall(const weft_prim_call* call, void* memory, uint64_t bytes, void* stream) {
  PrimWorkspace workspace(memory, bytes);
  if (memory == nullptr) return static_cast<int32_t>(cudaErrorInvalidValue);
  return Reported(RunPrim(*call, workspace, static_cast<cudaStream_t>(stream)));
}

const char* NameOfResult(int32_t result) {
  return cudaGetErrorName(static_cast<cudaError_t>(result));
}

}  // namespace
}  // namespace weft::kernels

extern "C" __attribute__((visibility("default"))) const weft_prim_table_v1* weft_prim_table(void) {
  static const weft_prim_table_v1 table = {
      WEFT_PRIM_ABI, sizeof(weft_prim_call), &weft::kernels::CountWorkspace,
      &weft::kernels::EnqueueCall, &weft::kernels::NameOfResult};
  return &table;
}
