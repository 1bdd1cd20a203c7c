#include "cuda/host/library.h"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

namespace weft::hostcuda {
namespace {

// The library's state: made once, never destroyed, since threads and other libraries' destructors may still call when
// the process ends.
struct Root {
  Mutex mu;
  std::optional<std::string> configured ABSL_GUARDED_BY(mu);
  std::atomic<Library*> library{nullptr};
};
Root& TheRoot() {
  static Root* const root = new Root;  // NOLINT: lives until the process ends
  return *root;
}

CUresult Complain(const absl::Status& status) {
  std::fprintf(stderr, "libweft_hostcuda: %s\n", std::string(status.message()).c_str());
  return CUDA_ERROR_INVALID_VALUE;
}

absl::Status CheckFaults(const Settings& settings) {
  FaultPlan scratch;
  for (const std::string& fault : settings.faults) {
    absl::Status added = scratch.Add(fault);
    if (!added.ok()) return added;
  }
  return absl::OkStatus();
}

}  // namespace

Library::Library(Settings parsed)
    : settings(std::move(parsed)), memory(settings.devices, settings.memory_bytes) {
  for (const std::string& fault : settings.faults)
    static_cast<void>(faults.Add(fault));  // checked before
  for (int device = 0; device < settings.devices; ++device)
    primaries.push_back(std::make_unique<PrimaryContext>());
}

CUresult Library::Configure(const char* text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const absl::StatusOr<Settings> parsed = ParseSettings(text);
  if (!parsed.ok()) return Complain(parsed.status());
  if (const absl::Status faults = CheckFaults(*parsed); !faults.ok()) return Complain(faults);
  Root& root = TheRoot();
  MutexLock lock(root.mu);
  if (root.library.load() != nullptr) return CUDA_ERROR_NOT_PERMITTED;
  root.configured = text;
  return CUDA_SUCCESS;
}

CUresult Library::Initialize() {
  Root& root = TheRoot();
  MutexLock lock(root.mu);
  if (root.library.load() != nullptr) return CUDA_SUCCESS;
  const char* environment = std::getenv("WEFT_HOSTCUDA");
  const std::string text = root.configured.value_or(environment == nullptr ? "" : environment);
  absl::StatusOr<Settings> parsed = ParseSettings(text);
  if (!parsed.ok()) return Complain(parsed.status());
  if (const absl::Status faults = CheckFaults(*parsed); !faults.ok()) return Complain(faults);
  root.library.store(new Library(*std::move(parsed)));  // NOLINT: see Root
  return CUDA_SUCCESS;
}

Library* Library::Get() { return TheRoot().library.load(std::memory_order_acquire); }

std::vector<CUcontext>& ContextStack() {
  thread_local std::vector<CUcontext> stack;
  return stack;
}

Call::Call(ApiFunction function, Needs needs) : library_(Library::Get()) {
  if (library_ == nullptr) {
    refused_ = CUDA_ERROR_NOT_INITIALIZED;
    return;
  }
  refused_ = library_->faults.OnCall(function);
  if (refused_ != CUDA_SUCCESS || needs == Needs::kNothing) return;
  const std::vector<CUcontext>& stack = ContextStack();
  if (!stack.empty() && stack.back() != nullptr)
    context_ = library_->contexts.Find(ToNumber(stack.back()));
  refused_ = context_ == nullptr ? CUDA_ERROR_INVALID_CONTEXT : context_->fault();
}

std::shared_ptr<Stream> Call::FindStream(CUstream handle) const {
  if (handle == nullptr || handle == CU_STREAM_LEGACY) return context_->legacy_stream();
  std::shared_ptr<Stream> stream = library_->streams.Find(ToNumber(handle));
  return stream != nullptr && &stream->context() == context_.get() ? stream : nullptr;
}

}  // namespace weft::hostcuda
