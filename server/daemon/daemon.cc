#include "server/daemon/daemon.h"

#include <sys/eventfd.h>
#include <sys/resource.h>

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "graph/ir/fingerprint.h"
#include "server/daemon/api_server.h"
#include "server/daemon/buffer_service.h"
#include "server/daemon/device_service.h"
#include "server/daemon/executor_options.h"
#include "server/daemon/executor_supervisor.h"
#include "server/daemon/graph_service.h"
#include "server/daemon/job_service.h"
#include "server/daemon/listener.h"
#include "server/daemon/prepared_graphs.h"
#include "server/daemon/socket_file.h"
#include "weft/config/v1/daemon_config.pb.h"

namespace weft::daemon {
namespace {

// Jobs of a device that run, or are being made ready, at once. The executor overlaps what fits on
// the device; more in flight than this only makes a late job of another session wait longer.
constexpr uint32_t kMaxRunning = 32;
// Compiling is what they mostly do; two, so that one huge job does not hold up the small ones.
constexpr int kWorkers = 2;
// A result is one message, and protobuf's end at 2 GiB; a MiB is for all that is not outputs.
constexpr uint64_t kMaxReplyBytes = (uint64_t{2} << 30) - (uint64_t{1} << 20);
// Sockets, eventfds, log, libraries: what weftd has open besides sessions, graphs and buffers.
constexpr uint64_t kOtherDescriptors = 64;
// What calls that are being answered have at the end.
constexpr absl::Duration kAnswerPatience = absl::Seconds(1);

// Every session and every buffer holds descriptors; the limit that programs start with is for those
// that use select(2).
void RaiseDescriptorLimit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// A buffer holds a descriptor. So many buffers that none is left for connections would lock out
// those, too, who come to delete some.
uint32_t BuffersThatFit(const Config& config) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return config.max_buffers();
  const uint64_t others =
      uint64_t{config.max_sessions()} + config.max_prepared_graphs() + kOtherDescriptors;
  const uint64_t fit = limit.rlim_cur > others ? limit.rlim_cur - others : 1;
  if (fit >= config.max_buffers()) return config.max_buffers();
  log::Info("max_buffers is lowered to what the limit of open files leaves room for",
            {{"max_buffers", absl::StrCat(fit)}, {"open_files", absl::StrCat(limit.rlim_cur)}});
  return static_cast<uint32_t>(fit);
}

JobLimits JobLimitsOf(const Config& config) {
  return {.max_unfinished = config.max_queued_jobs(),
          .max_kept = config.max_kept_jobs(),
          .max_kept_result_bytes = config.max_kept_result_bytes()};
}

ir::Limits IrLimitsOf(const Config& config) {
  ir::Limits limits;
  limits.max_job_bytes = config.max_job_bytes();
  limits.max_nodes = config.max_nodes();
  limits.max_buffers = config.max_buffers_per_job();
  limits.max_output_bytes = std::min(config.max_kept_result_bytes(), kMaxReplyBytes);
  limits.max_pinned_bytes = config.max_pinned_bytes();
  return limits;
}

UserKernelPolicy PolicyOf(const Config& config) {
  UserKernelPolicy policy;
  policy.owner = ::geteuid();
  if (config.user_kernels() == "everyone") policy.who = UserKernelPolicy::Who::kEveryone;
  if (config.user_kernels() == "nobody") policy.who = UserKernelPolicy::Who::kNobody;
  return policy;
}

}  // namespace

// In the order of construction: what stands further down uses what stands above it.
struct Daemon::Parts {
  Parts(const Config& config_in, const ir::Fingerprinter& fingerprinter_in, UniqueFd changed_in)
      : config(config_in), changed(std::move(changed_in)), fingerprinter(fingerprinter_in) {}

  Config config;
  const UniqueFd changed;  // eventfd
  mutable absl::Mutex mutex;
  Phase phase ABSL_GUARDED_BY(mutex) = Phase::kStarting;
  absl::Status error ABSL_GUARDED_BY(mutex);
  size_t starting ABSL_GUARDED_BY(mutex) = 0;  // executors that have not served yet

  const ir::Fingerprinter fingerprinter;
  ServerState state{Clock::Real()};
  std::unique_ptr<SocketFile> socket;

  SessionRegistry sessions{config.max_sessions()};
  BufferRegistry buffers{
      {.max_buffers = config.max_buffers(), .max_device_bytes = config.max_buffer_bytes()}};
  ExecutorDirectory executors;
  PeerMapper peers{buffers};
  GraphCache cache{{.max_instances = config.max_prepared_graphs()}, peers};
  JobTable table{JobLimitsOf(config), Clock::Real()};
  JobOrder order;
  Scheduler scheduler{kMaxRunning};
  TimerQueue timers{Clock::Real()};
  WorkerPool workers{kWorkers};

  BufferManager buffer_manager{buffers, sessions, executors, cache, order};
  JobCompiler compiler{fingerprinter, IrLimitsOf(config), PolicyOf(config),
                       buffers,       executors,          cache};
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

  JobService job_service{{.sessions = sessions,
                          .manager = manager,
                          .table = table,
                          .compiler = compiler,
                          .timers = timers,
                          .workers = workers}};
  BufferService buffer_service{
      {.sessions = sessions, .manager = buffer_manager, .registry = buffers, .state = state}};
  GraphService graph_service{{.sessions = sessions,
                              .manager = manager,
                              .table = table,
                              .compiler = compiler,
                              .cache = cache,
                              .graphs = graphs,
                              .executors = executors,
                              .timers = timers,
                              .workers = workers,
                              .state = state}};
  DeviceService device_service{{.sessions = sessions,
                                .executors = executors,
                                .table = table,
                                .buffers = buffers,
                                .cache = cache,
                                .config = config,
                                .state = state}};

