#include "transport/wait_strategy.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/clock.h"

namespace weft::transport {
namespace {

TEST(WaitStrategyTest, AConditionThatHoldsNeedsNoWaiting) {
  std::atomic<uint32_t> word{0};
  EXPECT_TRUE(WaitStrategy(absl::ZeroDuration()).Wait(Doorbell(&word), absl::ZeroDuration(), [] {
    return true;
  }));
}

TEST(WaitStrategyTest, TimeoutIsKeptSleepingAndSpinning) {
  std::atomic<uint32_t> word{0};
  for (const absl::Duration spin : {absl::ZeroDuration(), absl::Seconds(10)}) {
    const absl::Duration start = Clock::Real().Now();
    EXPECT_FALSE(
        WaitStrategy(spin).Wait(Doorbell(&word), absl::Milliseconds(5), [] { return false; }));
    EXPECT_GE(Clock::Real().Now() - start, absl::Milliseconds(5));
  }
}

TEST(WaitStrategyTest, RingWithNobodyAsleepLeavesNothingBehind) {
  std::atomic<uint32_t> word{0};
  Doorbell(&word).Ring();
  EXPECT_EQ(word.load(), 0u);
}

TEST(WaitStrategyTest, RingBetweenArmAndSleepIsNotLost) {
  std::atomic<uint32_t> word{0};
  const Doorbell doorbell(&word);
  doorbell.Arm();
  doorbell.Ring();
  doorbell.Sleep(absl::InfiniteDuration());  // would never return
}

// Each side waits for the other's number without spinning: every round trip sleeps and wakes twice,
// and one lost wake-up would hang it.
TEST(WaitStrategyTest, NoWakeUpIsLostInManyRounds) {
  constexpr uint64_t kRounds = 3000;
  std::atomic<uint32_t> word_a{0};
  std::atomic<uint32_t> word_b{0};
  std::atomic<uint64_t> ping{0};
  std::atomic<uint64_t> pong{0};
  const WaitStrategy no_spin{absl::ZeroDuration()};
  std::thread other([&] {
    for (uint64_t i = 1; i <= kRounds; ++i) {
      no_spin.Wait(Doorbell(&word_b), absl::InfiniteDuration(), [&] { return ping.load() == i; });
      pong.store(i);
      Doorbell(&word_a).Ring();
    }
  });
  for (uint64_t i = 1; i <= kRounds; ++i) {
    ping.store(i);
    Doorbell(&word_b).Ring();
    no_spin.Wait(Doorbell(&word_a), absl::InfiniteDuration(), [&] { return pong.load() == i; });
  }
  other.join();
  EXPECT_EQ(pong.load(), kRounds);
}

}  // namespace
}  // namespace weft::transport
