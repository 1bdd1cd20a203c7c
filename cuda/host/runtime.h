// Everything behind the driver's C functions: settings, devices, memory and the tables of handles.
//
// The C API has no object of its own, so there is one Runtime a process (Runtime::Current): the only
// mutable state that is reached without being passed. It is never destroyed: at the end of the process
// threads may still run kernels.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "cuda/host/context.h"
#include "cuda/host/cuda_api.h"
#include "cuda/host/device_memory.h"
#include "cuda/host/event.h"
#include "cuda/host/fault_plan.h"
#include "cuda/host/graph_exec.h"
#include "cuda/host/handle_table.h"
#include "cuda/host/image.h"
#include "cuda/host/kernel_launch.h"
#include "cuda/host/mutex.h"
#include "cuda/host/plain_memory.h"
#include "cuda/host/region_map.h"
#include "cuda/host/settings.h"
#include "cuda/host/texture.h"
#include "cuda/host/virtual_memory.h"

namespace weft::hostcuda {

// A device, and its primary context while somebody retains it.
struct Device {
  std::atomic<CUresult> fault{CUDA_SUCCESS};
  Mutex mu;
  int retained ABSL_GUARDED_BY(mu) = 0;
  uint64_t context_handle ABSL_GUARDED_BY(mu) = 0;
  std::shared_ptr<Context> context ABSL_GUARDED_BY(mu);
};

// A module that was loaded into a context. Functions that were asked for keep their handles.
struct LoadedModule {
  std::shared_ptr<Context> context;
  std::shared_ptr<const Image> image;
  Mutex mu;
  std::map<const weft_host_kernel*, uint64_t> functions ABSL_GUARDED_BY(mu);
};

// What a handle of cuMemCreate names.
struct BlockHandle {
  BlockHandle(std::shared_ptr<MemoryBlock> memory, bool may_export)
      : block(std::move(memory)), exportable(may_export) {}
  const std::shared_ptr<MemoryBlock> block;
  const bool exportable;  // asked for when it was created
};

// A graph, and the handles of its nodes by index.
struct RecordedGraph {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  Mutex mu;
  std::vector<uint64_t> nodes ABSL_GUARDED_BY(mu);
  std::vector<std::shared_ptr<Condition>> conditions ABSL_GUARDED_BY(mu);  // made for it
  // Of each conditional node: the handles of its bodies, which the API hands out as an array. A deque
  // of arrays that do not move.
  std::deque<std::vector<CUgraph>> bodies ABSL_GUARDED_BY(mu);
};

// Thread safety: all members may be used from any thread.
class Runtime {
 public:
  // Null before Initialize.
  static Runtime* Current();
  // Reads the settings (those of Configure, else of the environment) and makes the runtime. Does
  // nothing the second time. Errors: INVALID_VALUE for settings that are wrong (the log says how).
  static CUresult Initialize();
  // Errors: INVALID_ARGUMENT (wrong settings), FAILED_PRECONDITION (initialised already).
  static absl::Status Configure(absl::string_view text);
  // Back to the state before Initialize, for tests that need several settings. REQUIRES: no context
  // is retained, and no other thread is in the library.
  static void Reset();

  explicit Runtime(const Settings& settings, uint32_t epoch);

  int device_count() const { return static_cast<int>(devices_.size()); }
  bool IsDevice(int ordinal) const { return ordinal >= 0 && ordinal < device_count(); }
  const Settings& settings() const { return settings_; }

  // The primary context of a device. Retained as often as it is released; at the last release all
  // that belongs to it ends.
  CUresult RetainContext(int device, CUcontext* context);
  CUresult ReleaseContext(int device);
  // The device's primary context if somebody retains it, else null.
  std::shared_ptr<Context> ActiveContext(int device);

 private:
  void EndContext(Device& device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(device.mu);

  const Settings settings_;
  std::vector<std::unique_ptr<Device>> devices_;

 public:
  // Order of destruction: what the tables hold uses the memory, which uses the region map.
  FaultPlan faults;
  DeviceMemory memory;
  RegionMap regions;
  VirtualMemory virtual_memory;
  PlainMemory plain_memory;
  HandleTable<Context> contexts;
  HandleTable<Stream> streams;
  HandleTable<Event> events;
  HandleTable<BlockHandle> blocks;
  HandleTable<LoadedModule> modules;
  HandleTable<Function> functions;
  ConditionTable conditions;  // outlives graphs and executables
  HandleTable<RecordedGraph> graphs;
  HandleTable<GraphNode> nodes;
  HandleTable<GraphExec> execs;
  TextureTable textures;
};

// A handle of the API as the number that it is, and back.
template <typename Handle>
uint64_t HandleNumber(Handle handle) {
  return reinterpret_cast<uint64_t>(handle);
}
template <typename Handle>
Handle MakeHandle(uint64_t number) {
  return reinterpret_cast<Handle>(number);
}

}  // namespace weft::hostcuda
