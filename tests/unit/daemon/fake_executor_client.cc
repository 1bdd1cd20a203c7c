#include "tests/unit/daemon/fake_executor_client.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/daemon/errors.h"
#include "weft/executor/v1/executor.pb.h"

namespace weft::daemon {

cuda::DeviceInfo FakeDevice(int ordinal) {
  cuda::DeviceInfo info;
  info.name = "fake";
  info.ordinal = ordinal;
  info.is_cpu = true;
  info.driver_version = 13000;
  info.compute_major = 9;
  info.total_memory_bytes = uint64_t{1} << 30;
  info.allocation_granularity_bytes = 4096;
  info.multiprocessor_count = 4;
  info.warp_size = 32;
  info.max_concurrent_kernels = 4;
  info.async_engine_count = 1;
  info.max_grid = {0x7fffffff, 65535, 65535};
  info.max_block = {1024, 1024, 64};
  info.max_threads_per_block = 1024;
  info.max_parameter_bytes = 4096;
  info.shared_bytes_per_block = 48 * 1024;
  info.shared_bytes_per_block_optin = 48 * 1024;
  return info;
}

FakeExecutorClient::FakeExecutorClient(Mode mode, int ordinal) : info_(FakeDevice(ordinal)) {
  if (mode == Mode::kAutomatic) thread_ = std::thread([this] { Loop(); });
}

FakeExecutorClient::~FakeExecutorClient() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.Signal();
  }
  if (thread_.joinable()) thread_.join();
  absl::MutexLock lock(&mutex_);
  for (const auto& [graph, fd] : graphs_) {
    if (fd >= 0) ::close(fd);
  }
}

absl::Status FakeExecutorClient::health() const {
  absl::MutexLock lock(&mutex_);
  return health_;
}

void FakeExecutorClient::Later(std::string name, absl::AnyInvocable<void(absl::Status) &&> reply) {
  absl::MutexLock lock(&mutex_);
  calls_.push_back(std::move(name));
  pending_.push_back(std::move(reply));
  changed_.Signal();
}

bool FakeExecutorClient::RunOne() {
  absl::AnyInvocable<void(absl::Status) &&> reply;
  absl::Status health;
  {
    absl::MutexLock lock(&mutex_);
    if (pending_.empty()) return false;
    reply = std::move(pending_.front());
    pending_.pop_front();
    health = health_;
  }
  std::move(reply)(health);
  return true;
}

size_t FakeExecutorClient::RunAll() {
  size_t count = 0;
  while (RunOne()) ++count;
  return count;
}

void FakeExecutorClient::Loop() {
  for (;;) {
    {
      absl::MutexLock lock(&mutex_);
      while (!stopping_ && pending_.empty()) changed_.Wait(&mutex_);
      if (pending_.empty()) return;
    }
    RunOne();
  }
}

void FakeExecutorClient::EndLaunch(LaunchResult result) {
  InFlight launch;
  {
    absl::MutexLock lock(&mutex_);
    while (launches_.empty()) changed_.Wait(&mutex_);
    launch = std::move(launches_.front());
    launches_.pop_front();
  }
  std::move(launch.calls.done)(result);
}

void FakeExecutorClient::MarkLost(std::string what) {
  std::deque<InFlight> launches;
  {
    absl::MutexLock lock(&mutex_);
    health_ = ExecutorLostError(static_cast<uint32_t>(info_.ordinal), what);
    launches.swap(launches_);
  }
  RunAll();
  for (InFlight& launch : launches) {
    LaunchResult result;
    result.code = absl::StatusCode::kAborted;
    result.executor_lost = true;
    std::move(launch.calls.done)(result);
  }
}

size_t FakeExecutorClient::launches_in_flight() const {
  absl::MutexLock lock(&mutex_);
  return launches_.size();
}

std::vector<std::string> FakeExecutorClient::TakeCalls() {
  absl::MutexLock lock(&mutex_);
  return std::exchange(calls_, {});
}

size_t FakeExecutorClient::live_graphs() const {
  absl::MutexLock lock(&mutex_);
  return graphs_.size();
}

size_t FakeExecutorClient::live_allocations() const {
  absl::MutexLock lock(&mutex_);
  return allocations_.size();
}

size_t FakeExecutorClient::live_peers() const {
  absl::MutexLock lock(&mutex_);
  return peers_.size();
}

void FakeExecutorClient::Allocate(BufferId buffer, uint64_t size_bytes, Done<DeviceMemory> done) {
  Later(absl::StrCat("allocate #", buffer.value()),
        [this, buffer, size_bytes, error = std::exchange(allocate_error, absl::OkStatus()),
         done = std::move(done)](absl::Status health) mutable {
          if (!health.ok() || !error.ok()) return std::move(done)(health.ok() ? error : health);
          DeviceMemory memory;
          memory.allocated_bytes = (size_bytes + 4095) / 4096 * 4096;
          memory.fd =
              *UniqueFd::Memfd("fake-memory", memory.allocated_bytes, UniqueFd::Seal::kSealSize);
          {
            absl::MutexLock lock(&mutex_);
            memory.address = next_address_;
            next_address_ += memory.allocated_bytes + 4096;
            allocations_[buffer] = memory.address;
            memory_[memory.address] = std::string(memory.allocated_bytes, '\0');
          }
          std::move(done)(std::move(memory));
        });
}

void FakeExecutorClient::Import(const ImportEntry& entry, DoneStatus done) {
  Later(absl::StrCat("import #", entry.id.value()), std::move(done));
}

