#include "server/daemon/executor_directory.h"

#include <utility>

#include "server/daemon/errors.h"
#include "server/daemon/executor_client.h"

namespace weft::daemon {

void ExecutorDirectory::AddDevice(uint32_t device) {
  absl::MutexLock lock(&mutex_);
  entries_[device].device = device;
}

void ExecutorDirectory::Publish(uint32_t device, std::shared_ptr<ExecutorClient> client) {
  absl::MutexLock lock(&mutex_);
  Entry& entry = entries_[device];
  if (entry.state == State::kDown) ++entry.restarts;
  entry.device = device;
  entry.state = State::kServing;
  entry.info = client->device();
  entry.client = std::move(client);
}

void ExecutorDirectory::Withdraw(uint32_t device, State state) {
  std::shared_ptr<ExecutorClient> withdrawn;  // ends after the lock
  absl::MutexLock lock(&mutex_);
  Entry& entry = entries_[device];
  entry.state = state;
  withdrawn = std::move(entry.client);
  entry.client = nullptr;
}

void ExecutorDirectory::SetFreeMemory(uint32_t device, uint64_t free_bytes) {
  absl::MutexLock lock(&mutex_);
  entries_[device].free_memory_bytes = free_bytes;
}

absl::StatusOr<std::shared_ptr<ExecutorClient>> ExecutorDirectory::Find(uint32_t device) const {
  absl::MutexLock lock(&mutex_);
  const auto it = entries_.find(device);
  if (it == entries_.end()) return UnknownDeviceError(device, entries_.size());
  if (it->second.state != State::kServing) return ExecutorStartingError(device);
  return it->second.client;
}

std::vector<ExecutorDirectory::Entry> ExecutorDirectory::Entries() const {
  absl::MutexLock lock(&mutex_);
  std::vector<Entry> entries;
  for (const auto& [device, entry] : entries_) entries.push_back(entry);
  return entries;
}

std::vector<cuda::DeviceInfo> ExecutorDirectory::Devices() const {
  absl::MutexLock lock(&mutex_);
  std::vector<cuda::DeviceInfo> devices;
  for (const auto& [device, entry] : entries_) {
    // A device has memory: an entry without has not said Hello yet.
    if (entry.info.total_memory_bytes > 0) devices.push_back(entry.info);
  }
  return devices;
}

}  // namespace weft::daemon
