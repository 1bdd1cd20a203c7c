#include "client/call_waiter.h"

#include <grpc/support/time.h>

#include "base/clock.h"

namespace weft::client {
namespace {

// The caller, a thread of gRPC in weftd, the completion thread of weftd, the launch loop.
constexpr unsigned kThreadsOfAJob = 4;

// Polls the sockets once, as the thread of a call must: gRPC has no other that would.
bool Poll(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool ok = false;
  return queue.AsyncNext(&tag, &ok, gpr_time_0(GPR_CLOCK_MONOTONIC)) ==
         grpc::CompletionQueue::GOT_EVENT;
}

}  // namespace

absl::Duration SpinLimit(absl::Duration limit, unsigned processors) {
  return processors < kThreadsOfAJob ? absl::ZeroDuration() : limit;
}

void CallWaiter::Wait(grpc::CompletionQueue& queue) {
  const Clock& clock = Clock::Real();
  const absl::Duration start = clock.Now();
  const absl::Duration spin = budget();
  absl::Duration waited;
  bool answered = false;
  while (!answered && waited < spin) {
    answered = Poll(queue);
    waited = clock.Now() - start;
  }
  if (!answered) {
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    waited = clock.Now() - start;
  }
  Record(waited);
}

absl::Duration CallWaiter::budget() const {
  const absl::MutexLock lock(&mutex_);
  return budget_.current();
}

void CallWaiter::Record(absl::Duration waited) {
  const absl::MutexLock lock(&mutex_);
  budget_.Record(waited);
}

}  // namespace weft::client
