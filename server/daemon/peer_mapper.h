// Has an executor map the memory of other devices before it prepares a graph that copies from it or
// to it. The descriptors are weftd's: the device whose memory it is need not have an executor just
// then.
//
// Lazily, and for every graph anew: the executor knows what it has mapped, so that a new one needs
// nothing but its first graph. What is mapped stays so until the buffer ends (BufferManager).
//
// Thread safety: all members may be called from any thread.
#pragma once

#include <memory>

#include "server/daemon/buffer_registry.h"
#include "server/daemon/compiled_job.h"
#include "server/daemon/executor_client.h"

namespace weft::daemon {

class PeerMapper {
 public:
  // REQUIRES: the registry outlives this, and this every call of `done`.
  explicit PeerMapper(BufferRegistry& registry) : registry_(registry) {}

  // Calls `done` when `client` has mapped all that `compiled` needs of other devices; at once, on
  // this thread, when that is nothing. NOT_FOUND: a buffer is gone. FAILED_PRECONDITION: the device
  // cannot reach the other. UNAVAILABLE: the executor is lost.
  void Map(const std::shared_ptr<const CompiledJob>& compiled,
           const std::shared_ptr<ExecutorClient>& client, ExecutorClient::DoneStatus done);

 private:
  struct Call;
  void Next(const std::shared_ptr<Call>& call);
  void OnMapped(const std::shared_ptr<Call>& call, const absl::Status& status);

  BufferRegistry& registry_;
};

}  // namespace weft::daemon
