#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "client/cli/bind_files.h"
#include "client/cli/bind_modules.h"
#include "client/cli/command.h"
#include "client/cli/output.h"
#include "client/client.h"

namespace weft::cli {
namespace {

class SubmitCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {"submit", "Submit a job and print its id, without waiting",
            "`weft wait ID --out-dir DIR` waits for it and writes its outputs."};
  }
  std::vector<Option> options() override {
    return {
        Argument("job", "JOB", "Job file: .textproto, .pbtxt, .json or .binpb", &job_,
                 Completes::kFiles),
        Value("input", "NODE=FILE", "Bytes of an upload node, in place of the job's (repeatable)",
              &inputs_, Completes::kFiles),
        Value("device", "N", "Run on this device, in place of the job's", &device_),
        Flag("profile", "Measure when each node runs, for `weft trace`", &profile_),
        Flag("json", "Print the answer as JSON", &json_),
    };
  }
  absl::StatusOr<ExitCode> Run(Environment& environment) override {
    WEFT_ASSIGN_OR_RETURN(const Bindings inputs, ParseBindings("input", inputs_));
    WEFT_ASSIGN_OR_RETURN(JobFile file, ReadJobFile(job_));
    WEFT_RETURN_IF_ERROR(BindInputs(file, inputs).status());
    WEFT_RETURN_IF_ERROR(BindModules(file).status());
    if (profile_) file.job.mutable_options()->set_collect_timeline(true);
    if (device_.has_value()) file.job.mutable_options()->set_device(*device_);
    WEFT_ASSIGN_OR_RETURN(const auto connection, environment.Connect());
    v1::SubmitRequest request;
    *request.mutable_job() = std::move(file.job);
    request.set_request_id(client::NewRequestId());
    WEFT_ASSIGN_OR_RETURN(const v1::SubmitResponse response, connection->Submit(request));
    if (json_) {
      environment.out << ToJson(response);
    } else {
      environment.out << Printable(response.job_id()) << "\n";
    }
    return ExitCode::kOk;
  }

 private:
  std::string job_;
  std::vector<std::string> inputs_;
  std::optional<uint32_t> device_;
  bool profile_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeSubmitCommand() { return std::make_unique<SubmitCommand>(); }

}  // namespace weft::cli