  std::unique_ptr<TimerThread> timer_thread;
  std::unique_ptr<ApiServer> server;
  std::vector<std::unique_ptr<ExecutorSupervisor>> supervisors;
  std::unique_ptr<Listener> listener;
  std::thread drain_thread;

  absl::Status Start();
  void Stop();
  void OnExecutorStarted(const absl::Status& status);
  void EndSession(SessionId session);
  void SetPhase(Phase phase_in) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
};

absl::Status Daemon::Parts::Start() {
  WEFT_ASSIGN_OR_RETURN(std::vector<SupervisorOptions> executor_options, ExecutorOptions(config));
  WEFT_ASSIGN_OR_RETURN(socket, SocketFile::Listen(config.socket(), config.socket_mode()));
  timer_thread = std::make_unique<TimerThread>(timers);
  WEFT_ASSIGN_OR_RETURN(server, ApiServer::Start({.jobs = job_service,
                                                  .buffers = buffer_service,
                                                  .graphs = graph_service,
                                                  .devices = device_service},
                                                 config.max_job_bytes()));
  {
    absl::MutexLock lock(&mutex);
    starting = executor_options.size();
  }
  const SupervisorParts supervisor_parts = {
      .directory = executors, .buffers = buffers, .cache = cache, .scheduler = scheduler};
  for (SupervisorOptions& options : executor_options) {
    WEFT_ASSIGN_OR_RETURN(
        supervisors.emplace_back(),
        ExecutorSupervisor::Start(std::move(options), supervisor_parts,
                                  [this](const absl::Status& s) { OnExecutorStarted(s); }));
  }
  WEFT_ASSIGN_OR_RETURN(listener,
                        Listener::Start(
                            socket->fd(), sessions, [this](int fd) { server->HandOver(fd); },
                            [this](SessionId session) { EndSession(session); }));
  return absl::OkStatus();
}

void Daemon::Parts::Stop() {
  state.draining = true;
  table.Close();
  if (drain_thread.joinable()) drain_thread.join();
  if (listener != nullptr) listener->Stop();
  for (const ExecutorDirectory::Entry& entry : executors.Entries()) scheduler.Pause(entry.device);
  manager.AbortAll();
  // Before the server: calls that wait for an executor are answered by its end.
  supervisors.clear();
  if (server != nullptr) server->Stop(kAnswerPatience);
  timer_thread = nullptr;
  workers.Stop();
}

void Daemon::Parts::SetPhase(Phase phase_in) {
  phase = phase_in;
  ::eventfd_write(changed.get(), 1);
}

void Daemon::Parts::OnExecutorStarted(const absl::Status& status) {
  absl::MutexLock lock(&mutex);
  if (phase != Phase::kStarting) return;
  if (!status.ok()) {
    error = status;
    SetPhase(Phase::kFailed);
  } else if (--starting == 0) {
    server->SetHealth(ApiServer::Health::kServing);
    SetPhase(Phase::kServing);
  }
}

void Daemon::Parts::EndSession(SessionId session) {
  graphs.EndSession(session);
  buffer_manager.EndSession(session);
}

absl::StatusOr<std::unique_ptr<Daemon>> Daemon::Start(const Config& config) {
  RaiseDescriptorLimit();
  WEFT_ASSIGN_OR_RETURN(const ir::Fingerprinter fingerprinter, ir::Fingerprinter::Create());
  WEFT_ASSIGN_OR_RETURN(UniqueFd changed, UniqueFd::Eventfd());
  Config in_force = config;
  in_force.set_max_buffers(BuffersThatFit(config));
  std::unique_ptr<Daemon> daemon(
      new Daemon(std::make_unique<Parts>(in_force, fingerprinter, std::move(changed))));
  WEFT_RETURN_IF_ERROR(daemon->parts_->Start());
  return daemon;
}

Daemon::Daemon(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Daemon::~Daemon() { parts_->Stop(); }

void Daemon::Drain() {
  Parts& p = *parts_;
  {
    absl::MutexLock lock(&p.mutex);
    if (p.phase == Phase::kDraining || p.phase == Phase::kDrained) return;
    p.SetPhase(Phase::kDraining);
  }
  p.state.draining = true;
  p.table.Close();
  p.server->SetHealth(ApiServer::Health::kNotServing);
  log::Info("draining", {{"jobs", absl::StrCat(p.table.totals().queued + p.table.totals().running)},
                         {"grace_ms", absl::StrCat(p.config.drain_grace_ms())}});
  p.drain_thread = std::thread([&p] {
    const auto grace = absl::Milliseconds(static_cast<int64_t>(p.config.drain_grace_ms()));
    if (!p.table.AwaitIdle(grace)) log::Warning("drain_grace_ms is over: jobs are aborted");
    absl::MutexLock lock(&p.mutex);
    p.SetPhase(Phase::kDrained);
  });
}

Daemon::Phase Daemon::phase() const {
  absl::MutexLock lock(&parts_->mutex);
  eventfd_t ignored = 0;
  ::eventfd_read(parts_->changed.get(), &ignored);
  return parts_->phase;
}

absl::Status Daemon::error() const {
  absl::MutexLock lock(&parts_->mutex);
  return parts_->error;
}

int Daemon::changed_fd() const { return parts_->changed.get(); }

const std::string& Daemon::socket() const { return parts_->config.socket(); }

}  // namespace weft::daemon
