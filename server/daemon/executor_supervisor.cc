#include "server/daemon/executor_supervisor.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "base/error_context.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "server/daemon/device_limits.h"
#include "server/daemon/errors.h"
#include "server/daemon/transfer_area.h"
#include "transport/ring_client.h"
#include "weft/executor/v1/executor.pb.h"

namespace weft::daemon {
namespace {

using transport::ExecutorMessage;

// Making a context takes 0.2 to 0.4 s; a machine whose driver is just being loaded takes seconds.
constexpr absl::Duration kHelloTimeout = absl::Seconds(60);
// What an executor that was told to end, or lost its connection, has until it is killed.
constexpr absl::Duration kEndPatience = absl::Seconds(2);
// An executor that is lost at once again and again is restarted ever later.
constexpr absl::Duration kFirstPause = absl::Milliseconds(100);
constexpr absl::Duration kLongestPause = absl::Seconds(5);
constexpr absl::Duration kStable = absl::Seconds(10);  // served so long: the pause starts anew

bool IsReadable(const pollfd& fd) { return (fd.revents & (POLLIN | POLLHUP | POLLERR)) != 0; }

int PollFor(pollfd* fds, nfds_t count, absl::Duration timeout) {
  const int64_t ms = timeout == absl::InfiniteDuration() ? -1 : absl::ToInt64Milliseconds(timeout);
  int ready = 0;
  do {
    ready = ::poll(fds, count, static_cast<int>(ms));
  } while (ready < 0 && errno == EINTR);
  return ready;
}

}  // namespace

// Buffers on their way into a new executor, one after the other.
struct ExecutorSupervisor::Import {
  std::shared_ptr<GrpcExecutorClient> client;
  std::vector<ImportEntry> entries;
  UniqueFd imported;  // eventfd: all are mapped, or one could not be

  absl::Mutex mutex;
  size_t next ABSL_GUARDED_BY(mutex) = 0;
  absl::Status status ABSL_GUARDED_BY(mutex);

  // Asks for the next one, or says that it is over.
  static void Continue(const std::shared_ptr<Import>& self) {
    size_t index = 0;
    {
      absl::MutexLock lock(&self->mutex);
      index = self->status.ok() ? self->next++ : self->entries.size();
    }
    if (index >= self->entries.size()) {
      ::eventfd_write(self->imported.get(), 1);
      return;
    }
    self->client->Import(self->entries[index], [self](const absl::Status& result_of_one) {
      {
        absl::MutexLock lock(&self->mutex);
        self->status = result_of_one;
      }
      Continue(self);
    });
  }

