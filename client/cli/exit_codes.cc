#include "client/cli/exit_codes.h"

#include "client/cli/errors.h"

namespace weft::cli {
namespace {

constexpr ExitCodeMeaning kMeanings[] = {
    {ExitCode::kOk, "success"},
    {ExitCode::kJobFailed, "the job failed"},
    {ExitCode::kBadInput,
     "bad input: usage, job file or input file (every fault on a line of its own)"},
    {ExitCode::kNoServer, "no weftd answers, or a private one could not start"},
    {ExitCode::kStopped, "the job was cancelled or passed its deadline, or --timeout is over"},
    {ExitCode::kRefused,
     "refused: no such job or buffer, it exists already, in use, or another user's"},
    {ExitCode::kNoResources, "out of memory, queue or another limit (`weft status` shows them)"},
    {ExitCode::kAborted, "the job was aborted because its executor was lost"},
    {ExitCode::kOutput, "an output file could not be written (the job of a run has succeeded)"},
    {ExitCode::kInternal, "a bug of Weft"},
    {ExitCode::kInterrupted, "interrupted a second time"},
};

}  // namespace

absl::Span<const ExitCodeMeaning> ExitCodeMeanings() { return kMeanings; }

ExitCode ExitCodeOf(const absl::Status& status) {
  if (IsCannotWrite(status)) return ExitCode::kOutput;
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExitCode::kOk;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return ExitCode::kBadInput;
    case absl::StatusCode::kUnavailable:
      return ExitCode::kNoServer;
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kDeadlineExceeded:
      return ExitCode::kStopped;
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
      return ExitCode::kRefused;
    case absl::StatusCode::kResourceExhausted:
      return ExitCode::kNoResources;
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kDataLoss:
      return ExitCode::kAborted;
    default:
      return ExitCode::kInternal;
  }
}

ExitCode ExitCodeOf(v1::JobState state) {
  switch (state) {
    case v1::JOB_STATE_SUCCEEDED:
      return ExitCode::kOk;
    case v1::JOB_STATE_FAILED:
      return ExitCode::kJobFailed;
    case v1::JOB_STATE_CANCELLED:
    case v1::JOB_STATE_DEADLINE_EXCEEDED:
      return ExitCode::kStopped;
    case v1::JOB_STATE_ABORTED:
      return ExitCode::kAborted;
    default:
      return ExitCode::kInternal;
  }
}

}  // namespace weft::cli
