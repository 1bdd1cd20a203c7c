// An executor without a process: answers when the test says so (RunAll), or at once on a thread of
// its own (Automatic). Launches end when the test ends them, unless `launch_at_once`.
//
// Thread safety: all members may be called from any thread, except the public fields, which are set
// before use.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/daemon/executor_client.h"

namespace weft::daemon {

// A small device, as the CPU driver has it.
cuda::DeviceInfo FakeDevice(int ordinal = 0);

class FakeExecutorClient final : public ExecutorClient {
 public:
  enum class Mode { kByHand, kAutomatic };
  explicit FakeExecutorClient(Mode mode = Mode::kByHand, int ordinal = 0);
  ~FakeExecutorClient() override;

  // What the next call of a kind answers, once (Prepare: so many times); OK when empty.
  absl::Status allocate_error;
  absl::Status map_peer_error;
  absl::Status prepare_error;
  int prepare_error_count = 1;
  absl::Status transfer_error;
  // What the "device" does with a graph's staging area in a launch.
  std::function<void(transport::SharedMemory const&)> on_launch;
  // Launches end by themselves, with success.
  bool launch_at_once = false;
  uint64_t staging_bytes = 4096;

  // Calls back what is pending, and what that makes pending; returns how many.
  size_t RunAll();
  // Ends the oldest launch in flight; waits for one.
  void EndLaunch(LaunchResult result = {});
  // Lets `write` at the staging area of the oldest launch in flight, then gives a notice;
  // waits for one.
  void GiveNotice(const std::function<void(transport::SharedMemory const&)>& write);
  // As the supervisor does when the process is gone.
  void MarkLost(std::string what);

  size_t launches_in_flight() const;
  // Names of the calls, in order: "prepare g1", "launch g1", "release g1", "allocate #1", …
  std::vector<std::string> TakeCalls();
  size_t live_graphs() const;
  size_t live_allocations() const;
  size_t live_peers() const;
  LaunchReport report;  // what GetLaunchReport answers

  const cuda::DeviceInfo& device() const override { return info_; }
  pid_t pid() const override { return 4242; }
  absl::Status health() const override;
  void Allocate(BufferId buffer, uint64_t size_bytes, Done<DeviceMemory> done) override;
  void Import(const ImportEntry& entry, DoneStatus done) override;
  void MapPeer(const ImportEntry& entry, DoneStatus done) override;
  void Free(BufferId buffer, DoneStatus done) override;
  void Prepare(GraphId graph, const executor::v1::PrepareRequest& request,
               Done<PreparedGraph> done) override;
  void Release(GraphId graph, DoneStatus done) override;
  absl::Status Launch(GraphId graph, LaunchCalls calls) override;
  void GetLaunchReport(GraphId graph, Done<LaunchReport> done) override;
  void Write(uint64_t address, std::string bytes, DoneStatus done) override;
  void Read(uint64_t address, uint64_t size_bytes, Done<std::string> done) override;
  void GetMemory(Done<DeviceMemoryUse> done) override;

 private:
  struct InFlight {
    GraphId graph;
    LaunchCalls calls;
  };
  // `name` goes to the calls; `reply` runs later, with the health at that time.
  void Later(std::string name, absl::AnyInvocable<void(absl::Status) &&> reply);
  bool RunOne();
  void Loop();

  const cuda::DeviceInfo info_;
  mutable absl::Mutex mutex_;
  absl::CondVar changed_;
  absl::Status health_ ABSL_GUARDED_BY(mutex_);
  std::deque<absl::AnyInvocable<void(absl::Status) &&>> pending_ ABSL_GUARDED_BY(mutex_);
  std::deque<InFlight> launches_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> calls_ ABSL_GUARDED_BY(mutex_);
  std::map<GraphId, int> graphs_ ABSL_GUARDED_BY(mutex_);  // descriptors of the staging areas
  std::map<BufferId, uint64_t> allocations_ ABSL_GUARDED_BY(mutex_);
  std::set<BufferId> peers_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, std::string> memory_ ABSL_GUARDED_BY(mutex_);  // by address
  uint64_t next_address_ ABSL_GUARDED_BY(mutex_) = uint64_t{1} << 32;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace weft::daemon
