#include "cuda/context.h"

#include "base/status_macros.h"
#include "cuda/status.h"

namespace weft::cuda {
namespace internal {

void ReleasePrimaryContext(const ContextRef& context, PrimaryContext primary) {
  const Driver& driver = *context.driver;
  ReportReleaseError(driver, driver.cuDevicePrimaryCtxRelease(primary.device),
                     "cuDevicePrimaryCtxRelease");
}

}  // namespace internal

absl::StatusOr<Context> Context::Create(const Driver& driver, int ordinal, WaitMode wait_mode) {
  internal::PrimaryContext primary;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(driver, cuDeviceGet, &primary.device, ordinal));
  const unsigned schedule =
      wait_mode == WaitMode::kSpin ? CU_CTX_SCHED_SPIN : CU_CTX_SCHED_BLOCKING_SYNC;
  // Mapped host memory needs no flag: every context has it, and a GPU's driver refuses CU_CTX_MAP_HOST here.
  WEFT_RETURN_IF_ERROR(
      WEFT_DRIVER_CALL(driver, cuDevicePrimaryCtxSetFlags, primary.device, schedule));
  WEFT_RETURN_IF_ERROR(
      WEFT_DRIVER_CALL(driver, cuDevicePrimaryCtxRetain, &primary.handle, primary.device));
  return Context(Owned(ContextRef{&driver, primary.handle, primary.device}, primary));
}

absl::Status Context::Synchronize() const {
  WEFT_MAKE_CURRENT(ref());
  return WEFT_DRIVER_CALL(driver(), cuCtxSynchronize);
}

ScopedContext::ScopedContext(const ContextRef& context) : driver_(context.driver) {
  CUcontext current = nullptr;
  status_ = WEFT_DRIVER_CALL(*driver_, cuCtxGetCurrent, &current);
  if (!status_.ok() || current == context.handle) return;
  status_ = WEFT_DRIVER_CALL(*driver_, cuCtxPushCurrent, context.handle);
  if (status_.ok()) state_ = State::kPushed;
}

ScopedContext::~ScopedContext() {
  if (state_ != State::kPushed) return;
  CUcontext popped = nullptr;
  ReportReleaseError(*driver_, driver_->cuCtxPopCurrent(&popped), "cuCtxPopCurrent");
}

}  // namespace weft::cuda
