// GoogleTest matchers and macros for absl::Status and absl::StatusOr.
//
//   EXPECT_OK(registry.Delete(id));
//   ASSERT_OK_AND_ASSIGN(UniqueFd fd, UniqueFd::Eventfd());
//   EXPECT_THAT(Parse("x"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("line 1")));
//   EXPECT_THAT(Count(), IsOkAndHolds(3));
//
// Inside namespace weft, write ::testing:: with the leading colons: `testing` alone is this
// namespace.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status_macros.h"

namespace weft::testing {

// The code of most refusals.
inline constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

inline const absl::Status& ToStatus(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& ToStatus(const absl::StatusOr<T>& result) {
  return result.status();
}

// Matches a Status or StatusOr that is OK.
MATCHER(IsOk, negation ? "is not OK" : "is OK") {
  *result_listener << ToStatus(arg).ToString();
  return ToStatus(arg).ok();
}

// Matches a Status or StatusOr by its code, and by its message where a second matcher is given.
MATCHER_P(StatusIs, code,
          (negation ? std::string("is not ") : std::string("is ")) +
              absl::StatusCodeToString(code)) {
  *result_listener << ToStatus(arg).ToString();
  return ToStatus(arg).code() == code;
}
MATCHER_P2(StatusIs, code, message_matcher,
           (negation ? std::string("is not ") : std::string("is ")) +
               absl::StatusCodeToString(code) + " with a message that " +
               ::testing::DescribeMatcher<std::string>(message_matcher, negation)) {
  *result_listener << ToStatus(arg).ToString();
  return ToStatus(arg).code() == code &&
         ::testing::ExplainMatchResult(message_matcher, std::string(ToStatus(arg).message()),
                                       result_listener);
}

// Matches a StatusOr that is OK and whose value matches.
MATCHER_P(IsOkAndHolds, value_matcher, "is OK and holds a matching value") {
  if (!arg.ok()) {
    *result_listener << arg.status().ToString();
    return false;
  }
  return ::testing::ExplainMatchResult(value_matcher, *arg, result_listener);
}

}  // namespace weft::testing

#define EXPECT_OK(expr) EXPECT_THAT((expr), ::weft::testing::IsOk())
#define ASSERT_OK(expr) ASSERT_THAT((expr), ::weft::testing::IsOk())
#define ASSERT_OK_AND_ASSIGN(lhs, expr) \
  WEFT_ASSERT_OK_AND_ASSIGN_IMPL(WEFT_MACRO_CONCAT(weft_status_or_, __LINE__), lhs, expr)
#define WEFT_ASSERT_OK_AND_ASSIGN_IMPL(status_or, lhs, expr) \
  auto status_or = (expr);                                   \
  ASSERT_THAT(status_or, ::weft::testing::IsOk());           \
  lhs = std::move(status_or).value()
