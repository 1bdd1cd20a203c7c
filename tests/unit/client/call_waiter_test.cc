#include "client/call_waiter.h"

#include <grpc/support/time.h>
#include <grpcpp/alarm.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace weft::client {
namespace {

gpr_timespec After(int64_t milliseconds) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_millis(milliseconds, GPR_TIMESPAN));
}

// True when the waiter has taken the event that comes after `milliseconds`.
bool TakesEvent(CallWaiter& waiter, int64_t milliseconds) {
  grpc::CompletionQueue queue;
  grpc::Alarm alarm;
  alarm.Set(&queue, After(milliseconds), nullptr);
  waiter.Wait(queue);
  queue.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  return !queue.Next(&tag, &ok);
}

TEST(CallWaiterTest, TakesTheEventWithoutSpinning) {
  CallWaiter waiter(absl::ZeroDuration());
  EXPECT_TRUE(TakesEvent(waiter, 0));
}

TEST(CallWaiterTest, TakesAnEventThatComesWhileItSpins) {
  CallWaiter waiter(absl::InfiniteDuration());
  EXPECT_TRUE(TakesEvent(waiter, 1));
}

TEST(CallWaiterTest, TakesAnEventThatComesAfterTheSpin) {
  CallWaiter waiter(absl::Nanoseconds(1));
  EXPECT_TRUE(TakesEvent(waiter, 1));
}

TEST(CallWaiterTest, ServesManyThreads) {
  CallWaiter waiter(absl::Microseconds(100));
  std::vector<std::thread> threads;
  std::atomic<int> taken = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int call = 0; call < 50; ++call) taken += TakesEvent(waiter, call % 2) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, 200);
}

TEST(SpinLimitTest, FewProcessorsDoNotSpin) {
  EXPECT_EQ(SpinLimit(absl::Microseconds(500), 3), absl::ZeroDuration());
  EXPECT_EQ(SpinLimit(absl::Microseconds(500), 0), absl::ZeroDuration());
  EXPECT_EQ(SpinLimit(absl::Microseconds(500), 4), absl::Microseconds(500));
}

}  // namespace
}  // namespace weft::client
