// A device's primary context, and the guard that makes it current.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "cuda/driver.h"
#include "cuda/unique_handle.h"

namespace weft::cuda {

// How a thread waits inside Synchronize calls.
enum class WaitMode {
  kSpin,      // lowest latency, one core busy
  kBlocking,  // sleeps; some 10 µs more
};

namespace internal {
struct PrimaryContext {
  CUcontext handle = nullptr;
  CUdevice device = 0;
  friend bool operator==(const PrimaryContext&, const PrimaryContext&) = default;
};
void ReleasePrimaryContext(const ContextRef& context, PrimaryContext primary);
}  // namespace internal

// Owns a reference on the primary context of one device. Outlives every handle made with it; moving
// it does not disturb them. Expensive: 0.2–0.3 s and about 0.5 GiB of device memory on a GPU.
// After a context-fatal error (status.h) every call on it fails until the process ends.
// Thread safety: all const members may be called from any thread.
class Context {
 public:
  // REQUIRES: InitializeDriver(driver) was OK; 0 <= ordinal < device count. `driver` outlives the
  // context. Calls cuDevicePrimaryCtxSetFlags and cuDevicePrimaryCtxRetain; blocks while the driver
  // sets up the device. The calling thread's current context stays as it is.
  static absl::StatusOr<Context> Create(const Driver& driver, int ordinal,
                                        WaitMode wait_mode = WaitMode::kSpin);

  const ContextRef& ref() const { return owned_.context(); }
  const Driver& driver() const { return owned_.driver(); }
  CUcontext handle() const { return owned_.get().handle; }
  CUdevice device() const { return owned_.get().device; }
  bool valid() const { return owned_.valid(); }

  // Blocks until everything submitted in this context is done (cuCtxSynchronize).
  absl::Status Synchronize() const;

 private:
  using Owned = UniqueHandle<internal::PrimaryContext, internal::ReleasePrimaryContext>;
  explicit Context(Owned owned) : owned_(std::move(owned)) {}
  Owned owned_;
};

// Makes a context current on this thread for the guard's life, and the former one again after it.
// Costs one thread-local read when it already is current: a thread that does much work holds an
// outer guard. Every function of cuda/ uses one itself; callers need none for correctness.
// Not movable; lives on the stack, destroyed in reverse order on the thread that made it.
class ScopedContext {
 public:
  explicit ScopedContext(const ContextRef& context);
  explicit ScopedContext(const Context& context) : ScopedContext(context.ref()) {}
  ScopedContext(const ScopedContext&) = delete;
  ScopedContext& operator=(const ScopedContext&) = delete;
  ~ScopedContext();

  // Not OK when the context could not be made current; then nothing was changed.
  const absl::Status& status() const { return status_; }

 private:
  const Driver* driver_;
  enum class State { kUnchanged, kPushed } state_ = State::kUnchanged;
  absl::Status status_;
};

// Makes `context_ref` current for the rest of the enclosing block; returns the error when it
// cannot.
#define WEFT_MAKE_CURRENT(context_ref)                                 \
  const ::weft::cuda::ScopedContext weft_current_context(context_ref); \
  WEFT_RETURN_IF_ERROR(weft_current_context.status())

}  // namespace weft::cuda
