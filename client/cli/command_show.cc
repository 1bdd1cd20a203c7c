#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/command.h"
#include "client/cli/output.h"
#include "client/connection.h"

namespace weft::cli {
namespace {

void PrintInfo(std::ostream& out, const v1::JobInfo& info) {
  const auto line = [&out](const char* what, const std::string& value) {
    if (!value.empty()) out << what << value << "\n";
  };
  line("id        ", Printable(info.id()));
  line("name      ", Printable(info.name()));
  line("state     ", FormatState(info.state()));
  line("error     ", Printable(info.error().message()));
  line("at node   ", Printable(info.error().node()));
  line("owner     ", absl::StrCat("uid ", info.owner_uid()));
  line("created   ", FormatUnixTime(info.created_unix_ns()));
  line("queued    ", FormatNanoseconds(info.queued_ns()));
  line("running   ", FormatNanoseconds(info.running_ns()));
  line("nodes     ", absl::StrCat(info.node_count()));
  line("lanes     ", absl::StrCat(info.lane_count()));
  line("scratch   ", FormatBytes(info.scratch_bytes()));
  line("graph     ", info.reused_graph() ? "reused" : "made for it");
}

class ShowCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {"show", "Show one job, and its plan with --plan", ""};
  }
  std::vector<Option> options() override {
    return {
        Argument("id", "ID", "Job, as `weft submit` or `weft jobs` prints it", &id_),
        Flag("plan", "Show the plan, too", &plan_),
        Flag("json", "Print it as JSON", &json_),
    };
  }
  absl::StatusOr<ExitCode> Run(Environment& environment) override {
    WEFT_ASSIGN_OR_RETURN(const auto connection, environment.Connect());
    v1::GetJobRequest request;
    request.set_job_id(id_);
    request.set_include_plan(plan_);
    WEFT_ASSIGN_OR_RETURN(const v1::GetJobResponse response, connection->GetJob(request));
    if (json_) {
      environment.out << ToJson(response);
      return ExitCode::kOk;
    }
    PrintInfo(environment.out, response.info());
    if (plan_) environment.out << "\n" << response.plan_text();
    return ExitCode::kOk;
  }

 private:
  std::string id_;
  bool plan_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeShowCommand() { return std::make_unique<ShowCommand>(); }

}  // namespace weft::cli
