#include "base/error_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "absl/strings/cord.h"

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(InvalidArgumentErrorTest, CarriesEveryViolation) {
  const FieldViolation first{"nodes[0].name", "\"a b\" has a space"};
  const FieldViolation second{"nodes[1].kernel", std::string("bytes \0 and \xff", 12)};
  const absl::Status status = InvalidArgumentError({first, second});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(ViolationsOf(status), ElementsAre(first, second));
}

TEST(InvalidArgumentErrorTest, TextIsTheFirstViolationAndTheCountOfTheRest) {
  const absl::Status status =
      InvalidArgumentError({{"a", "wrong"}, {"b", "wrong"}, {"c", "wrong"}});
  EXPECT_EQ(status.message(), "a: wrong (and 2 more)");
}

TEST(ViolationsOfTest, IsEmptyForOtherStatuses) {
  EXPECT_THAT(ViolationsOf(absl::OkStatus()), IsEmpty());
  EXPECT_THAT(ViolationsOf(absl::NotFoundError("x")), IsEmpty());
}

TEST(ViolationsOfTest, IsEmptyForADamagedPayload) {
  absl::Status status = absl::InvalidArgumentError("x");
  status.SetPayload("weft.dev/field-violations", absl::Cord("\x05\x00\x00\x00"
                                                            "abc"));
  EXPECT_THAT(ViolationsOf(status), IsEmpty());
}

TEST(WithContextTest, PutsWhereBeforeTheTextAndKeepsTheRest) {
  const absl::Status status = WithContext(InvalidArgumentError({{"f", "bad"}}),
                                          {.job = "edges", .node = "blur", .argument = "sigma"});
  EXPECT_EQ(status.message(), "job \"edges\", node \"blur\", argument \"sigma\": f: bad");
  EXPECT_THAT(ViolationsOf(status), ElementsAre(FieldViolation{"f", "bad"}));
}

TEST(WithContextTest, LeavesOutEmptyPartsAndKeepsOk) {
  EXPECT_TRUE(WithContext(absl::OkStatus(), {.job = "j"}).ok());
  EXPECT_EQ(WithContext(absl::NotFoundError("x"), {.node = "n"}).message(), "node \"n\": x");
  EXPECT_EQ(WithContext(absl::NotFoundError("x"), {}).message(), "x");
}

TEST(ErrnoErrorTest, NamesTheCallAndItsSubject) {
  const absl::Status status = ErrnoError(ENOENT, "open", "/no/such");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("open(/no/such)"));
}

}  // namespace
}  // namespace weft
