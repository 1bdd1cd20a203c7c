// Streams and events: in-order queues of a device, and the marks that order work across them.
//
//   WEFT_ASSIGN_OR_RETURN(Stream stream, Stream::Create(context, {}));
//   WEFT_ASSIGN_OR_RETURN(Event done, Event::Create(context, EventTiming::kDisabled));
//   WEFT_RETURN_IF_ERROR(stream.ref().Record(done.ref()));
//   WEFT_RETURN_IF_ERROR(done.ref().Synchronize());
//
// Stream and Event own; StreamRef and EventRef are values that do not, valid while the owner lives.
// Errors of work submitted earlier (a kernel's fault) may come back from any call here.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/unique_handle.h"

namespace weft::cuda {

namespace internal {
void DestroyStream(const ContextRef& context, CUstream stream);
void DestroyEvent(const ContextRef& context, CUevent event);
}  // namespace internal

enum class EventTiming {
  kDisabled,  // cheaper; for ordering only
  kEnabled,   // may be given to ElapsedNs
};

// Thread safety: all members may be called from any thread.
class EventRef {
 public:
  EventRef() = default;
  EventRef(const ContextRef& context, CUevent handle) : context_(context), handle_(handle) {}

  // True when the work before the last Record is done, or when there was none. Does not block.
  absl::StatusOr<bool> Query() const;
  // Blocks until then.
  absl::Status Synchronize() const;

  CUevent handle() const { return handle_; }
  const ContextRef& context() const { return context_; }

 private:
  ContextRef context_;
  CUevent handle_ = nullptr;
};

// Time between two recorded, completed events of one context, in nanoseconds (the driver's clock
// ticks about every 0.5 µs). REQUIRES: both were made with EventTiming::kEnabled.
// Errors: UNAVAILABLE (not complete yet), FAILED_PRECONDITION or INVALID_ARGUMENT (never recorded).
absl::StatusOr<int64_t> ElapsedNs(const EventRef& start, const EventRef& end);

// Cheap to make (about 1 µs). Destroying one that is still pending is allowed.
class Event {
 public:
  static absl::StatusOr<Event> Create(const Context& context, EventTiming timing);

  EventRef ref() const { return EventRef(owned_.context(), owned_.get()); }
  CUevent handle() const { return owned_.get(); }
  bool valid() const { return owned_.valid(); }

 private:
  using Owned = UniqueHandle<CUevent, internal::DestroyEvent>;
  explicit Event(Owned owned) : owned_(std::move(owned)) {}
  Owned owned_;
};

// Which values let a wait on device memory pass; both sides are unsigned 64-bit.
enum class WaitCondition {
  kGreaterOrEqual,  // cyclic: (int64_t)(memory - value) >= 0
  kEqual,
};

// Thread safety: all members may be called from any thread; calls from several threads on one
// stream enter it in some order. No member but Synchronize blocks, except when the device's queue
// is full.
class StreamRef {
 public:
  StreamRef() = default;
  StreamRef(const ContextRef& context, CUstream handle) : context_(context), handle_(handle) {}

  // Marks the end of what is in the stream now (cuEventRecord); replaces the event's former mark.
  absl::Status Record(const EventRef& event) const;
  // Lets work added from now on wait for the event's present mark; passes when there is none.
  absl::Status Wait(const EventRef& event) const;

  // True when the stream is idle.
  absl::StatusOr<bool> Query() const;
  // Blocks until all work added so far is done.
  absl::Status Synchronize() const;

  // Writes `value` to device (or registered host) memory after the work before it; 8-byte aligned.
  absl::Status WriteValue64(CUdeviceptr address, uint64_t value) const;
  // Lets work added from now on wait until memory at `address` meets the condition.
  absl::Status WaitValue64(CUdeviceptr address, uint64_t value, WaitCondition condition) const;

  // Calls function(user_data) on a thread of the driver after the work before it. The function must
  // not call the driver, and must not wait for work of this context.
  absl::Status LaunchHostFunc(CUhostFn function, void* user_data) const;

  CUstream handle() const { return handle_; }
  const ContextRef& context() const { return context_; }
  const Driver& driver() const { return *context_.driver; }

 private:
  ContextRef context_;
  CUstream handle_ = nullptr;
};

struct StreamOptions {
  int priority = 0;  // lower is more urgent; clamped by the driver to StreamPriorityRange
};

// The least and the most urgent priority of the context's device (for example 0 and -5).
struct PriorityRange {
  int least = 0;
  int greatest = 0;
};
absl::StatusOr<PriorityRange> StreamPriorityRange(const Context& context);

// Streams do not wait for the legacy default stream (CU_STREAM_NON_BLOCKING). Making one takes tens
// of microseconds; destroying one that still has work is allowed, and the work is carried out.
class Stream {
 public:
  static absl::StatusOr<Stream> Create(const Context& context, const StreamOptions& options);

  StreamRef ref() const { return StreamRef(owned_.context(), owned_.get()); }
  CUstream handle() const { return owned_.get(); }
  bool valid() const { return owned_.valid(); }

 private:
  using Owned = UniqueHandle<CUstream, internal::DestroyStream>;
  explicit Stream(Owned owned) : owned_(std::move(owned)) {}
  Owned owned_;
};

}  // namespace weft::cuda
