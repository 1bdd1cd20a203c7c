#include "transport/spin_budget.h"

#include <gtest/gtest.h>

namespace weft::transport {
namespace {

constexpr absl::Duration kLimit = absl::Microseconds(200);

TEST(SpinBudgetTest, StartsAtTheLimit) { EXPECT_EQ(SpinBudget(kLimit).current(), kLimit); }

TEST(SpinBudgetTest, AWaitThatTheSpinMetChangesNothing) {
  SpinBudget budget(kLimit);
  budget.Record(absl::Microseconds(150));
  EXPECT_EQ(budget.current(), kLimit);
}

TEST(SpinBudgetTest, LongWaitsEndTheSpinning) {
  SpinBudget budget(kLimit);
  for (int i = 0; i < 10; ++i) budget.Record(absl::Seconds(1));
  EXPECT_EQ(budget.current(), absl::ZeroDuration());
}

TEST(SpinBudgetTest, AWaitBelowTheLimitBringsTheSpinningBack) {
  SpinBudget budget(kLimit);
  for (int i = 0; i < 10; ++i) budget.Record(absl::Seconds(1));
  budget.Record(absl::Microseconds(60));
  EXPECT_EQ(budget.current(), absl::Microseconds(120));
  budget.Record(absl::Microseconds(150));
  EXPECT_EQ(budget.current(), kLimit);
}

TEST(SpinBudgetTest, LimitOfZeroNeverSpins) {
  SpinBudget budget(absl::ZeroDuration());
  budget.Record(absl::Nanoseconds(1));
  EXPECT_EQ(budget.current(), absl::ZeroDuration());
}

}  // namespace
}  // namespace weft::transport
