#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/command.h"
#include "client/cli/output.h"
#include "client/connection.h"

namespace weft::cli {
namespace {

constexpr uint32_t kMaxPage = 1000;  // ListJobsRequest.page_size

std::vector<std::string> StateNames() {
  std::vector<std::string> names;
  for (int state = v1::JOB_STATE_QUEUED; state <= v1::JobState_MAX; ++state) {
    names.push_back(absl::AsciiStrToLower(FormatState(static_cast<v1::JobState>(state))));
  }
  return names;
}

class JobsCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {"jobs", "List jobs, the newest first",
            "Ended jobs are remembered for a while; `weft status` shows how many."};
  }
  std::vector<Option> options() override {
    return {
        OneOf(Value("state", "STATE", "Only jobs in this state (repeatable)", &states_),
              StateNames()),
        Value("limit", "N", "At most so many (default 100; 0 for all)", &limit_),
        Flag("json", "Print them as JSON", &json_),
    };
  }
  absl::StatusOr<ExitCode> Run(Environment& environment) override;

 private:
  absl::StatusOr<v1::ListJobsResponse> List(client::Connection& connection) const;

  std::vector<std::string> states_;
  uint32_t limit_ = 100;
  bool json_ = false;
};

// All pages up to the limit as one.
absl::StatusOr<v1::ListJobsResponse> JobsCommand::List(client::Connection& connection) const {
  v1::ListJobsRequest request;
  for (const std::string& name : states_) {
    v1::JobState state = v1::JOB_STATE_UNSPECIFIED;
    v1::JobState_Parse("JOB_STATE_" + absl::AsciiStrToUpper(name), &state);
    request.add_states(state);
  }
  v1::ListJobsResponse all;
  do {
    const auto have = static_cast<uint32_t>(all.jobs_size());
    request.set_page_size(limit_ == 0 ? kMaxPage : std::min(kMaxPage, limit_ - have));
    WEFT_ASSIGN_OR_RETURN(v1::ListJobsResponse page, connection.ListJobs(request));
    request.set_page_token(page.next_page_token());
    for (v1::JobInfo& job : *page.mutable_jobs()) *all.add_jobs() = std::move(job);
  } while (!request.page_token().empty() &&
           (limit_ == 0 || static_cast<uint32_t>(all.jobs_size()) < limit_));
  all.set_next_page_token(request.page_token());
  return all;
}

absl::StatusOr<ExitCode> JobsCommand::Run(Environment& environment) {
  WEFT_ASSIGN_OR_RETURN(const auto connection, environment.Connect());
  WEFT_ASSIGN_OR_RETURN(const v1::ListJobsResponse jobs, List(*connection));
  if (json_) {
    environment.out << ToJson(jobs);
    return ExitCode::kOk;
  }
  using Align = Table::Align;
  Table table({{"ID"},
               {"NAME"},
               {"STATE"},
               {"QUEUED", Align::kRight},
               {"RUNNING", Align::kRight},
               {"NODES", Align::kRight},
               {"LANES", Align::kRight},
               {"CREATED"}});
  for (const v1::JobInfo& job : jobs.jobs()) {
    table.AddRow({Printable(job.id()), Printable(job.name()), FormatState(job.state()),
                  FormatNanoseconds(job.queued_ns()), FormatNanoseconds(job.running_ns()),
                  absl::StrCat(job.node_count()), absl::StrCat(job.lane_count()),
                  FormatUnixTime(job.created_unix_ns())});
  }
  if (table.empty()) {
    environment.err << "no jobs\n";
  } else {
    table.Print(environment.out);
  }
  if (!jobs.next_page_token().empty()) {
    environment.err << "there are more: give --limit 0 for all\n";
  }
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeJobsCommand() { return std::make_unique<JobsCommand>(); }

}  // namespace weft::cli
