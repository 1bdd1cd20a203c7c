#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/bind_files.h"
#include "client/cli/bind_modules.h"
#include "client/cli/command.h"
#include "client/cli/interrupt.h"
#include "client/cli/job_report.h"
#include "client/cli/local_daemon.h"
#include "client/cli/output.h"
#include "client/cli/timeline.h"
#include "client/client.h"

namespace weft::cli {
namespace {

constexpr char kRunDetails[] =
    "Files that the job names are relative to the job file; those of --input, --output and\n"
    "--timeline to the working folder. A file is .npy, .png (8-bit gray or RGB) or, with any "
    "other\n"
    "ending, raw bytes. Outputs are written whole or not at all, and never over an input;\n"
    "those that the job delivers while it runs (`delivery`) as soon as they come, also where the "
    "job\n"
    "fails later on.\n"
    "Ctrl-C cancels the job while it is queued; one that runs ends as it ends. A second Ctrl-C\n"
    "leaves at once.";

class RunCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {"run", "Run a job and write its outputs", kRunDetails};
  }
  std::vector<Option> options() override {
    return {
        Argument("job", "JOB", "Job file: .textproto, .pbtxt, .json or .binpb", &job_,
                 Completes::kFiles),
        Flag("local", "Start a weftd for this job alone, and stop it afterwards", &local_),
        OneOf(Value("driver", "DRIVER", "Driver of that weftd (default auto: a GPU where one is)",
                    &driver_),
              {"auto", "cuda", "cpu"}),
        Value("input", "NODE=FILE", "Bytes of an upload node, in place of the job's (repeatable)",
              &inputs_, Completes::kFiles),
        Value("output", "NAME=FILE", "Where an output goes, in place of the job's (repeatable)",
              &outputs_, Completes::kFiles),
        Value("out-dir", "DIR", "Write all outputs into this folder", &out_dir_,
              Completes::kFolders),
        Value("timeline", "FILE",
              "Measure when each node ran; to FILE (JSON where it ends in .json), or - to print it",
              &timeline_, Completes::kFiles),
        Flag("profile", "Measure when each node runs, for `weft trace`", &profile_),
        Value("device", "N", "Run on this device, in place of the job's", &device_),
        Flag("json", "Print the result as JSON", &json_),
    };
  }
  absl::StatusOr<ExitCode> Run(Environment& environment) override;

 private:
  absl::StatusOr<JobFile> Prepare(Bindings& files) const;
  absl::StatusOr<std::unique_ptr<LocalDaemon>> StartDaemon(const Environment& environment) const;
  absl::StatusOr<v1::JobResult> Submit(Environment& environment, v1::Job job, const Bindings& files,
                                       InterruptWatcher& interrupts) const;

  std::string job_;
  bool local_ = false;
  std::string driver_;
  std::vector<std::string> inputs_;
  std::vector<std::string> outputs_;
  std::string out_dir_;
  std::string timeline_;
  bool profile_ = false;
  std::optional<uint32_t> device_;
  bool json_ = false;
};

// The job with its inputs; `files` gets where its outputs go.
absl::StatusOr<JobFile> RunCommand::Prepare(Bindings& files) const {
  WEFT_ASSIGN_OR_RETURN(const Bindings inputs, ParseBindings("input", inputs_));
  WEFT_ASSIGN_OR_RETURN(const Bindings outputs, ParseBindings("output", outputs_));
  WEFT_ASSIGN_OR_RETURN(JobFile file, ReadJobFile(job_));
  WEFT_ASSIGN_OR_RETURN(std::vector<std::string> read, BindInputs(file, inputs));
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> code, BindModules(file));
  read.insert(read.end(), code.begin(), code.end());
  WEFT_ASSIGN_OR_RETURN(files, PlanOutputs(file, read, out_dir_, outputs));
  if (profile_ || !timeline_.empty()) file.job.mutable_options()->set_collect_timeline(true);
  if (device_.has_value()) file.job.mutable_options()->set_device(*device_);
  return file;
}

absl::StatusOr<std::unique_ptr<LocalDaemon>> RunCommand::StartDaemon(
    const Environment& environment) const {
  if (!local_) return std::unique_ptr<LocalDaemon>();
  LocalDaemon::Options options;
  options.program = (std::filesystem::path(environment.program).parent_path() / "weftd").string();
  if (!driver_.empty()) options.driver = driver_;
  return LocalDaemon::Start(options);
}

absl::StatusOr<v1::JobResult> RunCommand::Submit(Environment& environment, v1::Job job,
                                                 const Bindings& files,
                                                 InterruptWatcher& interrupts) const {
  const Bindings host_outputs = HostOutputsOf(job, files);
  WEFT_ASSIGN_OR_RETURN(const auto connection, environment.Connect());
  WEFT_ASSIGN_OR_RETURN(const client::Job submitted,
                        client::Client(connection).Submit(std::move(job)));
  // Ends the wait below. It fails only when the job has ended, which ends the wait as well.
  interrupts.OnInterrupt([submitted, &err = environment.err] {
    err << absl::StrCat("\nweft run: asked to cancel job ", submitted.id(),
                        "; one that runs ends as it ends (Ctrl-C again leaves it)\n")
        << std::flush;
    submitted.Cancel().IgnoreError();
  });
  auto result =
      WaitForJob(environment, *connection, submitted.id(), /*timeout_ms=*/0, host_outputs);
  interrupts.OnInterrupt(nullptr);
  return result;
}

absl::StatusOr<ExitCode> RunCommand::Run(Environment& environment) {
  if (!driver_.empty() && !local_) {
    return absl::InvalidArgumentError("--driver chooses the driver of --local: give both");
  }
  Bindings files;
  WEFT_ASSIGN_OR_RETURN(JobFile file, Prepare(files));
  WEFT_ASSIGN_OR_RETURN(const auto interrupts, InterruptWatcher::Create());
  WEFT_ASSIGN_OR_RETURN(const auto daemon, StartDaemon(environment));
  if (daemon != nullptr) environment.socket = daemon->socket();
  WEFT_ASSIGN_OR_RETURN(v1::JobResult result,
                        Submit(environment, std::move(file.job), files, *interrupts));
  absl::Status drawn;
  if (!timeline_.empty() && result.timeline_size() > 0) {
    drawn = WriteTimeline(result, timeline_, environment.out);
  }
  // Also where the timeline could not be written: the job has run, and its outputs are wanted.
  absl::StatusOr<ExitCode> reported =
      ReportResult(environment, "weft run", std::move(result), files,
                   json_ ? ReportStyle::kJson : ReportStyle::kText);
  if (drawn.ok()) return reported;
  if (reported.ok() && *reported == ExitCode::kOk) return drawn;
  // Both went wrong: the exit status is that of the job or its outputs.
  PrintError(environment.err, "weft run", drawn);
  return reported;
}

}  // namespace

std::unique_ptr<Command> MakeRunCommand() { return std::make_unique<RunCommand>(); }

}  // namespace weft::cli
