#include "client/grpc_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error_context.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "tests/testing/status_matchers.h"

namespace weft::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using weft::testing::StatusIs;

constexpr int kInvalidArgument = 3;

TEST(GrpcStatusTest, KeepsCodeAndText) {
  EXPECT_OK(FromGrpcStatus(0, "", ""));
  EXPECT_THAT(FromGrpcStatus(8, "queue full", ""),
              StatusIs(absl::StatusCode::kResourceExhausted, "queue full"));
}

TEST(GrpcStatusTest, AMessageOverTheSizeIsBadInputThatSaysWhatToDo) {
  EXPECT_THAT(FromGrpcStatus(8, "Received message larger than max (9 vs. 8)", ""),
              StatusIs(absl::StatusCode::kInvalidArgument, ::testing::HasSubstr("weft put")));
}

TEST(GrpcStatusTest, ACallThatTheServersEndCutOffIsUnavailable) {
  EXPECT_THAT(FromGrpcStatus(1, "CANCELLED", ""), StatusIs(absl::StatusCode::kUnavailable));
}

TEST(GrpcStatusTest, AttachesFieldViolations) {
  google::rpc::BadRequest bad_request;
  for (const char* field : {"nodes[0]", "nodes[1].after[0]"}) {
    auto& violation = *bad_request.add_field_violations();
    violation.set_field(field);
    violation.set_description("wrong");
  }
  google::rpc::Status rich;
  rich.add_details()->PackFrom(bad_request);
  const absl::Status status =
      FromGrpcStatus(kInvalidArgument, "two faults", rich.SerializeAsString());
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, "two faults"));
  EXPECT_THAT(ViolationsOf(status), ElementsAre(FieldViolation{"nodes[0]", "wrong"},
                                                FieldViolation{"nodes[1].after[0]", "wrong"}));
}

TEST(GrpcStatusTest, DamagedOrForeignDetailsAreLeftOut) {
  EXPECT_THAT(ViolationsOf(FromGrpcStatus(kInvalidArgument, "x", "\xff\xff\xff")), IsEmpty());
  google::rpc::Status rich;
  rich.add_details()->set_type_url("type.googleapis.com/some.Other");
  rich.add_details()->set_type_url("type.googleapis.com/google.rpc.BadRequest");
  rich.mutable_details(1)->set_value("\xff");
  const absl::Status status = FromGrpcStatus(kInvalidArgument, "x", rich.SerializeAsString());
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, "x"));
  EXPECT_THAT(ViolationsOf(status), IsEmpty());
}

}  // namespace
}  // namespace weft::client
