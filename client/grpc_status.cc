#include "client/grpc_status.h"

#include <utility>
#include <vector>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "base/error_context.h"
#include "client/errors.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace weft::client {
namespace {

// google.rpc.Code
constexpr int kCancelled = 1;
constexpr int kResourceExhausted = 8;
// What gRPC says of a message over max_job_bytes and some room, which it refuses before weftd sees
// it: "Received message larger than max (73400390 vs. 67174400)".
constexpr absl::string_view kTooLarge = "message larger than max";

std::vector<FieldViolation> ViolationsIn(const std::string& details) {
  google::rpc::Status rich;
  std::vector<FieldViolation> violations;
  if (details.empty() || !rich.ParseFromString(details)) return violations;
  for (const google::protobuf::Any& detail : rich.details()) {
    google::rpc::BadRequest bad_request;
    if (!detail.Is<google::rpc::BadRequest>() || !detail.UnpackTo(&bad_request)) continue;
    for (const auto& violation : bad_request.field_violations()) {
      violations.push_back({violation.field(), violation.description()});
    }
  }
  return violations;
}

}  // namespace

absl::Status FromGrpcStatus(int code, const std::string& message, const std::string& details) {
  if (code == 0) return absl::OkStatus();
  if (code == kResourceExhausted && absl::StrContains(message, kTooLarge)) {
    return MessageTooLargeError(message);
  }
  if (code == kCancelled && message == "CANCELLED") return ServerEndedError();
  absl::Status status(static_cast<absl::StatusCode>(code), message);
  std::vector<FieldViolation> violations = ViolationsIn(details);
  if (violations.empty()) return status;
  InvalidArgumentError(std::move(violations))
      .ForEachPayload([&status](absl::string_view url, const absl::Cord& payload) {
        status.SetPayload(url, payload);
      });
  return status;
}

}  // namespace weft::client
