#include <memory>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "client/cli/command.h"
#include "client/cli/output.h"
#include "client/connection.h"

namespace weft::cli {
namespace {

class CancelCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {
        "cancel", "Cancel a job",
        "A queued job ends as CANCELLED; a running one ends as it ends. A job that has ended is\n"
        "left as it is (exit status 5)."};
  }
  std::vector<Option> options() override {
    return {
        Argument("id", "ID", "Job, as `weft submit` or `weft jobs` prints it", &id_),
        Flag("json", "Print the job as JSON", &json_),
    };
  }
  absl::StatusOr<ExitCode> Run(Environment& environment) override {
    WEFT_ASSIGN_OR_RETURN(const auto connection, environment.Connect());
    v1::CancelRequest request;
    request.set_job_id(id_);
    WEFT_ASSIGN_OR_RETURN(const v1::CancelResponse response, connection->Cancel(request));
    if (json_) {
      environment.out << ToJson(response);
    } else {
      environment.out << "job " << Printable(response.info().id()) << ": "
                      << FormatState(response.info().state())
                      << (response.info().state() == v1::JOB_STATE_RUNNING
                              ? "; a running job ends as it ends"
                              : "")
                      << "\n";
    }
    return ExitCode::kOk;
  }

 private:
  std::string id_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeCancelCommand() { return std::make_unique<CancelCommand>(); }

}  // namespace weft::cli
