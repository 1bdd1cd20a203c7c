// Prepared graphs, kept for jobs that come again.
//
// An entry is a compiled job and its instances: copies of its graph on the executor, each of which
// runs one launch at a time. An instance is idle, or leased to the job that runs it. Entries are
// dropped in the order of last use, when there are too many instances or bytes; those in use, and
// those pinned (graphs that a client prepared), stay.
//
// A graph for which the device has no memory right now waits for the leases that are out: each that
// comes back lets the one that waits longest try again. It fails only when none is out.
//
// Thread safety: all members may be called from any thread; callbacks run without a lock held.
// Cost: a hit is one lock and one look-up.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/ids.h"
#include "graph/ir/fingerprint.h"
#include "server/daemon/compiled_job.h"
#include "server/daemon/executor_client.h"
#include "server/daemon/peer_mapper.h"

namespace weft::daemon {

class GraphCache;

// A graph on an executor. Released there when it ends.
struct GraphInstance {
  GraphInstance(GraphId graph_id, std::shared_ptr<ExecutorClient> executor,
                std::shared_ptr<const CompiledJob> job, PreparedGraph prepared);
  ~GraphInstance();
  GraphInstance(const GraphInstance&) = delete;
  GraphInstance& operator=(const GraphInstance&) = delete;

  // Releases it on the executor now; `done` is told when that is done.
  void Release(ExecutorClient::DoneStatus done);

  const GraphId id;
  const std::shared_ptr<ExecutorClient> client;
  const std::shared_ptr<const CompiledJob> compiled;
  const PreparedGraph graph;
  // The rest belongs to whoever leases the instance.
  std::vector<std::weak_ptr<const std::string>> staged;  // by upload: what lies in the staging area
  bool launched = false;

 private:
  bool released_ = false;
};

// The right to run an instance; gives it back when it ends. Move-only.
class GraphLease {
 public:
  GraphLease() = default;
  GraphLease(GraphCache* cache, std::unique_ptr<GraphInstance> instance)
      : cache_(cache), instance_(std::move(instance)) {}
  GraphLease(GraphLease&& other) noexcept = default;
  GraphLease& operator=(GraphLease&& other) noexcept;
  ~GraphLease() { Return(); }

  GraphInstance* get() const { return instance_.get(); }
  GraphInstance* operator->() const { return instance_.get(); }
  explicit operator bool() const { return instance_ != nullptr; }
  void Return();

 private:
  GraphCache* cache_ = nullptr;
  std::unique_ptr<GraphInstance> instance_;
};

struct GraphCacheLimits {
  uint32_t max_instances = 0;
  // Of compiled jobs. Their size follows that of the job; 256 MiB is four jobs of the default
  // max_job_bytes, or some 100,000 of one node.
  uint64_t max_bytes = uint64_t{256} << 20;
  // Jobs of one graph that run side by side. More would not fill the device better: small graphs
  // are bound by launching, large ones fill it alone.
  uint32_t max_instances_per_graph = 8;
};

class GraphCache {
 public:
  using Acquired = absl::AnyInvocable<void(absl::StatusOr<GraphLease>) &&>;

  // REQUIRES: `peers` outlives this.
  GraphCache(const GraphCacheLimits& limits, PeerMapper& peers) : limits_(limits), peers_(peers) {}
  // REQUIRES: no lease and no Acquire is left.
  ~GraphCache() = default;

  // nullptr: not there.
  std::shared_ptr<const CompiledJob> Find(const ir::Fingerprint& fingerprint);
  // Keeps `compiled`, or finds that an equal one was kept meanwhile; returns the one to use.
  std::shared_ptr<const CompiledJob> Insert(const std::shared_ptr<const CompiledJob>& compiled);