  absl::Status result() {
    absl::MutexLock lock(&mutex);
    return status;
  }
};

absl::StatusOr<std::unique_ptr<ExecutorSupervisor>> ExecutorSupervisor::Start(
    SupervisorOptions options, const SupervisorParts& parts, Started started) {
  WEFT_ASSIGN_OR_RETURN(UniqueFd stop, UniqueFd::Eventfd());
  parts.directory.AddDevice(options.device);
  parts.scheduler.Pause(options.device);
  std::unique_ptr<ExecutorSupervisor> supervisor(
      new ExecutorSupervisor(std::move(options), parts, std::move(started), std::move(stop)));
  supervisor->thread_ = std::thread([s = supervisor.get()] { s->Run(); });
  return supervisor;
}

void ExecutorSupervisor::Stop() {
  ::eventfd_write(stop_.get(), 1);
  if (thread_.joinable()) thread_.join();
}

void ExecutorSupervisor::Tell(const absl::Status& status) {
  if (started_) std::exchange(started_, nullptr)(status);
}

void ExecutorSupervisor::Run() {
  absl::Duration pause = kFirstPause;
  do {
    const absl::Duration begin = Clock::Real().Now();
    const absl::Status status = RunOne();
    if (!status.ok()) {
      log::Error("executor did not start", {{"device", absl::StrCat(options_.device)},
                                            {"error", std::string(status.message())}});
      if (started_) return Tell(status);
    }
    if (Clock::Real().Now() - begin > kStable) pause = kFirstPause;
    if (AwaitStop(pause)) break;
    pause = std::min(pause * 2, kLongestPause);
  } while (true);
  Tell(absl::CancelledError("weftd was stopped"));
}

absl::Status ExecutorSupervisor::RunOne() {
  ::unlink(options_.grpc_socket.c_str());  // of the executor before
  WEFT_ASSIGN_OR_RETURN(std::unique_ptr<ExecutorProcess> process,
                        ExecutorProcess::Spawn(options_.command));
  absl::Status status = Connect(*process);
  bool served = false;
  if (status.ok()) status = StartImports();
  if (status.ok()) served = Serve(*process);
  // Tells the executor to end, when it was not it that ended.
  if (socket_ != nullptr) socket_->Shutdown();
  const std::string how = process->Reap(kEndPatience);
  if (status.ok() && !served) {
    const absl::Status imported = import_->result();
    status =
        ExecutorStartError(options_.device, imported.ok() ? how : std::string(imported.message()));
  }
  Lose(how);
  ::unlink(options_.grpc_socket.c_str());
  return AwaitStop(absl::ZeroDuration()) ? absl::OkStatus() : status;
}

absl::StatusOr<transport::FdMessage> ExecutorSupervisor::Expect(ExecutorMessage kind,
                                                                const ExecutorProcess& process) {
  const Event event = Await(process, kHelloTimeout);
  if (event == Event::kStop) return absl::CancelledError("weftd was stopped");
  if (event == Event::kTimeout) {
    return ExecutorStartError(
        options_.device, absl::StrCat("it said nothing for ", absl::FormatDuration(kHelloTimeout)));
  }
  if (event != Event::kMessage) {
    return ExecutorStartError(options_.device,
                              "it ended before it was ready; its lines in the log say why.");
  }
  absl::StatusOr<transport::FdMessage> message = socket_->Receive();
  if (!message.ok() || message->kind != static_cast<uint32_t>(kind)) {
    return ExecutorStartError(options_.device,
                              "it ended before it was ready; its lines in the log say why.");
  }
  return message;
}

absl::Status ExecutorSupervisor::Connect(ExecutorProcess& process) {
  socket_ = std::make_shared<transport::FdSocket>(process.TakeSocket());
  WEFT_ASSIGN_OR_RETURN(const transport::FdMessage hello, Expect(ExecutorMessage::kHello, process));
  executor::v1::Hello body;
  if (!body.ParseFromString(hello.body)) {
    return ExecutorStartError(options_.device, "its Hello cannot be read.");
  }
  if (!body.error().empty()) {
    return absl::Status(static_cast<absl::StatusCode>(body.error_code()), body.error());
  }
  GrpcExecutorClient::Connection connection;
  connection.device = options_.device;
  connection.pid = process.pid();
  connection.socket = socket_;
  connection.grpc_socket = options_.grpc_socket;
  WEFT_ASSIGN_OR_RETURN(connection.info, DeviceInfoFrom(body.device()));
  WEFT_ASSIGN_OR_RETURN(connection.ring, transport::RingClient::Create({.spin = options_.spin}));
  WEFT_ASSIGN_OR_RETURN(connection.transfer_memory,
                        transport::SharedMemory::Create("weft-transfer", TransferArea::kBytes));
  transport::FdMessage attach;
  attach.kind = static_cast<uint32_t>(ExecutorMessage::kAttach);
  WEFT_RETURN_IF_ERROR(
      socket_->Send(attach, {connection.ring->fd(), connection.transfer_memory.fd()}));
  WEFT_RETURN_IF_ERROR(Expect(ExecutorMessage::kReady, process).status());
  client_ = GrpcExecutorClient::Create(std::move(connection));
  return absl::OkStatus();
}

absl::Status ExecutorSupervisor::StartImports() {
  const cuda::DeviceInfo& info = client_->device();
  p_.buffers.SetDevice(options_.device, info.total_memory_bytes, info.allocation_granularity_bytes);
  import_ = std::make_shared<Import>();
  import_->client = client_;
  import_->entries = p_.buffers.BeginImport(options_.device);
  WEFT_ASSIGN_OR_RETURN(import_->imported, UniqueFd::Eventfd());
  Import::Continue(import_);
  return absl::OkStatus();
}

bool ExecutorSupervisor::Serve(const ExecutorProcess& process) {
  bool serving = false;
  for (;;) {
    switch (Await(process, absl::InfiniteDuration())) {
      case Event::kMessage: {
        absl::StatusOr<transport::FdMessage> message = socket_->Receive();
        if (message.ok()) {
          client_->OnMessage(*std::move(message));
        } else if (absl::IsUnavailable(message.status())) {
          return serving;
        } else {
          log::Error("malformed message of an executor",
                     {{"error", std::string(message.status().message())}});
        }
        break;
      }
      case Event::kImported:
        if (!import_->result().ok()) return serving;
        OnImported();
        serving = true;
        break;
      case Event::kEnded:
      case Event::kStop:
      case Event::kTimeout:
        return serving;
    }
  }
}

void ExecutorSupervisor::OnImported() {
  eventfd_t ignored = 0;
  ::eventfd_read(import_->imported.get(), &ignored);
  p_.directory.Publish(options_.device, client_);
  // A buffer that was deleted since the list was made had no executor to be freed on.
  for (const ImportEntry& entry : import_->entries) {
    if (!p_.buffers.Contains(entry.id)) client_->Free(entry.id, [](const absl::Status&) {});
  }
  log::Info("executor serves", {{"device", absl::StrCat(options_.device)},
                                {"name", client_->device().name},
                                {"pid", absl::StrCat(client_->pid())},
                                {"buffers", absl::StrCat(import_->entries.size())}});
  import_->entries.clear();  // and their descriptors
  p_.scheduler.Resume(options_.device);
  Tell(absl::OkStatus());
}

void ExecutorSupervisor::Lose(absl::string_view what_happened) {
  p_.scheduler.Pause(options_.device);
  p_.directory.Withdraw(options_.device, ExecutorDirectory::State::kDown);
  if (client_ != nullptr) {
    const bool wanted = AwaitStop(absl::ZeroDuration());
    log::Write(wanted ? log::Level::kInfo : log::Level::kWarning,
               wanted ? "executor ended" : "executor lost",
               {{"device", absl::StrCat(options_.device)},
                {"pid", absl::StrCat(client_->pid())},
                {"how", std::string(what_happened)}});
    client_->MarkLost(what_happened);
    p_.cache.DropExecutor(*client_);
    client_->Retire();
  }
  client_ = nullptr;
  socket_ = nullptr;
  import_ = nullptr;
}

ExecutorSupervisor::Event ExecutorSupervisor::Await(const ExecutorProcess& process,
                                                    absl::Duration timeout) const {
  pollfd fds[] = {{stop_.get(), POLLIN, 0},
                  {socket_->fd(), POLLIN, 0},
                  {import_ == nullptr ? -1 : import_->imported.get(), POLLIN, 0},
                  {process.pidfd(), POLLIN, 0}};
  PollFor(fds, 4, timeout);
  constexpr Event kEvents[] = {Event::kStop, Event::kMessage, Event::kImported, Event::kEnded};
  for (size_t i = 0; i < 4; ++i) {
    if (IsReadable(fds[i])) return kEvents[i];
  }
  return Event::kTimeout;
}

bool ExecutorSupervisor::AwaitStop(absl::Duration timeout) const {
  pollfd stop = {stop_.get(), POLLIN, 0};
  PollFor(&stop, 1, timeout);
  return IsReadable(stop);
}

}  // namespace weft::daemon