void FakeExecutorClient::MapPeer(const ImportEntry& entry, DoneStatus done) {
  Later(absl::StrCat("map #", entry.id.value(), " of device ", entry.device),
        [this, buffer = entry.id, error = std::exchange(map_peer_error, absl::OkStatus()),
         done = std::move(done)](absl::Status health) mutable {
          if (!health.ok() || !error.ok()) return std::move(done)(health.ok() ? error : health);
          {
            absl::MutexLock lock(&mutex_);
            peers_.insert(buffer);
          }
          std::move(done)(absl::OkStatus());
        });
}

void FakeExecutorClient::Free(BufferId buffer, DoneStatus done) {
  Later(absl::StrCat("free #", buffer.value()),
        [this, buffer, done = std::move(done)](absl::Status health) mutable {
          {
            absl::MutexLock lock(&mutex_);
            const auto it = allocations_.find(buffer);
            if (it != allocations_.end()) {
              memory_.erase(it->second);
              allocations_.erase(it);
            }
            peers_.erase(buffer);
          }
          std::move(done)(std::move(health));
        });
}

void FakeExecutorClient::Prepare(GraphId graph, const executor::v1::PrepareRequest&,
                                 Done<PreparedGraph> done) {
  const absl::Status next = prepare_error;
  if (!next.ok() && --prepare_error_count == 0) {
    prepare_error = absl::OkStatus();
    prepare_error_count = 1;
  }
  Later(absl::StrCat("prepare g", graph.value()),
        [this, graph, error = next, done = std::move(done)](absl::Status health) mutable {
          if (!health.ok() || !error.ok()) return std::move(done)(health.ok() ? error : health);
          auto staging = transport::SharedMemory::Create("fake-staging", staging_bytes);
          {
            absl::MutexLock lock(&mutex_);
            graphs_[graph] = ::dup(staging->fd());
          }
          std::move(done)(PreparedGraph{*std::move(staging)});
        });
}

void FakeExecutorClient::Release(GraphId graph, DoneStatus done) {
  Later(absl::StrCat("release g", graph.value()),
        [this, graph, done = std::move(done)](absl::Status health) mutable {
          {
            absl::MutexLock lock(&mutex_);
            const auto it = graphs_.find(graph);
            if (it != graphs_.end()) {
              ::close(it->second);
              graphs_.erase(it);
            }
          }
          std::move(done)(std::move(health));
        });
}

void FakeExecutorClient::GiveNotice(
    const std::function<void(transport::SharedMemory const&)>& write) {
  std::vector<std::shared_ptr<const LaunchNotice>> calls;
  {
    absl::MutexLock lock(&mutex_);
    while (launches_.empty()) changed_.Wait(&mutex_);
    auto staging = transport::SharedMemory::Map(
        UniqueFd(::dup(graphs_.at(launches_.front().graph))), staging_bytes);
    write(*staging);
    for (const InFlight& launch : launches_) {
      if (launch.calls.on_notice != nullptr) calls.push_back(launch.calls.on_notice);
    }
  }
  for (const auto& call : calls) (*call)();
}

absl::Status FakeExecutorClient::Launch(GraphId graph, LaunchCalls calls) {
  {
    absl::MutexLock lock(&mutex_);
    calls_.push_back(absl::StrCat("launch g", graph.value()));
    if (!health_.ok()) return health_;
    if (on_launch != nullptr) {
      auto staging =
          transport::SharedMemory::Map(UniqueFd(::dup(graphs_.at(graph))), staging_bytes);
      on_launch(*staging);
    }
    if (!launch_at_once) {
      launches_.push_back({graph, std::move(calls)});
      changed_.SignalAll();
      return absl::OkStatus();
    }
  }
  Later("end", [done = std::move(calls.done)](const absl::Status& health) mutable {
    LaunchResult result;
    result.executor_lost = !health.ok();
    std::move(done)(result);
  });
  return absl::OkStatus();
}

void FakeExecutorClient::GetLaunchReport(GraphId graph, Done<LaunchReport> done) {
  Later(absl::StrCat("report g", graph.value()),
        [this, done = std::move(done)](const absl::Status& health) mutable {
          if (!health.ok()) return std::move(done)(health);
          std::move(done)(report);
        });
}

void FakeExecutorClient::Write(uint64_t address, std::string bytes, DoneStatus done) {
  Later(absl::StrCat("write ", bytes.size()),
        [this, address, bytes = std::move(bytes),
         error = std::exchange(transfer_error, absl::OkStatus()),
         done = std::move(done)](absl::Status health) mutable {
          if (!health.ok() || !error.ok()) return std::move(done)(health.ok() ? error : health);
          {
            absl::MutexLock lock(&mutex_);
            auto it = std::prev(memory_.upper_bound(address));
            it->second.replace(address - it->first, bytes.size(), bytes);
          }
          std::move(done)(absl::OkStatus());
        });
}

void FakeExecutorClient::Read(uint64_t address, uint64_t size_bytes, Done<std::string> done) {
  Later(absl::StrCat("read ", size_bytes),
        [this, address, size_bytes, error = std::exchange(transfer_error, absl::OkStatus()),
         done = std::move(done)](absl::Status health) mutable {
          if (!health.ok() || !error.ok()) return std::move(done)(health.ok() ? error : health);
          std::string bytes;
          {
            absl::MutexLock lock(&mutex_);
            auto it = std::prev(memory_.upper_bound(address));
            bytes = it->second.substr(address - it->first, size_bytes);
          }
          std::move(done)(std::move(bytes));
        });
}

void FakeExecutorClient::GetMemory(Done<DeviceMemoryUse> done) {
  Later("memory", [done = std::move(done)](const absl::Status& health) mutable {
    if (!health.ok()) return std::move(done)(health);
    std::move(done)(DeviceMemoryUse{uint64_t{1} << 29, uint64_t{1} << 30});
  });
}

}  // namespace weft::daemon
