// Modules (loaded device code), their functions, and the launch of one function in a stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/stream.h"
#include "cuda/unique_handle.h"

namespace weft::cuda {

namespace internal {
void UnloadModule(const ContextRef& context, CUmodule module);
}  // namespace internal

// Where a parameter lies in the packed parameter buffer.
struct ParamInfo {
  size_t offset = 0;
  size_t size = 0;
  friend bool operator==(const ParamInfo&, const ParamInfo&) = default;
};

// Attributes of a compiled function on its device.
struct FunctionAttributes {
  uint32_t max_threads_per_block = 0;  // with this function's registers
  uint32_t static_shared_bytes = 0;
  uint32_t max_dynamic_shared_bytes = 0;  // as set now
  uint32_t registers_per_thread = 0;
  uint32_t local_bytes_per_thread = 0;
};

// An entry point of a module: a value that owns nothing, valid while its Module is loaded.
// Thread safety: all members may be called from any thread.
class Function {
 public:
  Function() = default;
  Function(const ContextRef& context, CUfunction handle) : context_(context), handle_(handle) {}

  absl::StatusOr<FunctionAttributes> Attributes() const;
  // The parameters in order. Errors: UNIMPLEMENTED when the driver has no cuFuncGetParamInfo
  // (before CUDA 12.4).
  absl::StatusOr<std::vector<ParamInfo>> Params() const;
  // Allows launches with up to `size_bytes` of dynamic shared memory (more than 48 KiB need this).
  // Errors: INVALID_ARGUMENT above the device's opt-in limit.
  absl::Status SetMaxDynamicSharedBytes(uint32_t size_bytes) const;
  // Blocks of this function that the whole device holds at once: a cooperative grid's limit.
  absl::StatusOr<uint64_t> MaxActiveBlocks(uint32_t block_threads,
                                           size_t dynamic_shared_bytes) const;
  // Blocks of this function that one multiprocessor holds at once.
  absl::StatusOr<uint32_t> MaxActiveBlocksPerMultiprocessor(uint32_t block_threads,
                                                            size_t dynamic_shared_bytes) const;
  // The share of a multiprocessor's threads that those blocks are, 0 to 1 (theoretical occupancy).
  absl::StatusOr<double> Occupancy(uint32_t block_threads, size_t dynamic_shared_bytes) const;

  CUfunction handle() const { return handle_; }
  const ContextRef& context() const { return context_; }
  bool valid() const { return handle_ != nullptr; }

 private:
  ContextRef context_;
  CUfunction handle_ = nullptr;
};

// A __device__ or __constant__ variable of a module.
struct GlobalVariable {
  CUdeviceptr address = 0;
  size_t size = 0;
};

// Loaded device code. Loading takes 0.1 ms to many (PTX is compiled). Unloading while a kernel of
// it runs is an error of the caller. Thread safety: const members may be called from any thread.
class Module {
 public:
  // `image` is a cubin, a fatbin or PTX for a GPU, the bytes of a host image
  // (cuda/host/image_abi.h) for the CPU driver. It is not kept. The driver reads sizes from the
  // image itself: a truncated one is the caller's to refuse. Errors: INVALID_ARGUMENT (no image),
  // FAILED_PRECONDITION (no code for this device).
  static absl::StatusOr<Module> Load(const Context& context, const std::string& image);

  // Errors: NOT_FOUND.
  absl::StatusOr<Function> GetFunction(const std::string& name) const;
  absl::StatusOr<GlobalVariable> GetGlobal(const std::string& name) const;

  CUmodule handle() const { return owned_.get(); }
  bool valid() const { return owned_.valid(); }

 private:
  using Owned = UniqueHandle<CUmodule, internal::UnloadModule>;
  explicit Module(Owned owned) : owned_(std::move(owned)) {}
  Owned owned_;
};

struct Dim3 {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

// What a launch asks for beyond its shape. The default asks for nothing.
struct LaunchAttributes {
  // Blocks of a cluster, of which the grid's extents are multiples; all 0: as the kernel was compiled.
  Dim3 cluster = {0, 0, 0};
  bool cooperative = false;     // all blocks run at once
  std::optional<int> priority;  // as streams have: lower is more urgent; nullopt: the stream's

  bool any() const { return cluster.x != 0 || cooperative || priority.has_value(); }
  friend bool operator==(const LaunchAttributes&, const LaunchAttributes&) = default;
};

// The attributes as the driver takes them: in a list, or one by one for a node of a graph.
class LaunchAttributeList {
 public:
  explicit LaunchAttributeList(const LaunchAttributes& attributes);
  CUlaunchAttribute* data() { return list_.data(); }
  unsigned int size() const { return size_; }

 private:
  std::array<CUlaunchAttribute, 3> list_ = {};
  unsigned int size_ = 0;
};

// One launch of a function. params[i] points to the value of parameter i; the values are copied by
// the call that takes this struct and need not outlive it.
struct KernelLaunch {
  Function function;
  Dim3 grid;
  Dim3 block;
  uint32_t dynamic_shared_bytes = 0;
  void* const* params = nullptr;
  LaunchAttributes attributes = {};
};

// Adds the launch to the stream (cuLaunchKernel; with attributes cuLaunchKernelEx). Does not block.
// Errors: INVALID_ARGUMENT (shape, cluster), RESOURCE_EXHAUSTED (registers or shared memory; a
// cooperative grid that does not fit the device).
absl::Status LaunchKernel(const StreamRef& stream, const KernelLaunch& launch);

}  // namespace weft::cuda
