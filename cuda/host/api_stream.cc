// Streams and events.
#include <algorithm>

#include "cuda/host/api_call.h"
#include "cuda/host/capture.h"
#include "cuda/host/memory_actions.h"
#include "cuda/host/operations.h"

namespace weft::hostcuda {
namespace {

constexpr double kNanosecondsPerMillisecond = 1e6;

CUresult FindEvent(Runtime& runtime, CUevent handle, std::shared_ptr<Event>* event) {
  *event = runtime.events.Find(HandleNumber(handle));
  return *event == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult RecordEvent(Event& event, const std::shared_ptr<Stream>& stream) {
  if (&event.context() != &stream->context()) return CUDA_ERROR_INVALID_HANDLE;
  if (std::shared_ptr<Capture> capture = stream->capture(); capture != nullptr) {
    Capture::Tail tail = capture->TailOf(*stream);
    event.SetCaptured({std::move(capture), std::move(tail)});
    return CUDA_SUCCESS;
  }
  const std::shared_ptr<Completion> record = event.BeginRecord();
  const CUresult submitted =
      stream->context().Submit(stream, std::make_unique<SignalOperation>(record));
  if (submitted != CUDA_SUCCESS) record->Finish();  // nobody else will
  return submitted;
}

CUresult WaitForEvent(const Event& event, const std::shared_ptr<Stream>& stream) {
  if (const std::optional<Event::Captured> captured = event.captured(); captured.has_value()) {
    return captured->capture->Join(stream, captured->tail);
  }
  if (const std::shared_ptr<Capture> capture = stream->capture(); capture != nullptr) {
    capture->Invalidate();
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  std::shared_ptr<Completion> record = event.latest();
  if (record == nullptr || record->done()) return CUDA_SUCCESS;  // nothing to wait for
  return stream->context().Submit(stream, std::make_unique<AwaitOperation>(std::move(record)));
}

// An event of a capture stands for nothing that runs.
CUresult RefuseCaptured(const Event& event) {
  return event.captured().has_value() ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS;
}

CUresult ElapsedTime(const Event& start, const Event& end, float* milliseconds) {
  if (!start.has_timing() || !end.has_timing()) return CUDA_ERROR_INVALID_HANDLE;
  const std::shared_ptr<Completion> from = start.latest();
  const std::shared_ptr<Completion> to = end.latest();
  if (from == nullptr || to == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (!from->done() || !to->done()) return CUDA_ERROR_NOT_READY;
  *milliseconds = static_cast<float>(static_cast<double>(to->time_ns() - from->time_ns()) /
                                     kNanosecondsPerMillisecond);
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace weft::hostcuda

using namespace weft::hostcuda;  // NOLINT(google-build-using-namespace): the functions are global

extern "C" {

CUresult CUDAAPI cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int priority) {
  return CallInContext(
      ApiFunction::k_cuStreamCreateWithPriority,
      [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
        if (stream == nullptr || (flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING)) != 0) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        const auto kind =
            flags == CU_STREAM_NON_BLOCKING ? Stream::Kind::kNonBlocking : Stream::Kind::kBlocking;
        const int clamped =
            std::clamp(priority, WorkerPool::kGreatestPriority, WorkerPool::kLeastPriority);
        std::shared_ptr<Stream> made = context->CreateStream(kind, clamped);
        if (made == nullptr) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
        *stream = MakeHandle<CUstream>(runtime.streams.Insert(std::move(made)));
        return CUDA_SUCCESS;
      });
}

// What the stream still has to do is done.
CUresult CUDAAPI cuStreamDestroy(CUstream handle) {
  return CallToEnd(ApiFunction::k_cuStreamDestroy, [&](Runtime& runtime) -> CUresult {
    const std::shared_ptr<Stream> stream = runtime.streams.Remove(HandleNumber(handle));
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (const auto capture = stream->capture()) capture->Abandon(*stream);
    stream->context().Retire(stream);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuStreamSynchronize(CUstream handle) {
  return CallInContext(ApiFunction::k_cuStreamSynchronize,
                       [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
                         std::shared_ptr<Stream> stream;
                         WEFT_CU_RETURN_IF_ERROR(FindStream(runtime, context, handle, &stream));
                         WEFT_CU_RETURN_IF_ERROR(RefuseCapture(*stream));
                         if (stream->kind() == Stream::Kind::kLegacy) {
                           // What the legacy stream would wait for is waited for, too.
                           return context->SubmitAndWait(
                               stream,
                               std::make_unique<SignalOperation>(std::make_shared<Completion>()));
                         }
                         stream->Synchronize();
                         return stream->context().fault();
                       });
}

CUresult CUDAAPI cuStreamQuery(CUstream handle) {
  return CallInContext(
      ApiFunction::k_cuStreamQuery, [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
        std::shared_ptr<Stream> stream;
        WEFT_CU_RETURN_IF_ERROR(FindStream(runtime, context, handle, &stream));
        WEFT_CU_RETURN_IF_ERROR(RefuseCapture(*stream));
        const bool idle = stream->kind() == Stream::Kind::kLegacy ? context->BlockingStreamsIdle()
                                                                  : stream->Idle();
        if (!idle) return CUDA_ERROR_NOT_READY;
        return stream->context().fault();
      });
}

CUresult CUDAAPI cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned int flags) {
  return CallInContext(ApiFunction::k_cuStreamWaitEvent,
                       [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
                         if (flags != CU_EVENT_WAIT_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
                         std::shared_ptr<Stream> stream;
                         std::shared_ptr<Event> event;
                         WEFT_CU_RETURN_IF_ERROR(FindStream(runtime, context, handle, &stream));
                         WEFT_CU_RETURN_IF_ERROR(FindEvent(runtime, event_handle, &event));
                         return WaitForEvent(*event, stream);
                       });
}

// CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER allows less order than there is here.
CUresult CUDAAPI cuStreamWriteValue64(CUstream handle, CUdeviceptr address, cuuint64_t value,
                                      unsigned int flags) {
  return CallInContext(
      ApiFunction::k_cuStreamWriteValue64,
      [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
        if (flags > CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER) return CUDA_ERROR_INVALID_VALUE;
        std::shared_ptr<Stream> stream;
        WEFT_CU_RETURN_IF_ERROR(FindStream(runtime, context, handle, &stream));
        WEFT_CU_RETURN_IF_ERROR(RefuseCapture(*stream));
        ActionPtr action;
        WEFT_CU_RETURN_IF_ERROR(MakeValueWrite(runtime.regions, address, value, &action));
        return stream->context().Submit(stream,
                                        std::make_unique<ActionOperation>(std::move(action)));
      });
}

CUresult CUDAAPI cuStreamWaitValue64(CUstream handle, CUdeviceptr address, cuuint64_t value,
                                     unsigned int flags) {
  return CallInContext(
      ApiFunction::k_cuStreamWaitValue64,
      [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
        if ((flags & CU_STREAM_WAIT_VALUE_FLUSH) != 0) return CUDA_ERROR_NOT_SUPPORTED;
        if (flags > CU_STREAM_WAIT_VALUE_NOR) return CUDA_ERROR_INVALID_VALUE;
        std::shared_ptr<Stream> stream;
        WEFT_CU_RETURN_IF_ERROR(FindStream(runtime, context, handle, &stream));
        WEFT_CU_RETURN_IF_ERROR(RefuseCapture(*stream));
        if (!IsValueAddress(runtime.regions, address, Access::kRead)) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        return stream->context().Submit(
            stream, std::make_unique<ValueWaitOperation>(ValueCondition{address, value, flags}));
      });
}

CUresult CUDAAPI cuLaunchHostFunc(CUstream handle, CUhostFn function, void* user_data) {
  return CallInContext(ApiFunction::k_cuLaunchHostFunc,
                       [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
                         std::shared_ptr<Stream> stream;
                         WEFT_CU_RETURN_IF_ERROR(FindStream(runtime, context, handle, &stream));
                         ActionPtr action;
                         WEFT_CU_RETURN_IF_ERROR(MakeHostCall(function, user_data, &action));
                         return SubmitAction(stream, CU_GRAPH_NODE_TYPE_HOST, std::move(action));
                       });
}

// CU_EVENT_BLOCKING_SYNC asks for what every wait here does.
CUresult CUDAAPI cuEventCreate(CUevent* event, unsigned int flags) {
  return CallInContext(
      ApiFunction::k_cuEventCreate, [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
        constexpr unsigned int kKnown = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;
        if (event == nullptr || (flags & ~(kKnown | CU_EVENT_INTERPROCESS)) != 0) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        if ((flags & CU_EVENT_INTERPROCESS) != 0) return CUDA_ERROR_NOT_SUPPORTED;
        *event =
            MakeHandle<CUevent>(runtime.events.Insert(std::make_shared<Event>(context, flags)));
        return CUDA_SUCCESS;
      });
}

CUresult CUDAAPI cuEventDestroy(CUevent event) {
  return CallToEnd(ApiFunction::k_cuEventDestroy, [&](Runtime& runtime) -> CUresult {
    return runtime.events.Remove(HandleNumber(event)) == nullptr ? CUDA_ERROR_INVALID_HANDLE
                                                                 : CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuEventRecord(CUevent event_handle, CUstream handle) {
  return CallInContext(ApiFunction::k_cuEventRecord,
                       [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
                         std::shared_ptr<Stream> stream;
                         std::shared_ptr<Event> event;
                         WEFT_CU_RETURN_IF_ERROR(FindStream(runtime, context, handle, &stream));
                         WEFT_CU_RETURN_IF_ERROR(FindEvent(runtime, event_handle, &event));
                         return RecordEvent(*event, stream);
                       });
}

CUresult CUDAAPI cuEventQuery(CUevent handle) {
  return CallInContext(ApiFunction::k_cuEventQuery,
                       [&](Runtime& runtime, const ContextPtr& /*context*/) -> CUresult {
                         std::shared_ptr<Event> event;
                         WEFT_CU_RETURN_IF_ERROR(FindEvent(runtime, handle, &event));
                         WEFT_CU_RETURN_IF_ERROR(RefuseCaptured(*event));
                         const std::shared_ptr<Completion> record = event->latest();
                         if (record != nullptr && !record->done()) return CUDA_ERROR_NOT_READY;
                         return event->context().fault();
                       });
}

CUresult CUDAAPI cuEventSynchronize(CUevent handle) {
  return CallInContext(ApiFunction::k_cuEventSynchronize,
                       [&](Runtime& runtime, const ContextPtr& /*context*/) -> CUresult {
                         std::shared_ptr<Event> event;
                         WEFT_CU_RETURN_IF_ERROR(FindEvent(runtime, handle, &event));
                         WEFT_CU_RETURN_IF_ERROR(RefuseCaptured(*event));
                         const std::shared_ptr<Completion> record = event->latest();
                         if (record != nullptr) record->Wait();
                         return event->context().fault();
                       });
}

CUresult CUDAAPI cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return CallInContext(ApiFunction::k_cuEventElapsedTime,
                       [&](Runtime& runtime, const ContextPtr& /*context*/) -> CUresult {
                         if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
                         std::shared_ptr<Event> from;
                         std::shared_ptr<Event> to;
                         WEFT_CU_RETURN_IF_ERROR(FindEvent(runtime, start, &from));
                         WEFT_CU_RETURN_IF_ERROR(FindEvent(runtime, end, &to));
                         return ElapsedTime(*from, *to, milliseconds);
                       });
}

}  // extern "C"
