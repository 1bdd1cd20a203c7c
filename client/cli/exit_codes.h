// What the exit status of `weft` says. Scripts rely on it: a number never changes its meaning.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "weft/v1/job.pb.h"

namespace weft::cli {

enum class ExitCode : int {
  kOk = 0,
  kJobFailed = 1,      // the job ran and FAILED
  kBadInput = 2,       // usage, job file, input file; INVALID_ARGUMENT, OUT_OF_RANGE
  kNoServer = 3,       // nobody answers, or a private weftd could not start; UNAVAILABLE
  kStopped = 4,        // cancelled, past a deadline, or --timeout is over
  kRefused = 5,        // NOT_FOUND, ALREADY_EXISTS, FAILED_PRECONDITION, PERMISSION_DENIED,
                       // UNAUTHENTICATED
  kNoResources = 6,    // memory, queue or another limit; RESOURCE_EXHAUSTED
  kAborted = 7,        // the executor was lost; ABORTED, DATA_LOSS
  kOutput = 8,         // an output file could not be written (the job SUCCEEDED)
  kInternal = 9,       // a bug: INTERNAL, UNKNOWN, UNIMPLEMENTED
  kInterrupted = 130,  // a second Ctrl-C, without waiting for anything
};

struct ExitCodeMeaning {
  ExitCode code;
  absl::string_view meaning;
};

// All of them, in ascending order, for the help text.
absl::Span<const ExitCodeMeaning> ExitCodeMeanings();

ExitCode ExitCodeOf(const absl::Status& status);
// REQUIRES: the job has ended.
ExitCode ExitCodeOf(v1::JobState state);

}  // namespace weft::cli
