// The suite's own bookkeeping; needs no driver.

#include "tests/conformance/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

DriverProfile ProfileExpectingFailureOf(const std::string& name) {
  DriverProfile profile = HostProfile();
  profile.unsupported = {};
  profile.expected_failures = {{name, "because"}};
  return profile;
}

TEST(Verdict, UnlistedFailureFailsTheRun) {
  const Verdict verdict = Judge(ProfileExpectingFailureOf("A.Listed"),
                                {{"A.Listed", Outcome::kNotRun}, {"A.Other", Outcome::kFailed}});
  EXPECT_FALSE(verdict.ok());
  EXPECT_THAT(verdict.failures, ElementsAre("A.Other"));
}

TEST(Verdict, ListedFailureIsFine) {
  const DriverProfile profile = ProfileExpectingFailureOf("A.Listed");
  const Verdict verdict =
      Judge(profile, {{"A.Listed", Outcome::kFailed}, {"A.Other", Outcome::kPassed}});
  EXPECT_TRUE(verdict.ok());
  EXPECT_EQ(verdict.passed, 1);
  EXPECT_THAT(Report(profile, verdict), HasSubstr("failed as expected: A.Listed (because)"));
}

TEST(Verdict, ListedFailureThatPassesFailsTheRun) {
  const Verdict verdict =
      Judge(ProfileExpectingFailureOf("A.Listed"), {{"A.Listed", Outcome::kPassed}});
  EXPECT_FALSE(verdict.ok());
  EXPECT_THAT(verdict.unexpected_passes, SizeIs(1));
}

TEST(Verdict, ListedNameWithoutATestFailsTheRun) {
  const Verdict verdict =
      Judge(ProfileExpectingFailureOf("A.Renamed"), {{"A.Other", Outcome::kPassed}});
  EXPECT_FALSE(verdict.ok());
  EXPECT_THAT(verdict.listed_but_unknown, ElementsAre("A.Renamed"));
}

}  // namespace
}  // namespace weft::conformance
