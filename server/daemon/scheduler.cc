#include "server/daemon/scheduler.h"

#include <algorithm>
#include <utility>

namespace weft::daemon {

void Scheduler::Enqueue(uint32_t device, Entry entry) {
  Add(device, std::move(entry), Place::kLast);
}

void Scheduler::EnqueueFirst(uint32_t device, Entry entry) {
  Add(device, std::move(entry), Place::kFirst);
}

void Scheduler::Add(uint32_t device, Entry entry, Place place) {
  {
    absl::MutexLock lock(&mutex_);
    Device& d = devices_[device];
    const SessionId session = entry.session;
    std::deque<Entry>& queue = d.queues[session];
    if (queue.empty()) d.turns.push_back(session);
    if (place == Place::kFirst) {
      queue.push_front(std::move(entry));
    } else {
      queue.push_back(std::move(entry));
    }
  }
  Pump(device);
}

// A started job may be over at once; the loop (instead of a call of Done from within) keeps a queue
// of such jobs from nesting.
void Scheduler::Pump(uint32_t device) {
  while (std::optional<Entry> entry = Next(device)) {
    if (std::move(entry->start)() == Started::kNothing) Free(device);
  }
}

std::optional<Scheduler::Entry> Scheduler::Next(uint32_t device) {
  absl::MutexLock lock(&mutex_);
  Device& d = devices_[device];
  if (d.paused || d.turns.empty() || d.running >= max_running_) return std::nullopt;
  const SessionId session = d.turns.front();
  d.turns.pop_front();
  const auto it = d.queues.find(session);
  Entry entry = std::move(it->second.front());
  it->second.pop_front();
  if (it->second.empty()) {
    d.queues.erase(it);
  } else {
    d.turns.push_back(session);
  }
  ++d.running;
  return entry;
}

bool Scheduler::Remove(uint32_t device, SessionId session, JobId job) {
  Entry dropped;  // ends after the lock
  absl::MutexLock lock(&mutex_);
  Device& d = devices_[device];
  const auto it = d.queues.find(session);
  if (it == d.queues.end()) return false;
  std::deque<Entry>& queue = it->second;
  const auto found =
      std::find_if(queue.begin(), queue.end(), [job](const Entry& e) { return e.job == job; });
  if (found == queue.end()) return false;
  dropped = std::move(*found);
  queue.erase(found);
  if (queue.empty()) {
    d.queues.erase(it);
    d.turns.erase(std::find(d.turns.begin(), d.turns.end(), session));
  }
  return true;
}

void Scheduler::Free(uint32_t device) {
  absl::MutexLock lock(&mutex_);
  --devices_[device].running;
}

void Scheduler::Done(uint32_t device) {
  Free(device);
  Pump(device);
}

void Scheduler::Pause(uint32_t device) {
  absl::MutexLock lock(&mutex_);
  devices_[device].paused = true;
}

void Scheduler::Resume(uint32_t device) {
  {
    absl::MutexLock lock(&mutex_);
    devices_[device].paused = false;
  }
  Pump(device);
}

uint32_t Scheduler::running(uint32_t device) const {
  absl::MutexLock lock(&mutex_);
  const auto it = devices_.find(device);
  return it == devices_.end() ? 0 : it->second.running;
}

}  // namespace weft::daemon
