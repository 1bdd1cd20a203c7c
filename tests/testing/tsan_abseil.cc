// Makes ThreadSanitizer see Abseil's locks.
//
// The distribution's Abseil is not built for ThreadSanitizer: what absl::Mutex orders reads to it as
// a data race. Test programs built for it are linked with --wrap for the functions below
// (CMakeLists.txt), which add the edges that Abseil's own annotations would. The names are those of
// Debian's Abseil 20220623. Not covered: Mutex::Await, whose condition another thread may evaluate;
// code that is to be tested with threads uses CondVar.
#include <sanitizer/tsan_interface.h>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's own names

extern "C" {

void __real__ZN4absl7debian35Mutex4LockEv(absl::Mutex*);
void __real__ZN4absl7debian35Mutex6UnlockEv(absl::Mutex*);
void __real__ZN4absl7debian37CondVar4WaitEPNS0_5MutexE(absl::CondVar*, absl::Mutex*);
bool __real__ZN4absl7debian37CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE(absl::CondVar*,
                                                                                 absl::Mutex*,
                                                                                 absl::Duration);
void __real__ZN4absl7debian312Notification6NotifyEv(absl::Notification*);
void __real__ZNK4absl7debian312Notification19WaitForNotificationEv(const absl::Notification*);
bool __real__ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_8DurationE(
    const absl::Notification*, absl::Duration);
bool __real__ZN4absl7debian315BlockingCounter14DecrementCountEv(absl::BlockingCounter*);
void __real__ZN4absl7debian315BlockingCounter4WaitEv(absl::BlockingCounter*);

void __wrap__ZN4absl7debian35Mutex4LockEv(absl::Mutex* mutex) {
  __real__ZN4absl7debian35Mutex4LockEv(mutex);
  __tsan_acquire(mutex);
}

void __wrap__ZN4absl7debian35Mutex6UnlockEv(absl::Mutex* mutex) {
  __tsan_release(mutex);
  __real__ZN4absl7debian35Mutex6UnlockEv(mutex);
}

void __wrap__ZN4absl7debian37CondVar4WaitEPNS0_5MutexE(absl::CondVar* condition,
                                                       absl::Mutex* mutex) {
  __tsan_release(mutex);
  __real__ZN4absl7debian37CondVar4WaitEPNS0_5MutexE(condition, mutex);
  __tsan_acquire(mutex);
}

bool __wrap__ZN4absl7debian37CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE(
    absl::CondVar* condition, absl::Mutex* mutex, absl::Duration timeout) {
  __tsan_release(mutex);
  const bool timed_out =
      __real__ZN4absl7debian37CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE(condition, mutex,
                                                                                  timeout);
  __tsan_acquire(mutex);
  return timed_out;
}

void __wrap__ZN4absl7debian312Notification6NotifyEv(absl::Notification* notification) {
  __tsan_release(notification);
  __real__ZN4absl7debian312Notification6NotifyEv(notification);
}

void __wrap__ZNK4absl7debian312Notification19WaitForNotificationEv(
    const absl::Notification* notification) {
  __real__ZNK4absl7debian312Notification19WaitForNotificationEv(notification);
  __tsan_acquire(const_cast<absl::Notification*>(notification));
}

bool __wrap__ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_8DurationE(
    const absl::Notification* notification, absl::Duration timeout) {
  const bool notified =
      __real__ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_8DurationE(
          notification, timeout);
  if (notified) __tsan_acquire(const_cast<absl::Notification*>(notification));
  return notified;
}

bool __wrap__ZN4absl7debian315BlockingCounter14DecrementCountEv(absl::BlockingCounter* counter) {
  __tsan_release(counter);
  return __real__ZN4absl7debian315BlockingCounter14DecrementCountEv(counter);
}

void __wrap__ZN4absl7debian315BlockingCounter4WaitEv(absl::BlockingCounter* counter) {
  __real__ZN4absl7debian315BlockingCounter4WaitEv(counter);
  __tsan_acquire(counter);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
