// Job → ir::Graph → plan → something that runs: what Prepare does.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "cuda/context.h"
#include "cuda/device_info.h"
#include "cuda/stream.h"
#include "graph/build/bindings.h"
#include "graph/build/executable.h"
#include "graph/build/executable_cache.h"
#include "server/executor/prepared_graph.h"
#include "server/executor/user_modules.h"
#include "transport/ring_server.h"

namespace weft::executor {

class MemoryMap;
namespace v1 {
class PrepareRequest;
}

// Executables of released graphs, kept for later graphs of the same structure. By the figures of
// Executable::cost_bytes, this is some thousands of small graphs.
inline constexpr size_t kExecutableCacheBytes = size_t{64} << 20;

// Thread safety: all members may be called from any thread; graphs are prepared side by side. The
// context, the resolver and the modules outlive it, and the context every graph made.
class GraphPreparer {
 public:
  // `device`: as weftd knows it (device_limits.h). `notice`: of the ring that launches come by, which
  // outlives every launch.
  static absl::StatusOr<std::unique_ptr<GraphPreparer>> Create(const cuda::Context& context,
                                                               const cuda::DeviceInfo& device,
                                                               build::FunctionResolver& resolver,
                                                               UserModuleStore& modules,
                                                               transport::RingNotice notice);
  GraphPreparer(const GraphPreparer&) = delete;
  GraphPreparer& operator=(const GraphPreparer&) = delete;

  // Blocks until the graph is on the device. 0.2 ms and more; see build::Executable.
  // Code that the job brings along is compiled before, which can take seconds.
  // `memory_map`: says where that of other devices lies, which the job copies from or to.
  // Errors: those of UserModuleStore and of graph/build/errors.h; INTERNAL (the job does not pass
  // checks that weftd made: a bug), INVALID_ARGUMENT (a buffer without a binding), NOT_FOUND
  // (memory of another device that is not mapped), RESOURCE_EXHAUSTED, and what the driver says.
  absl::StatusOr<std::shared_ptr<PreparedGraph>> Prepare(const v1::PrepareRequest& request,
                                                         const MemoryMap& memory_map);

  // Keeps what a released graph can leave to others. REQUIRES: retired and never launched again.
  void Recycle(PreparedGraph& graph);

 private:
  GraphPreparer(const cuda::Context& context, const cuda::DeviceInfo& device,
                build::FunctionResolver& resolver, UserModuleStore& modules,
                transport::RingNotice notice, cuda::Stream stream)
      : context_(context),
        device_(device),
        resolver_(resolver),
        modules_(modules),
        notice_(notice),
        upload_(std::move(stream)) {}
  absl::StatusOr<std::unique_ptr<GraphRunner>> MakeRunner(const build::BuildInput& input);
  absl::StatusOr<std::unique_ptr<build::Executable>> MakeExecutable(const build::BuildInput& input);

  const cuda::Context& context_;
  const cuda::DeviceInfo device_;
  build::FunctionResolver& resolver_;
  UserModuleStore& modules_;
  const transport::RingNotice notice_;
  const cuda::Stream upload_;
  absl::Mutex mutex_;
  build::ExecutableCache cache_ ABSL_GUARDED_BY(mutex_){kExecutableCacheBytes};
};

}  // namespace weft::executor
