#include "client/cli/job_report.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "client/cli/output.h"
#include "client/cli/progress.h"
#include "client/client.h"

namespace weft::cli {
namespace {

// Shows the states of a job, and writes what it delivers, until it has ended.
void FollowJob(Environment& environment, client::Connection& connection, const std::string& job_id,
               const Bindings& host_outputs) {
  std::optional<ProgressLine> line;
  if (environment.err_is_terminal) line.emplace(environment.err, Clock::Real());
  v1::WatchRequest request;
  request.set_job_id(job_id);
  // Its error shows again, and is handled, at the Wait that follows.
  connection
      .Watch(request,
             [&](const v1::WatchResponse& message) {
               if (message.has_output()) {
                 const auto file = host_outputs.find(message.output().name());
                 if (file != host_outputs.end()) {
                   WriteOutput(file->second, message.output()).IgnoreError();
                 }
               } else if (line.has_value()) {
                 line->Update(message.info());
               }
               return client::WatchNext::kContinue;
             })
      .IgnoreError();
}

std::string SummaryOf(const v1::JobInfo& info) {
  std::string text = absl::StrCat("job ", Printable(info.id()));
  if (!info.name().empty()) absl::StrAppend(&text, " (", Printable(info.name()), ")");
  absl::StrAppend(&text, ": ", FormatState(info.state()), " in ",
                  FormatNanoseconds(info.running_ns()), " after ",
                  FormatNanoseconds(info.queued_ns()), " in the queue; ",
                  Count(info.node_count(), "node"), " in ", Count(info.lane_count(), "lane"));
  return text;
}

std::string LineOf(const v1::JobOutput& output, const Bindings& files) {
  std::string line =
      absl::StrCat(Printable(output.name()), "  ", FormatDataType(output.data_type()), " ",
                   FormatShape(output.shape()), "  ");
  if (!output.file().empty()) {
    absl::StrAppend(&line, Printable(output.file()));
  } else if (const auto file = files.find(output.name()); file != files.end()) {
    absl::StrAppend(&line, "not written to ", Printable(file->second));
  } else {
    absl::StrAppend(&line, "not written: give --output ", Printable(output.name()), "=FILE");
  }
  return line;
}

// Writes what has a file and puts that file's name into the output, then drops the bytes. Tries
// every one; the first failure is returned.
absl::Status WriteOutputs(v1::JobResult& result, const Bindings& files) {
  absl::Status first_failure;
  for (v1::JobOutput& output : *result.mutable_outputs()) {
    const auto file = files.find(output.name());
    output.clear_file();
    if (file != files.end()) {
      absl::Status written = WriteOutput(file->second, output);
      if (written.ok()) output.set_file(file->second);
      first_failure.Update(std::move(written));
    }
    output.clear_data();
  }
  return first_failure;
}

}  // namespace

absl::StatusOr<v1::JobResult> WaitForJob(Environment& environment, client::Connection& connection,
                                         const std::string& job_id, uint64_t timeout_ms,
                                         const Bindings& host_outputs) {
  // With a limit the job is not watched: a watch has no limit of its own.
  if (timeout_ms == 0 && (environment.err_is_terminal || !host_outputs.empty())) {
    FollowJob(environment, connection, job_id, host_outputs);
  }
  v1::WaitRequest request;
  request.set_job_id(job_id);
  request.set_timeout_ms(timeout_ms);
  WEFT_ASSIGN_OR_RETURN(v1::WaitResponse response, connection.Wait(request));
  return std::move(*response.mutable_result());
}

absl::StatusOr<ExitCode> ReportResult(Environment& environment, const std::string& command,
                                      v1::JobResult result, const Bindings& files,
                                      ReportStyle style) {
  const absl::Status ended = client::StatusOfJob(result.info());
  const absl::Status written = WriteOutputs(result, files);
  if (style == ReportStyle::kJson) environment.out << ToJson(result);
  if (!ended.ok()) {
    PrintError(environment.err, command, ended);
    return ExitCodeOf(result.info().state());
  }
  if (style == ReportStyle::kText) {
    environment.err << SummaryOf(result.info()) << "\n";
    for (const v1::JobOutput& output : result.outputs()) {
      environment.out << LineOf(output, files) << "\n";
    }
  }
  if (!written.ok()) return written;
  return ExitCode::kOk;
}

}  // namespace weft::cli
