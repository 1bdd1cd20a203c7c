// Which executor serves each device now. Supervisors publish and withdraw; everyone else looks up.
//
// Thread safety: all members may be called from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "cuda/device_info.h"

namespace weft::daemon {

class ExecutorClient;

class ExecutorDirectory {
 public:
  enum class State { kStarting, kServing, kDown };

  // One served device as it is now. `info` and `client` are unset until its first executor said
  // Hello; `client` is null unless the state is kServing.
  struct Entry {
    uint32_t device = 0;
    State state = State::kStarting;
    cuda::DeviceInfo info;
    std::shared_ptr<ExecutorClient> client;
    uint64_t free_memory_bytes = 0;  // at the last report
    uint64_t restarts = 0;
  };

  // A device to be served, its executor starting.
  void AddDevice(uint32_t device);
  void Publish(uint32_t device, std::shared_ptr<ExecutorClient> client);
  void Withdraw(uint32_t device, State state);
  void SetFreeMemory(uint32_t device, uint64_t free_bytes);

  // NOT_FOUND (not served), UNAVAILABLE (starting or down).
  absl::StatusOr<std::shared_ptr<ExecutorClient>> Find(uint32_t device) const;
  // All devices, by ordinal.
  std::vector<Entry> Entries() const;
  // Those whose properties are known.
  std::vector<cuda::DeviceInfo> Devices() const;

 private:
  mutable absl::Mutex mutex_;
  std::map<uint32_t, Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace weft::daemon
