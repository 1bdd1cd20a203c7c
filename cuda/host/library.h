// Everything the library has once cuInit was called, and how an entry point gets at it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cuda/host/context.h"
#include "cuda/host/cuda_api.h"
#include "cuda/host/device_memory.h"
#include "cuda/host/event.h"
#include "cuda/host/fault_plan.h"
#include "cuda/host/graph.h"
#include "cuda/host/graph_run.h"
#include "cuda/host/handle_table.h"
#include "cuda/host/image.h"
#include "cuda/host/plain_memory.h"
#include "cuda/host/region_map.h"
#include "cuda/host/settings.h"
#include "cuda/host/virtual_memory.h"

namespace weft::hostcuda {

// What cuMemCreate's handle names.
struct AllocationRef {
  std::shared_ptr<MemoryBlock> block;
};

// The state of one device's primary context.
struct PrimaryContext {
  Mutex mu;
  int retained ABSL_GUARDED_BY(mu) = 0;
  CUcontext handle ABSL_GUARDED_BY(mu) = nullptr;
  unsigned int flags ABSL_GUARDED_BY(mu) = 0;
};

// Thread safety: members are constant or lock by themselves.
class Library {
 public:
  // The text that Initialize will use in place of the environment variable WEFT_HOSTCUDA. Errors: INVALID_VALUE (the
  // text is wrong; standard error says how), NOT_PERMITTED (after cuInit).
  static CUresult Configure(const char* text);
  // Makes the library's state, once; later calls do nothing. INVALID_VALUE: the settings (also said on standard error).
  static CUresult Initialize();
  // Null before Initialize.
  static Library* Get();

  int device_count() const { return settings.devices; }

  const Settings settings;
  FaultPlan faults;
  RegionMap regions;
  DeviceMemory memory;
  VirtualMemory virtual_memory{regions};
  PlainMemory plain_memory{memory, regions};
  std::vector<std::unique_ptr<PrimaryContext>> primaries;
  HandleTable<Context> contexts{HandleKind::kContext, 1};
  HandleTable<Stream> streams{HandleKind::kStream, 1};
  HandleTable<EventState> events{HandleKind::kEvent, 1};
  HandleTable<Module> modules{HandleKind::kModule, 1};
  HandleTable<Function> functions{HandleKind::kFunction, 1};
  HandleTable<AllocationRef> allocations{HandleKind::kAllocation, 1};
  HandleTable<Graph> graphs{HandleKind::kGraph, 1};
  HandleTable<GraphNode> graph_nodes{HandleKind::kGraphNode, 1};
  HandleTable<GraphExec> graph_execs{HandleKind::kGraphExec, 1};

 private:
  explicit Library(Settings parsed);
};

// One call of an entry point: what it needs, or why it cannot go on.
class Call {
 public:
  enum class Needs { kNothing, kContext };
  Call(ApiFunction function, Needs needs);

  // Not CUDA_SUCCESS: the entry point returns it at once.
  CUresult refused() const { return refused_; }
  Library& library() const { return *library_; }
  // The calling thread's current context. REQUIRES: kContext, and not refused.
  const std::shared_ptr<Context>& context() const { return context_; }
  // The stream that a handle names in this context; null when it names none.
  std::shared_ptr<Stream> FindStream(CUstream handle) const;

 private:
  Library* library_ = nullptr;
  std::shared_ptr<Context> context_;
  CUresult refused_ = CUDA_SUCCESS;
};

// The calling thread's stack of current contexts; the last is current.
std::vector<CUcontext>& ContextStack();

template <typename Handle>
uint64_t ToNumber(Handle handle) {
  return reinterpret_cast<uint64_t>(handle);
}
inline uint64_t ToNumber(CUmemGenericAllocationHandle handle) { return handle; }
template <typename Handle>
Handle FromNumber(uint64_t number) {
  return reinterpret_cast<Handle>(number);
}

}  // namespace weft::hostcuda

// Begins an entry point: counts the call for the fault plan, and returns when it cannot go on.
#define WEFT_HOSTCUDA_ENTRY(call, name, needs)                               \
  const ::weft::hostcuda::Call call(::weft::hostcuda::ApiFunction::k_##name, \
                                    ::weft::hostcuda::Call::Needs::needs);   \
  if (call.refused() != CUDA_SUCCESS) return call.refused()
