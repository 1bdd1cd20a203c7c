// Waiting for a job and telling how it ended: what `run` and `wait` share.
//
// Thread safety: none; the main thread alone.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/bind_files.h"
#include "client/cli/environment.h"
#include "client/cli/exit_codes.h"
#include "client/connection.h"
#include "weft/v1/job.pb.h"

namespace weft::cli {

// Blocks until the job has ended, with a live line where standard error is a terminal, and gives
// what it left behind, whatever its state. `timeout_ms`: 0 for none; then DEADLINE_EXCEEDED.
// `host_outputs`: output → file, written when the job delivers the output while it runs, without a word
// where that fails: ReportResult writes it again. REQUIRES: none with a timeout.
absl::StatusOr<v1::JobResult> WaitForJob(Environment& environment, client::Connection& connection,
                                         const std::string& job_id, uint64_t timeout_ms,
                                         const Bindings& host_outputs = {});

enum class ReportStyle : uint8_t { kText, kJson };

// Writes the outputs named in `files` (output → file) and prints how the job ended: one line, and a
// line for each output; as JSON the JobResult, without the outputs' bytes and with the files that
// were written. A job that did not succeed is an error on standard error.
absl::StatusOr<ExitCode> ReportResult(Environment& environment, const std::string& command,
                                      v1::JobResult result, const Bindings& files,
                                      ReportStyle style);

}  // namespace weft::cli
