#include "cuda/host/runtime.h"

#include <cstdlib>
#include <optional>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"

namespace weft::hostcuda {
namespace {

constexpr char kEnvironmentVariable[] = "WEFT_HOSTCUDA";

// What lives as long as the process.
struct Process {
  std::atomic<Runtime*> current{nullptr};
  Mutex mu;
  std::optional<Settings> configured ABSL_GUARDED_BY(mu);
  std::unique_ptr<Runtime> made ABSL_GUARDED_BY(mu);  // not current before cuInit succeeds
  uint32_t epoch ABSL_GUARDED_BY(mu) = 1;

  static Process& Get() {
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): a driver is one a process
    static Process* const process = new Process;  // never destroyed, see the header
    return *process;
  }
};

absl::Status CheckFaults(const Settings& settings) {
  FaultPlan plan;
  for (const std::string& fault : settings.faults) WEFT_RETURN_IF_ERROR(plan.Add(fault));
  return absl::OkStatus();
}

absl::StatusOr<Settings> ParseAll(absl::string_view text) {
  WEFT_ASSIGN_OR_RETURN(Settings settings, ParseSettings(text));
  WEFT_RETURN_IF_ERROR(CheckFaults(settings));
  return settings;
}

absl::StatusOr<Settings> SettingsOfEnvironment() {
  const char* text = std::getenv(kEnvironmentVariable);
  return ParseAll(text == nullptr ? "" : text);
}

}  // namespace

Runtime* Runtime::Current() { return Process::Get().current.load(std::memory_order_acquire); }

CUresult Runtime::Initialize() {
  Process& process = Process::Get();
  MutexLock lock(process.mu);
  if (process.current.load(std::memory_order_relaxed) != nullptr) return CUDA_SUCCESS;
  if (process.made == nullptr) {
    if (!process.configured.has_value()) {
      absl::StatusOr<Settings> settings = SettingsOfEnvironment();
      if (!settings.ok()) {
        log::Error("the CPU driver's settings are wrong",
                   {{"variable", kEnvironmentVariable},
                    {"error", std::string(settings.status().message())}});
        return CUDA_ERROR_INVALID_VALUE;
      }
      process.configured = *std::move(settings);
    }
    // Epochs lie far apart, so that a handle of an earlier runtime is not taken for one of this.
    process.made = std::make_unique<Runtime>(*process.configured, process.epoch);
    process.epoch += 1 << 16;
  }
  const CUresult injected = process.made->faults.OnCall(ApiFunction::k_cuInit);
  if (injected != CUDA_SUCCESS) return injected;
  process.current.store(process.made.get(), std::memory_order_release);
  return CUDA_SUCCESS;
}

absl::Status Runtime::Configure(absl::string_view text) {
  Process& process = Process::Get();
  MutexLock lock(process.mu);
  if (process.made != nullptr) {
    return absl::FailedPreconditionError("settings are to be given before cuInit");
  }
  WEFT_ASSIGN_OR_RETURN(process.configured, ParseAll(text));
  return absl::OkStatus();
}

void Runtime::Reset() {
  Process& process = Process::Get();
  MutexLock lock(process.mu);
  process.current.store(nullptr, std::memory_order_release);
  process.made.reset();
  process.configured.reset();
}

Runtime::Runtime(const Settings& settings, uint32_t epoch)
    : settings_(settings),
      memory(settings.devices, settings.memory_bytes),
      virtual_memory(regions),
      plain_memory(memory, regions),
      contexts(HandleKind::kContext, epoch),
      streams(HandleKind::kStream, epoch),
      events(HandleKind::kEvent, epoch),
      blocks(HandleKind::kAllocation, epoch),
      modules(HandleKind::kModule, epoch),
      functions(HandleKind::kFunction, epoch),
      conditions(HandleKind::kCondition, epoch),
      graphs(HandleKind::kGraph, epoch),
      nodes(HandleKind::kGraphNode, epoch),
      execs(HandleKind::kGraphExec, epoch) {
  for (int i = 0; i < settings.devices; ++i) devices_.push_back(std::make_unique<Device>());
  for (const std::string& fault : settings.faults) {
    // Checked when the settings were taken.
    if (!faults.Add(fault).ok()) log::Error("fault ignored", {{"fault", fault}});
  }
}

CUresult Runtime::RetainContext(int ordinal, CUcontext* context) {
  Device& device = *devices_[static_cast<size_t>(ordinal)];
  const CUresult fault = device.fault.load(std::memory_order_acquire);
  if (fault != CUDA_SUCCESS) return fault;
  MutexLock lock(device.mu);
  if (device.retained == 0) {
    device.context = Context::Create({ordinal, settings_.workers, device.fault, regions, faults});
    device.context_handle = contexts.Insert(device.context);
  }
  ++device.retained;
  *context = MakeHandle<CUcontext>(device.context_handle);
  return CUDA_SUCCESS;
}

CUresult Runtime::ReleaseContext(int ordinal) {
  Device& device = *devices_[static_cast<size_t>(ordinal)];
  MutexLock lock(device.mu);
  if (device.retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
  if (--device.retained == 0) EndContext(device);
  return device.fault.load(std::memory_order_acquire);
}

std::shared_ptr<Context> Runtime::ActiveContext(int ordinal) {
  Device& device = *devices_[static_cast<size_t>(ordinal)];
  MutexLock lock(device.mu);
  return device.context;
}

void Runtime::EndContext(Device& device) {
  const std::shared_ptr<Context> context = std::exchange(device.context, nullptr);
  contexts.Remove(device.context_handle);
  context->Shutdown();
  const auto ended = [&context](const auto& object) { return &object.context() == context.get(); };
  streams.RemoveIf(ended);
  events.RemoveIf(ended);
  functions.RemoveIf(ended);
  modules.RemoveIf([&](const LoadedModule& module) { return module.context == context; });
  textures.RemoveOf(context.get());
  plain_memory.ReleaseOwnedBy(context.get());
}

}  // namespace weft::hostcuda