  // A lease of an instance on `client`: an idle one (then `acquired` is called before this
  // returns), a new one, or, when there are enough or memory is short, one later. UNAVAILABLE when
  // the executor is lost; otherwise what preparing it said.
  void Acquire(const std::shared_ptr<const CompiledJob>& compiled,
               std::shared_ptr<ExecutorClient> client, Acquired acquired);

  // A pinned entry is not dropped. RESOURCE_EXHAUSTED when max_instances entries are pinned.
  absl::Status Pin(const std::shared_ptr<const CompiledJob>& compiled);
  void Unpin(const CompiledJob& compiled);

  // Drops what refers to a buffer that is gone, or to an executor that is lost (`acquired` of what
  // waits for its memory is told so).
  void DropBuffer(BufferId buffer);
  void DropExecutor(const ExecutorClient& client);
  // Releases all idle instances of an executor, whose device memory is short; then calls `done`
  // with how many there were (on this thread when there were none).
  void ReleaseIdle(const std::shared_ptr<ExecutorClient>& client,
                   absl::AnyInvocable<void(size_t) &&> done);

  size_t instance_count() const;

 private:
  friend class GraphLease;
  struct Waiting {
    std::shared_ptr<ExecutorClient> client;
    Acquired acquired;
  };
  struct Entry {
    std::shared_ptr<const CompiledJob> compiled;
    std::vector<std::unique_ptr<GraphInstance>> idle;
    std::deque<Waiting> waiting;
    uint32_t leased = 0;  // leases out, and instances being prepared
    uint32_t pins = 0;
  };
  using Entries = std::list<Entry>;  // last used first
  using Instances = std::vector<std::unique_ptr<GraphInstance>>;
  // An instance being made.
  struct Preparing {
    std::shared_ptr<const CompiledJob> compiled;
    std::shared_ptr<ExecutorClient> client;
    Acquired acquired;
    bool may_retry = true;         // once, after idle instances made room on the device
    bool leases_were_out = false;  // of the client, when preparing began
  };

  Entries::iterator EntryOf(const std::shared_ptr<const CompiledJob>& compiled)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Moves the instances of entries that must go into `dropped`; to be destroyed without the lock.
  void EvictLocked(Instances& dropped) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Entries::iterator EraseLocked(Entries::iterator entry, Instances& dropped)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static std::unique_ptr<GraphInstance> TakeIdle(Entry& entry, const ExecutorClient& client);
  // True when an equal call waits for memory already.
  bool IsShortOfMemory(const CompiledJob& compiled, const ExecutorClient& client) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Once the memory of other devices is mapped.
  void Prepare(Preparing call);
  void PrepareMapped(Preparing call);
  void OnPrepared(Preparing call, GraphId graph, absl::StatusOr<PreparedGraph> prepared);
  void OnPrepareFailed(Preparing call, const absl::Status& error);
  // Keeps a call that found no memory until a lease of its client comes back, or tries again when
  // one has meanwhile. False: there is none to wait for.
  bool AwaitMemory(Preparing& call);
  void RetryOneShortOfMemory(const ExecutorClient& client);
  void Return(std::unique_ptr<GraphInstance> instance);

  const GraphCacheLimits limits_;
  PeerMapper& peers_;
  mutable absl::Mutex mutex_;
  Entries entries_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<ir::Fingerprint, Entries::iterator> by_fingerprint_ ABSL_GUARDED_BY(mutex_);
  // The entries that use a buffer.
  absl::flat_hash_map<BufferId, absl::flat_hash_set<ir::Fingerprint>> by_buffer_
      ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<const ExecutorClient*, uint32_t> leases_out_ ABSL_GUARDED_BY(mutex_);
  std::deque<Preparing> short_of_memory_ ABSL_GUARDED_BY(mutex_);  // in the order of their coming
  size_t instances_ ABSL_GUARDED_BY(mutex_) = 0;  // idle, leased and being prepared
  uint64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint32_t pinned_ ABSL_GUARDED_BY(mutex_) = 0;  // entries
  uint64_t last_graph_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace weft::daemon
