#include "client/errors.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft::client {
namespace {

// `job 7 ("edges")`, or `job 7` where it has no name.
std::string Describe(const v1::JobInfo& info) {
  if (info.name().empty()) return absl::StrCat("job ", info.id());
  return absl::StrCat("job ", info.id(), " (\"", info.name(), "\")");
}

// The code of an ended job: that of its cause, where the server gave one.
absl::StatusCode CodeOf(const v1::JobInfo& info) {
  const int code = info.error().code();
  if (code > 0 && code <= static_cast<int>(absl::StatusCode::kUnauthenticated)) {
    return static_cast<absl::StatusCode>(code);
  }
  switch (info.state()) {
    case v1::JOB_STATE_CANCELLED:
      return absl::StatusCode::kCancelled;
    case v1::JOB_STATE_DEADLINE_EXCEEDED:
      return absl::StatusCode::kDeadlineExceeded;
    case v1::JOB_STATE_ABORTED:
      return absl::StatusCode::kAborted;
    default:
      return absl::StatusCode::kUnknown;
  }
}

absl::string_view HowItEnded(v1::JobState state) {
  switch (state) {
    case v1::JOB_STATE_CANCELLED:
      return "was cancelled";
    case v1::JOB_STATE_DEADLINE_EXCEEDED:
      return "passed its deadline";
    case v1::JOB_STATE_ABORTED:
      return "was aborted";
    default:
      return "failed";
  }
}

}  // namespace

absl::Status NoServerError(const std::string& path) {
  return absl::UnavailableError(
      absl::StrCat("no weftd at ", path, ": start it with `weftd`, or run one job without it with ",
                   "`weft run --local`. If it listens elsewhere, set WEFT_SOCKET or --socket"));
}

absl::Status NobodyListensError(const std::string& path) {
  return absl::UnavailableError(
      absl::StrCat("nobody listens at ", path, " (left by a weftd that has ended): start it with ",
                   "`weftd`, or run one job without it with `weft run --local`"));
}

absl::Status SocketDeniedError(const std::string& path) {
  return absl::PermissionDeniedError(absl::StrCat(
      "this user may not open ", path, ": weftd's socket belongs to another user. Ask ",
      "its owner to start weftd with a wider --socket-mode, or start your own weftd"));
}

absl::Status SocketPathTooLongError(const std::string& path) {
  return absl::InvalidArgumentError(absl::StrCat("the socket's path has ", path.size(),
                                                 " bytes, at most 107 are possible: ", path));
}

absl::Status NoAnswerError(const std::string& path, absl::Duration timeout) {
  return absl::DeadlineExceededError(absl::StrCat("weftd at ", path, " gave no answer within ",
                                                  absl::FormatDuration(timeout), ": see its log"));
}

absl::Status MessageTooLargeError(absl::string_view told) {
  return absl::InvalidArgumentError(
      absl::StrCat("the request is larger than weftd takes (", told, "): put large data into a ",
                   "buffer with `weft put` and let the job use that, or raise max_job_bytes"));
}

absl::Status ServerEndedError() {
  return absl::UnavailableError(
      "weftd ended before it answered: start it again, then submit again (`weft jobs` of a new "
      "weftd does not know earlier jobs)");
}

absl::Status JobEndedError(const v1::JobInfo& info) {
  std::string text = absl::StrCat(Describe(info), " ", HowItEnded(info.state()));
  if (!info.error().node().empty()) {
    absl::StrAppend(&text, " at node \"", info.error().node(), "\"");
  }
  if (!info.error().message().empty()) absl::StrAppend(&text, ": ", info.error().message());
  return absl::Status(CodeOf(info), text);
}

absl::Status JobNotEndedError(const v1::JobInfo& info) {
  return absl::FailedPreconditionError(
      absl::StrCat(Describe(info), " has not ended: wait for it first"));
}

absl::Status NoSuchOutputError(absl::string_view name, const std::vector<std::string>& present) {
  if (present.empty()) {
    return absl::NotFoundError(
        absl::StrCat("there is no output \"", name, "\": the job has none. Add a download node"));
  }
  return absl::NotFoundError(absl::StrCat("there is no output \"", name, "\" among those of the ",
                                          "job: ", absl::StrJoin(present, ", ")));
}

absl::Status HandleGoneError(absl::string_view what) {
  return absl::FailedPreconditionError(
      absl::StrCat("this ", what, " was moved from, or is gone from the server already"));
}

absl::Status ReadSizeError(uint64_t got, uint64_t expected) {
  return absl::DataLossError(
      absl::StrCat("the server sent ", got, " bytes of a range of ", expected));
}

}  // namespace weft::client
