#include "client/retry.h"

#include <gtest/gtest.h>

#include "tests/testing/fake_clock.h"

namespace weft::client {
namespace {

constexpr RetryOptions kOptions = {.initial_backoff = absl::Milliseconds(100),
                                   .max_backoff = absl::Milliseconds(400),
                                   .total = absl::Seconds(10)};

TEST(BackoffTest, DoublesUpToItsLimitEachShortenedByAtMostHalf) {
  testing::FakeClock clock;
  Backoff backoff(kOptions, clock, 1);
  for (const int full_ms : {100, 200, 400, 400}) {
    const std::optional<absl::Duration> delay = backoff.Next();
    ASSERT_TRUE(delay.has_value());
    EXPECT_GE(*delay, absl::Milliseconds(full_ms) / 2);
    EXPECT_LE(*delay, absl::Milliseconds(full_ms));
  }
}

TEST(BackoffTest, GivesUpWhereTheNextTryWouldStartTooLate) {
  testing::FakeClock clock;
  Backoff backoff(kOptions, clock, 1);
  clock.Advance(absl::Seconds(9));
  EXPECT_TRUE(backoff.Next().has_value());
  clock.Advance(absl::Milliseconds(990));
  EXPECT_FALSE(backoff.Next().has_value());
}

TEST(BackoffTest, StartsAnewAfterReset) {
  testing::FakeClock clock;
  Backoff backoff(kOptions, clock, 1);
  backoff.Next();
  backoff.Next();
  clock.Advance(absl::Seconds(10));
  backoff.Reset();
  const std::optional<absl::Duration> delay = backoff.Next();
  ASSERT_TRUE(delay.has_value());
  EXPECT_LE(*delay, absl::Milliseconds(100));
}

TEST(BackoffTest, NoTotalMeansNoRetry) {
  testing::FakeClock clock;
  RetryOptions options = kOptions;
  options.total = absl::ZeroDuration();
  EXPECT_FALSE(Backoff(options, clock, 1).Next().has_value());
}

}  // namespace
}  // namespace weft::client
