// Which ready job runs next on a device: one queue a session, served in turn, so that a session
// with a thousand jobs delays another's by one job and not by a thousand. A device runs at most
// `max_running` jobs at once; the others wait here.
//
// Thread safety: all members may be called from any thread. Jobs are started without a lock held,
// on the thread that made room or brought the job.
// Cost: O(1), but for Remove (linear in the session's queue).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"
#include "base/ids.h"

namespace weft::daemon {

class Scheduler {
 public:
  enum class Started {
    kRunning,  // holds its place on the device until Done is called
    kNothing,  // the job is over already; its place is free
  };
  using Start = absl::AnyInvocable<Started() &&>;

  // `max_running` of each device: enough to keep it busy while the next launches are made ready,
  // and few enough that a late job of another session need not wait long.
  explicit Scheduler(uint32_t max_running) : max_running_(max_running) {}

  struct Entry {
    JobId job;
    SessionId session;
    Start start;
  };
  // Starts the job now when the device has room, else when its turn comes.
  void Enqueue(uint32_t device, Entry entry);
  // Before all others of its session: for a job that was started once and could not run.
  void EnqueueFirst(uint32_t device, Entry entry);
  // Takes a waiting job out; false when it is not waiting (any more).
  bool Remove(uint32_t device, SessionId session, JobId job);
  // A started job is over.
  void Done(uint32_t device);

  // While paused, nothing is started; what runs may end.
  void Pause(uint32_t device);
  void Resume(uint32_t device);

  uint32_t running(uint32_t device) const;

 private:
  struct Device {
    absl::flat_hash_map<SessionId, std::deque<Entry>> queues;  // none is empty
    std::deque<SessionId> turns;                               // those in `queues`, next first
    uint32_t running = 0;
    bool paused = false;
  };
  enum class Place { kFirst, kLast };

  void Add(uint32_t device, Entry entry, Place place);
  // Starts jobs while there is room.
  void Pump(uint32_t device);
  std::optional<Entry> Next(uint32_t device);
  void Free(uint32_t device);

  const uint32_t max_running_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<uint32_t, Device> devices_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace weft::daemon
