#include "server/daemon/graph_cache.h"

#include <algorithm>
#include <atomic>

#include "base/error_context.h"
#include "base/log.h"
#include "server/daemon/errors.h"
#include "weft/executor/v1/executor.pb.h"

namespace weft::daemon {

GraphInstance::GraphInstance(GraphId graph_id, std::shared_ptr<ExecutorClient> executor,
                             std::shared_ptr<const CompiledJob> job, PreparedGraph prepared)
    : id(graph_id),
      client(std::move(executor)),
      compiled(std::move(job)),
      graph(std::move(prepared)),
      staged(compiled->uploads.size()) {}

GraphInstance::~GraphInstance() {
  // A lost executor has taken its graphs with it.
  if (released_ || !client->health().ok()) return;
  Release([id = id](const absl::Status& status) {
    if (!status.ok()) {
      log::Warning("graph not released", {{"graph", std::to_string(id.value())},
                                          {"error", std::string(status.message())}});
    }
  });
}

void GraphInstance::Release(ExecutorClient::DoneStatus done) {
  released_ = true;
  client->Release(id, std::move(done));
}

GraphLease& GraphLease::operator=(GraphLease&& other) noexcept {
  if (this == &other) return *this;
  Return();
  cache_ = other.cache_;
  instance_ = std::move(other.instance_);
  return *this;
}

void GraphLease::Return() {
  if (instance_ != nullptr) cache_->Return(std::move(instance_));
}

std::shared_ptr<const CompiledJob> GraphCache::Find(const ir::Fingerprint& fingerprint) {
  absl::MutexLock lock(&mutex_);
  const auto it = by_fingerprint_.find(fingerprint);
  if (it == by_fingerprint_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, it->second);
  return it->second->compiled;
}

std::shared_ptr<const CompiledJob> GraphCache::Insert(
    const std::shared_ptr<const CompiledJob>& compiled) {
  Instances dropped;
  absl::MutexLock lock(&mutex_);
  const Entries::iterator entry = EntryOf(compiled);
  EvictLocked(dropped);
  return entry->compiled;
}

GraphCache::Entries::iterator GraphCache::EntryOf(
    const std::shared_ptr<const CompiledJob>& compiled) {
  const auto added = by_fingerprint_.try_emplace(compiled->fingerprint, entries_.begin());
  if (!added.second) {
    entries_.splice(entries_.begin(), entries_, added.first->second);
    return added.first->second;
  }
  entries_.emplace_front();
  entries_.front().compiled = compiled;
  added.first->second = entries_.begin();
  for (const BufferId buffer : compiled->buffers) by_buffer_[buffer].insert(compiled->fingerprint);
  bytes_ += compiled->memory_bytes;
  return entries_.begin();
}

void GraphCache::EvictLocked(Instances& dropped) {
  auto it = entries_.end();
  // Never the first: it is in use right now.
  while (it != entries_.begin() && std::prev(it) != entries_.begin()) {
    if (instances_ <= limits_.max_instances && entries_.size() <= limits_.max_instances &&
        bytes_ <= limits_.max_bytes) {
      return;
    }
    --it;
    if (it->pins == 0 && it->leased == 0 && it->waiting.empty()) it = EraseLocked(it, dropped);
  }
}

GraphCache::Entries::iterator GraphCache::EraseLocked(Entries::iterator entry, Instances& dropped) {
  instances_ -= entry->idle.size();
  bytes_ -= entry->compiled->memory_bytes;
  if (entry->pins > 0) --pinned_;
  std::move(entry->idle.begin(), entry->idle.end(), std::back_inserter(dropped));
  by_fingerprint_.erase(entry->compiled->fingerprint);
  for (const BufferId buffer : entry->compiled->buffers) {
    const auto users = by_buffer_.find(buffer);
    users->second.erase(entry->compiled->fingerprint);
    if (users->second.empty()) by_buffer_.erase(users);
  }
  return entries_.erase(entry);
}

std::unique_ptr<GraphInstance> GraphCache::TakeIdle(Entry& entry, const ExecutorClient& client) {
  // From the back: the last one used has its memory in the caches.
  for (auto it = entry.idle.rbegin(); it != entry.idle.rend(); ++it) {
    if ((*it)->client.get() != &client) continue;
    std::unique_ptr<GraphInstance> instance = std::move(*it);
    entry.idle.erase(std::next(it).base());
    return instance;
  }
  return nullptr;
}

void GraphCache::Acquire(const std::shared_ptr<const CompiledJob>& compiled,
                         std::shared_ptr<ExecutorClient> client, Acquired acquired) {
  std::unique_ptr<GraphInstance> instance;
  Instances dropped;
  {
    absl::MutexLock lock(&mutex_);
    Entry& entry = *EntryOf(compiled);
    instance = TakeIdle(entry, *client);
    if (instance == nullptr && entry.leased >= limits_.max_instances_per_graph) {
      entry.waiting.push_back({std::move(client), std::move(acquired)});
      return;
    }
    if (instance == nullptr && IsShortOfMemory(*compiled, *client)) {
      short_of_memory_.push_back({compiled, std::move(client), std::move(acquired)});
      return;
    }
    ++entry.leased;
    if (instance == nullptr) {
      ++instances_;
      EvictLocked(dropped);
    } else {
      ++leases_out_[client.get()];
    }
  }
  dropped.clear();  // released first: the device may need their memory
  if (instance != nullptr) {
    std::move(acquired)(GraphLease(this, std::move(instance)));
  } else {
    Prepare({compiled, std::move(client), std::move(acquired)});
  }
}

bool GraphCache::IsShortOfMemory(const CompiledJob& compiled, const ExecutorClient& client) const {
  return std::any_of(short_of_memory_.begin(), short_of_memory_.end(), [&](const Preparing& p) {
    return p.client.get() == &client && p.compiled->fingerprint == compiled.fingerprint;
  });
}

void GraphCache::Prepare(Preparing call) {
  const std::shared_ptr<const CompiledJob> compiled = call.compiled;
  const std::shared_ptr<ExecutorClient> client = call.client;
  peers_.Map(compiled, client, [this, call = std::move(call)](const absl::Status& mapped) mutable {
    if (!mapped.ok()) return OnPrepareFailed(std::move(call), mapped);
    PrepareMapped(std::move(call));
  });
}

void GraphCache::PrepareMapped(Preparing call) {
  GraphId graph;
  {
    absl::MutexLock lock(&mutex_);
    graph = GraphId(++last_graph_);
    call.leases_were_out = leases_out_.contains(call.client.get());
  }
  const std::shared_ptr<const CompiledJob> compiled = call.compiled;
  const std::shared_ptr<ExecutorClient> client = call.client;
  client->Prepare(
      graph, *compiled->prepare,
      [this, graph, call = std::move(call)](absl::StatusOr<PreparedGraph> prepared) mutable {
        OnPrepared(std::move(call), graph, std::move(prepared));
      });
}

void GraphCache::OnPrepared(Preparing call, GraphId graph, absl::StatusOr<PreparedGraph> prepared) {
  if (prepared.ok()) {
    const uint64_t staging_bytes = prepared->staging.size();
    auto instance =
        std::make_unique<GraphInstance>(graph, call.client, call.compiled, *std::move(prepared));
    if (staging_bytes < call.compiled->staging_bytes) {
      // Both have planned the job, and disagree: they are not of one version.
      return OnPrepareFailed(std::move(call), PlansDifferError());
    }
    {
      absl::MutexLock lock(&mutex_);
      ++leases_out_[call.client.get()];
    }
    std::move(call.acquired)(GraphLease(this, std::move(instance)));
    return;
  }
  const absl::Status error = prepared.status();
  if (!absl::IsResourceExhausted(error)) return OnPrepareFailed(std::move(call), error);
  if (!call.may_retry) {
    if (!AwaitMemory(call)) OnPrepareFailed(std::move(call), error);
    return;
  }
  call.may_retry = false;
  const std::shared_ptr<ExecutorClient> client = call.client;
  ReleaseIdle(client, [this, error, call = std::move(call)](size_t released) mutable {
    if (released > 0) {
      Prepare(std::move(call));
    } else if (!AwaitMemory(call)) {
      OnPrepareFailed(std::move(call), error);
    }
  });
}

bool GraphCache::AwaitMemory(Preparing& call) {
  {
    absl::MutexLock lock(&mutex_);
    if (leases_out_.contains(call.client.get())) {
      Entry& entry = *EntryOf(call.compiled);
      --entry.leased;
      --instances_;
      short_of_memory_.push_back(std::move(call));
      return true;
    }
    if (!call.leases_were_out) return false;
  }
  call.may_retry = true;
  Prepare(std::move(call));
  return true;
}

void GraphCache::RetryOneShortOfMemory(const ExecutorClient& client) {
  Preparing call;
  {
    absl::MutexLock lock(&mutex_);
    const auto it = std::find_if(short_of_memory_.begin(), short_of_memory_.end(),
                                 [&](const Preparing& p) { return p.client.get() == &client; });
    if (it == short_of_memory_.end()) return;
    call = std::move(*it);
    short_of_memory_.erase(it);
  }
  // From the start: an instance of the very graph may be idle now.
  Acquire(call.compiled, std::move(call.client), std::move(call.acquired));
}

void GraphCache::OnPrepareFailed(Preparing call, const absl::Status& error) {
  Waiting next;
  {
    absl::MutexLock lock(&mutex_);
    Entry& entry = *EntryOf(call.compiled);
    --entry.leased;
    --instances_;
    // Those who wait for an instance would wait for ever if none is left to become free.
    if (entry.leased == 0 && !entry.waiting.empty()) {
      next = std::move(entry.waiting.front());
      entry.waiting.pop_front();
    }
  }
  const std::shared_ptr<ExecutorClient> client = call.client;
  std::move(call.acquired)(error);
  if (next.client != nullptr) {
    Acquire(call.compiled, std::move(next.client), std::move(next.acquired));
  }
  RetryOneShortOfMemory(*client);
}

void GraphCache::Return(std::unique_ptr<GraphInstance> instance) {
  const std::shared_ptr<ExecutorClient> client = instance->client;
  const std::shared_ptr<const CompiledJob> compiled = instance->compiled;
  const bool usable = client->health().ok();
  Waiting next;
  std::unique_ptr<GraphInstance> passed_on;
  {
    absl::MutexLock lock(&mutex_);
    const auto it = by_fingerprint_.find(compiled->fingerprint);
    Entry& entry = *it->second;  // an entry with a lease is never erased
    if (!entry.waiting.empty()) {
      next = std::move(entry.waiting.front());
      entry.waiting.pop_front();
    }
    if (usable && next.client == client) {
      passed_on = std::move(instance);
    } else {
      --entry.leased;
      const auto out = leases_out_.find(client.get());
      if (--out->second == 0) leases_out_.erase(out);
      if (usable) {
        entry.idle.push_back(std::move(instance));
      } else {
        --instances_;
      }
    }
  }
  if (passed_on != nullptr) {
    std::move(next.acquired)(GraphLease(this, std::move(passed_on)));
    return;
  }
  if (next.client != nullptr) {
    Acquire(compiled, std::move(next.client), std::move(next.acquired));
  }
  RetryOneShortOfMemory(*client);
}

absl::Status GraphCache::Pin(const std::shared_ptr<const CompiledJob>& compiled) {
  absl::MutexLock lock(&mutex_);
  Entry& entry = *EntryOf(compiled);
  if (entry.pins == 0) {
    if (pinned_ >= limits_.max_instances) return TooManyGraphsError(limits_.max_instances);
    ++pinned_;
  }
  ++entry.pins;
  return absl::OkStatus();
}

void GraphCache::Unpin(const CompiledJob& compiled) {
  absl::MutexLock lock(&mutex_);
  const auto it = by_fingerprint_.find(compiled.fingerprint);
  if (it == by_fingerprint_.end() || it->second->pins == 0) return;  // dropped with its buffer
  if (--it->second->pins == 0) --pinned_;
}

void GraphCache::DropBuffer(BufferId buffer) {
  Instances dropped;
  absl::MutexLock lock(&mutex_);
  const auto users = by_buffer_.find(buffer);
  if (users == by_buffer_.end()) return;
  const absl::flat_hash_set<ir::Fingerprint> fingerprints = users->second;
  for (const ir::Fingerprint& fingerprint : fingerprints) {
    const Entries::iterator entry = by_fingerprint_.find(fingerprint)->second;
    if (entry->leased == 0 && entry->waiting.empty()) EraseLocked(entry, dropped);
  }
}

void GraphCache::DropExecutor(const ExecutorClient& client) {
  Instances dropped;
  std::vector<Preparing> lost;
  {
    absl::MutexLock lock(&mutex_);
    for (Entry& entry : entries_) {
      while (std::unique_ptr<GraphInstance> instance = TakeIdle(entry, client)) {
        dropped.push_back(std::move(instance));
        --instances_;
      }
    }
    const auto first =
        std::stable_partition(short_of_memory_.begin(), short_of_memory_.end(),
                              [&](const Preparing& p) { return p.client.get() != &client; });
    std::move(first, short_of_memory_.end(), std::back_inserter(lost));
    short_of_memory_.erase(first, short_of_memory_.end());
  }
  for (Preparing& call : lost) std::move(call.acquired)(client.health());
}

void GraphCache::ReleaseIdle(const std::shared_ptr<ExecutorClient>& client,
                             absl::AnyInvocable<void(size_t) &&> done) {
  Instances idle;
  {
    absl::MutexLock lock(&mutex_);
    for (Entry& entry : entries_) {
      while (std::unique_ptr<GraphInstance> instance = TakeIdle(entry, *client)) {
        idle.push_back(std::move(instance));
        --instances_;
      }
    }
  }
  if (idle.empty()) {
    std::move(done)(0);
    return;
  }
  // Shared: the replies come on any thread, and the last one calls `done`.
  struct Countdown {
    std::atomic<size_t> left;
    size_t count;
    absl::AnyInvocable<void(size_t) &&> done;
  };
  auto countdown = std::make_shared<Countdown>();
  countdown->left = countdown->count = idle.size();
  countdown->done = std::move(done);
  for (const auto& instance : idle) {
    instance->Release([countdown](const absl::Status&) {
      if (--countdown->left == 0) std::move(countdown->done)(countdown->count);
    });
  }
}

size_t GraphCache::instance_count() const {
  absl::MutexLock lock(&mutex_);
  return instances_;
}

}  // namespace weft::daemon
