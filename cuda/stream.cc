#include "cuda/stream.h"

#include <cmath>

#include "base/status_macros.h"
#include "cuda/status.h"

namespace weft::cuda {
namespace {

// NOT_READY is an answer to a query, not an error.
absl::StatusOr<bool> QueryAnswer(const Driver& driver, CUresult result, absl::string_view call) {
  if (result == CUDA_ERROR_NOT_READY) return false;
  WEFT_RETURN_IF_ERROR(ResultToStatus(driver, result, call));
  return true;
}

}  // namespace

namespace internal {

void DestroyStream(const ContextRef& context, CUstream stream) {
  const ScopedContext current(context);
  ReportReleaseError(*context.driver, context.driver->cuStreamDestroy(stream), "cuStreamDestroy");
}

void DestroyEvent(const ContextRef& context, CUevent event) {
  const ScopedContext current(context);
  ReportReleaseError(*context.driver, context.driver->cuEventDestroy(event), "cuEventDestroy");
}

}  // namespace internal

absl::StatusOr<bool> EventRef::Query() const {
  WEFT_MAKE_CURRENT(context_);
  const Driver& driver = *context_.driver;
  return QueryAnswer(driver, driver.cuEventQuery(handle_), "cuEventQuery");
}

absl::Status EventRef::Synchronize() const {
  WEFT_MAKE_CURRENT(context_);
  return WEFT_DRIVER_CALL(*context_.driver, cuEventSynchronize, handle_);
}

absl::StatusOr<int64_t> ElapsedNs(const EventRef& start, const EventRef& end) {
  WEFT_MAKE_CURRENT(start.context());
  float milliseconds = 0;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(*start.context().driver, cuEventElapsedTime, &milliseconds,
                                        start.handle(), end.handle()));
  constexpr double kNsPerMs = 1e6;
  return std::llround(static_cast<double>(milliseconds) * kNsPerMs);
}

absl::StatusOr<Event> Event::Create(const Context& context, EventTiming timing) {
  WEFT_MAKE_CURRENT(context.ref());
  const unsigned flags =
      timing == EventTiming::kEnabled ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING;
  CUevent handle = nullptr;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(context.driver(), cuEventCreate, &handle, flags));
  return Event(Owned(context.ref(), handle));
}

absl::Status StreamRef::Record(const EventRef& event) const {
  WEFT_MAKE_CURRENT(context_);
  return WEFT_DRIVER_CALL(driver(), cuEventRecord, event.handle(), handle_);
}

absl::Status StreamRef::Wait(const EventRef& event) const {
  WEFT_MAKE_CURRENT(context_);
  return WEFT_DRIVER_CALL(driver(), cuStreamWaitEvent, handle_, event.handle(),
                          CU_EVENT_WAIT_DEFAULT);
}

absl::StatusOr<bool> StreamRef::Query() const {
  WEFT_MAKE_CURRENT(context_);
  return QueryAnswer(driver(), driver().cuStreamQuery(handle_), "cuStreamQuery");
}

absl::Status StreamRef::Synchronize() const {
  WEFT_MAKE_CURRENT(context_);
  return WEFT_DRIVER_CALL(driver(), cuStreamSynchronize, handle_);
}

absl::Status StreamRef::WriteValue64(CUdeviceptr address, uint64_t value) const {
  WEFT_MAKE_CURRENT(context_);
  return WEFT_DRIVER_CALL(driver(), cuStreamWriteValue64, handle_, address, value,
                          CU_STREAM_WRITE_VALUE_DEFAULT);
}

absl::Status StreamRef::WaitValue64(CUdeviceptr address, uint64_t value,
                                    WaitCondition condition) const {
  WEFT_MAKE_CURRENT(context_);
  const unsigned flags =
      condition == WaitCondition::kEqual ? CU_STREAM_WAIT_VALUE_EQ : CU_STREAM_WAIT_VALUE_GEQ;
  return WEFT_DRIVER_CALL(driver(), cuStreamWaitValue64, handle_, address, value, flags);
}

absl::Status StreamRef::LaunchHostFunc(CUhostFn function, void* user_data) const {
  WEFT_MAKE_CURRENT(context_);
  return WEFT_DRIVER_CALL(driver(), cuLaunchHostFunc, handle_, function, user_data);
}

absl::StatusOr<PriorityRange> StreamPriorityRange(const Context& context) {
  WEFT_MAKE_CURRENT(context.ref());
  PriorityRange range;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(context.driver(), cuCtxGetStreamPriorityRange, &range.least,
                                        &range.greatest));
  return range;
}

absl::StatusOr<Stream> Stream::Create(const Context& context, const StreamOptions& options) {
  WEFT_MAKE_CURRENT(context.ref());
  CUstream handle = nullptr;
  WEFT_RETURN_IF_ERROR(WEFT_DRIVER_CALL(context.driver(), cuStreamCreateWithPriority, &handle,
                                        CU_STREAM_NON_BLOCKING, options.priority));
  return Stream(Owned(context.ref(), handle));
}

}  // namespace weft::cuda
