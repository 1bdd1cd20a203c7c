// All of weftd between the services and the executor, put together for tests: a fake executor, a
// clock moved by hand, and workers that run what they are given at once, on the calling thread.
#pragma once

#include <memory>
#include <string>

#include "graph/ir/job_file.h"
#include "server/daemon/buffer_manager.h"
#include "server/daemon/job_manager.h"
#include "server/daemon/prepared_graphs.h"
#include "server/daemon/session_registry.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/daemon/fake_executor_client.h"
#include "weft/v1/job.pb.h"

namespace weft::daemon {

struct DaemonParts {
  explicit DaemonParts(FakeExecutorClient::Mode mode = FakeExecutorClient::Mode::kByHand)
      : executor(std::make_shared<FakeExecutorClient>(mode)) {
    workers.Stop();
    alice.session = *sessions.Open(100, {.uid = alice.uid, .gid = 0, .pid = 1});
    bob.session = *sessions.Open(101, {.uid = bob.uid, .gid = 0, .pid = 2});
    Serve(executor);
  }
  ~DaemonParts() {
    for (const auto& entry : executors.Entries()) scheduler.Pause(entry.device);
    manager.AbortAll();
    executor->MarkLost("the test is over");
  }

  // As a supervisor does when an executor serves, and when it is lost.
  void Serve(std::shared_ptr<FakeExecutorClient> client) {
    executor = std::move(client);
    const cuda::DeviceInfo& info = executor->device();
    buffers.SetDevice(0, info.total_memory_bytes, info.allocation_granularity_bytes);
    executors.Publish(0, executor);
    scheduler.Resume(0);
  }
  void Lose() {
    scheduler.Pause(0);
    executors.Withdraw(0, ExecutorDirectory::State::kDown);
    executor->MarkLost("signal 9 (Killed)");
    cache.DropExecutor(*executor);
  }

  // A buffer named `name` of 1024 bytes of alice.
  BufferSnapshot MakeBuffer(const std::string& name) {
    absl::StatusOr<BufferSnapshot> made = absl::InternalError("not answered");
    BufferSpec spec{.name = name,
                    .dtype = kernels::DType::kU8,
                    .shape = {1024},
                    .size_bytes = 1024,
                    .device = 0};
    buffer_manager.Create(alice, spec,
                          [&](absl::StatusOr<BufferSnapshot> b) { made = std::move(b); });
    executor->RunAll();
    EXPECT_OK(made);
    return *std::move(made);
  }

  Caller alice{.uid = 1000, .pid = 1, .session = SessionId(0)};
  Caller bob{.uid = 2000, .pid = 2, .session = SessionId(0)};
  weft::testing::FakeClock clock;
  std::shared_ptr<FakeExecutorClient> executor;
  ir::Fingerprinter fingerprinter{ir::Fingerprinter::Key{1, 2}};
  SessionRegistry sessions{16};
  BufferRegistry buffers{{.max_buffers = 100, .max_device_bytes = 0}};
  ExecutorDirectory executors;
  PeerMapper peers{buffers};
  GraphCache cache{{.max_instances = 4, .max_bytes = 1 << 20, .max_instances_per_graph = 2}, peers};
  JobTable table{{.max_unfinished = 64, .max_kept = 64, .max_kept_result_bytes = 1 << 20}, clock};
  JobOrder order;
  Scheduler scheduler{4};
  TimerQueue timers{clock};
  WorkerPool workers{0};
  BufferManager buffer_manager{buffers, sessions, executors, cache, order};
  UserKernelPolicy user_kernels{UserKernelPolicy::Who::kOwner, 1000};  // alice
  JobCompiler compiler{fingerprinter, ir::Limits(), user_kernels, buffers, executors, cache};
  PreparedGraphs graphs{cache};
  JobManager manager{{.compiler = compiler,
                      .table = table,
                      .order = order,
                      .scheduler = scheduler,
                      .cache = cache,
                      .buffers = buffer_manager,
                      .executors = executors,
                      .timers = timers,
                      .workers = workers}};
};

// A job from its text form.
inline v1::Job ParseText(const std::string& text) {
  absl::StatusOr<v1::Job> job = ir::ParseJob(text, ir::JobFormat::kText);
  EXPECT_OK(job);
  return job.ok() ? *std::move(job) : v1::Job();
}

// Uploads "abcd" and downloads it again as output "out".
inline v1::Job EchoJob(const std::string& data = "abcd") {
  return ParseText(R"pb(
                     name: "echo"
                     buffers { name: "b" shape: 4 }
                     nodes { name: "in"
                             upload { dst { buffer: "b" }
                                      data: ")pb" +
                   data + R"pb(" } }
                               nodes {
                                 name: "get"
                                 download {
                                   src { buffer: "b" }
                                   output: "out"
                                 }
                               }
  )pb");
}

// Fills the shared buffer "s" with `pattern`.
inline v1::Job FillJob(int pattern) {
  return ParseText(R"pb(
                     buffers { name: "b" shared: "s" }
                     nodes { fill { dst { buffer: "b" }
                                    pattern:)pb" +
                   std::to_string(pattern) + " } }");
}

}  // namespace weft::daemon
