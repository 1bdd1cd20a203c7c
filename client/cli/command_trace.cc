#include <memory>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "client/cli/command.h"
#include "client/cli/errors.h"
#include "client/cli/file_io.h"
#include "client/cli/job_report.h"
#include "client/cli/output.h"
#include "client/cli/trace.h"
#include "client/client.h"

namespace weft::cli {
namespace {

class TraceCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {"trace", "Write when each node of a job ran, for chrome://tracing or ui.perfetto.dev",
            "The job must have been submitted with --profile (or collect_timeline in its "
            "options).\nWaits for its end. A row of the picture is a lane, a box a node. What two "
            "lanes do at the\nsame time is not added up: see busy_us, wall_us and sum_of_nodes_us "
            "in the file."};
  }
  std::vector<Option> options() override {
    return {
        Argument("id", "ID", "Job, as `weft submit` or `weft jobs` prints it", &id_),
        Lettered('o', Value("output", "FILE", "Where the trace goes; - prints it (the default)",
                            &output_, Completes::kFiles)),
    };
  }
  absl::StatusOr<ExitCode> Run(Environment& environment) override {
    WEFT_ASSIGN_OR_RETURN(const auto connection, environment.Connect());
    WEFT_ASSIGN_OR_RETURN(const v1::JobResult result,
                          WaitForJob(environment, *connection, id_, /*timeout_ms=*/0));
    const absl::Status ended = client::StatusOfJob(result.info());
    if (!ended.ok()) {
      PrintError(environment.err, "weft trace", ended);
      return ExitCodeOf(result.info().state());
    }
    if (result.timeline_size() == 0) return NotProfiledError(result.info().id());
    const std::string text = ChromeTrace(result);
    if (output_ != "-") {
      WEFT_RETURN_IF_ERROR(WriteWholeFile(output_, {text}));
    } else {
      environment.out << text;
    }
    return ExitCode::kOk;
  }

 private:
  std::string id_;
  std::string output_ = "-";
};

}  // namespace

std::unique_ptr<Command> MakeTraceCommand() { return std::make_unique<TraceCommand>(); }

}  // namespace weft::cli
