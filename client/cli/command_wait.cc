#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "client/cli/bind_files.h"
#include "client/cli/command.h"
#include "client/cli/errors.h"
#include "client/cli/job_report.h"
#include "client/client.h"

namespace weft::cli {
namespace {

class WaitCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {"wait", "Wait for a job to end, and write its outputs where asked to",
            "The exit status says how the job ended, as for `weft run`. Outputs are written only\n"
            "with --out-dir (as NAME.npy) or --output."};
  }
  std::vector<Option> options() override {
    return {
        Argument("id", "ID", "Job, as `weft submit` or `weft jobs` prints it", &id_),
        Value("timeout", "SECONDS",
              "Give up after so long (exit status 4), the job goes on; 0: never", &timeout_s_),
        Value("output", "NAME=FILE", "Where an output goes (repeatable)", &outputs_,
              Completes::kFiles),
        Value("out-dir", "DIR", "Write all outputs into this folder", &out_dir_,
              Completes::kFolders),
        Flag("json", "Print the result as JSON", &json_),
    };
  }
  absl::StatusOr<ExitCode> Run(Environment& environment) override;

 private:
  absl::StatusOr<Bindings> PlanFiles(const v1::JobResult& result, Bindings outputs) const;

  std::string id_;
  double timeout_s_ = 0;
  std::vector<std::string> outputs_;
  std::string out_dir_;
  bool json_ = false;
};

// Only names of outputs make files here, never a file name that the server sent.
absl::StatusOr<Bindings> WaitCommand::PlanFiles(const v1::JobResult& result,
                                                Bindings outputs) const {
  Bindings files;
  for (const v1::JobOutput& output : result.outputs()) {
    const auto bound = outputs.find(output.name());
    if (bound != outputs.end()) {
      files[output.name()] = bound->second;
      outputs.erase(bound);
    } else if (!out_dir_.empty()) {
      const std::string last = std::filesystem::path(output.name()).filename().string();
      files[output.name()] = (std::filesystem::path(out_dir_) / (last + ".npy")).string();
    }
  }
  if (!outputs.empty() && result.info().state() == v1::JOB_STATE_SUCCEEDED) {
    return NoSuchOutputNameError(outputs.begin()->first, "");
  }
  return files;
}

absl::StatusOr<ExitCode> WaitCommand::Run(Environment& environment) {
  WEFT_ASSIGN_OR_RETURN(Bindings outputs, ParseBindings("output", outputs_));
  if (!(timeout_s_ >= 0 && timeout_s_ <= 1e9)) {  // NaN is out of every range
    return absl::InvalidArgumentError("--timeout: give seconds from 0 to 1000000000");
  }
  // 0 on the wire means "no limit".
  const auto timeout_ms =
      timeout_s_ == 0 ? 0 : std::max<uint64_t>(1, static_cast<uint64_t>(timeout_s_ * 1e3));
  WEFT_ASSIGN_OR_RETURN(const auto connection, environment.Connect());
  WEFT_ASSIGN_OR_RETURN(v1::JobResult result,
                        WaitForJob(environment, *connection, id_, timeout_ms));
  WEFT_ASSIGN_OR_RETURN(const Bindings files, PlanFiles(result, std::move(outputs)));
  return ReportResult(environment, "weft wait", std::move(result), files,
                      json_ ? ReportStyle::kJson : ReportStyle::kText);
}

}  // namespace

std::unique_ptr<Command> MakeWaitCommand() { return std::make_unique<WaitCommand>(); }

}  // namespace weft::cli
