// Who runs, and how the threads of a block wait for each other.
#pragma once

#include <assert.h>
#include <stdint.h>
#include <stdio.h>

#include "cuda/host/image_abi.h"
#include "kernels/compile/host/vector_types.h"

namespace weft_on_host {

// The thread that runs on this one of the system's threads. Set when a thread begins and whenever one has waited.
inline thread_local const weft_host_thread* current = nullptr;

inline uint3 ThreadIndex() { return {current->thread_x, current->thread_y, current->thread_z}; }
inline uint3 BlockIndex() { return {current->block_x, current->block_y, current->block_z}; }
inline dim3 BlockSize() {
  const weft_host_launch* launch = current->launch;
  return {launch->block_x, launch->block_y, launch->block_z};
}
inline dim3 GridSize() {
  const weft_host_launch* launch = current->launch;
  return {launch->grid_x, launch->grid_y, launch->grid_z};
}

inline int SyncBlock(uint32_t answer, int predicate) {
  const weft_host_thread* self = current;
  const int result = self->runtime->sync_block(self, answer, predicate);
  current = self;
  return result;
}

[[noreturn]] inline void FailLaunch() {
  current->runtime->fail(current);
  __builtin_unreachable();
}

template <typename T>
using UnboundedArray = T[];

// What `extern __shared__ T name[];` names.
template <typename T>
UnboundedArray<T>& DynamicShared() {
  void* memory = current->runtime->dynamic_shared(current);
  if (memory == nullptr) FailLaunch();
  return *reinterpret_cast<UnboundedArray<T>*>(memory);
}

}  // namespace weft_on_host

#define threadIdx (::weft_on_host::ThreadIndex())
#define blockIdx (::weft_on_host::BlockIndex())
#define blockDim (::weft_on_host::BlockSize())
#define gridDim (::weft_on_host::GridSize())
inline constexpr int warpSize = 32;

inline void __syncthreads() { weft_on_host::SyncBlock(WEFT_HOST_COUNT, 0); }
inline int __syncthreads_count(int predicate) {
  return weft_on_host::SyncBlock(WEFT_HOST_COUNT, predicate);
}
inline int __syncthreads_and(int predicate) {
  return weft_on_host::SyncBlock(WEFT_HOST_AND, predicate);
}
inline int __syncthreads_or(int predicate) {
  return weft_on_host::SyncBlock(WEFT_HOST_OR, predicate);
}

inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
// Nobody else can run meanwhile.
inline void __nanosleep(unsigned int /*ns*/) {}

[[noreturn]] inline void __trap() { weft_on_host::FailLaunch(); }

// The assert of <assert.h> would end the process.
#undef assert
#define assert(condition)                                                                   \
  (static_cast<bool>(condition)                                                             \
       ? void(0)                                                                            \
       : (fprintf(stderr, "%s:%d: assertion failed: %s\n", __FILE__, __LINE__, #condition), \
          ::weft_on_host::FailLaunch()))
