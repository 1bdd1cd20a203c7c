#include "server/daemon/request_context.h"

#include <grpcpp/grpcpp.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/daemon/errors.h"
#include "server/daemon/session_registry.h"

namespace weft::daemon {
namespace {

constexpr size_t kMaxMessageBytes = 1024;
// Twice the message and this, with the names of the headers, stay below 8 KiB.
constexpr size_t kMaxDetailBytes = 5 * 1024;

// `text` cut to `limit` bytes, not inside a character.
std::string Cut(absl::string_view text, size_t limit) {
  if (text.size() <= limit) return std::string(text);
  size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return absl::StrCat(text.substr(0, end), "…");
}

google::rpc::BadRequest ToBadRequest(const std::vector<FieldViolation>& violations) {
  google::rpc::BadRequest bad_request;
  size_t bytes = 0;
  size_t left = violations.size();
  for (const FieldViolation& violation : violations) {
    const std::string field = Cut(violation.field, kMaxMessageBytes / 4);
    const std::string description = Cut(violation.description, kMaxMessageBytes);
    bytes += field.size() + description.size() + 8;  // tags and lengths
    if (bytes > kMaxDetailBytes) break;
    auto* added = bad_request.add_field_violations();
    added->set_field(field);
    added->set_description(description);
    --left;
  }
  if (left > 0) {
    bad_request.add_field_violations()->set_description(
        absl::StrCat("and ", left, " more violations."));
  }
  return bad_request;
}

}  // namespace

absl::StatusOr<Caller> CallerOf(const grpc::CallbackServerContext& context,
                                const SessionRegistry& sessions) {
  return sessions.Find(context.peer());
}

absl::Status CheckRequestId(const std::string& request_id) {
  if (request_id.size() <= kMaxRequestIdBytes) return absl::OkStatus();
  return RequestIdTooLongError(request_id.size(), kMaxRequestIdBytes);
}

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const auto code = static_cast<grpc::StatusCode>(status.code());
  const std::string message = Cut(status.message(), kMaxMessageBytes);
  const std::vector<FieldViolation> violations = ViolationsOf(status);
  if (violations.empty()) return grpc::Status(code, message);
  google::rpc::Status rich;
  rich.set_code(static_cast<int>(status.code()));
  rich.set_message(message);
  rich.add_details()->PackFrom(ToBadRequest(violations));
  return grpc::Status(code, message, rich.SerializeAsString());
}

grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext& context, const absl::Status& status) {
  grpc::ServerUnaryReactor* reactor = context.DefaultReactor();
  reactor->Finish(ToGrpc(status));
  return reactor;
}

}  // namespace weft::daemon
