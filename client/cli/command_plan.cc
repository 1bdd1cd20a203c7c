#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "client/cli/bind_files.h"
#include "client/cli/bind_modules.h"
#include "client/cli/command.h"
#include "client/cli/file_io.h"
#include "client/cli/graphviz.h"
#include "client/cli/output.h"
#include "client/cli/plan_device.h"
#include "client/connection.h"
#include "graph/ir/assumed_device.h"
#include "graph/ir/data_type.h"
#include "graph/ir/validate.h"
#include "graph/plan/planner.h"
#include "graph/plan/render.h"

namespace weft::cli {
namespace {

class PlanCommand final : public Command {
 public:
  CommandInfo info() const override;
  std::vector<Option> options() override;
  absl::StatusOr<ExitCode> Run(Environment& environment) override;

 private:
  // The job and what it is planned for.
  struct Subject {
    v1::Job job;
    std::vector<cuda::DeviceInfo> devices;
    ir::SharedBufferResolver resolver;
  };
  absl::StatusOr<Subject> Load(const Environment& environment) const;
  absl::Status Print(Environment& environment, const ir::Graph& graph,
                     const plan::Plan& plan) const;

  std::string job_;
  bool dot_ = false;
  std::string svg_;
  bool server_ = false;
  std::string passes_;
  bool pass_times_ = false;
  uint32_t max_lanes_ = 0;
  uint32_t max_nodes_ = plan::RenderOptions().max_nodes;
};

CommandInfo PlanCommand::info() const {
  return {"plan", "Show how a job would run: lanes, event edges, memory, and why",
          absl::StrCat("Needs no server: without --server it plans for what every GPU of compute\n"
                       "capability 8.0 to 10.0 can do, and buffers of the server must have their\n"
                       "type and shape in the job. Files that uploads name are not read.\nPasses: ",
                       absl::StrJoin(plan::SwitchablePasses(), ", "))};
}

std::vector<Option> PlanCommand::options() {
  return {
      Argument("job", "JOB", "Job file: .textproto, .pbtxt, .json or .binpb", &job_,
               Completes::kFiles),
      Flag("dot", "Print the graph for graphviz", &dot_),
      Value("svg", "FILE", "Draw the graph into FILE (needs graphviz)", &svg_, Completes::kFiles),
      Flag("server", "Plan for the server's device and buffers", &server_),
      Value("plan-passes", "LIST",
            "Passes to run, separated by commas: --plan-passes=-NAME leaves one out", &passes_),
      Flag("pass-times", "Print the passes and how long each took", &pass_times_),
      Value("max-lanes", "N", "At most so many lanes (default: what suits the device)",
            &max_lanes_),
      Value("max-nodes", "N", "Show at most so many nodes (default 10000)", &max_nodes_),
  };
}

// Buffers of the server, as it describes them.
ir::SharedBufferResolver ResolverOf(std::shared_ptr<client::Connection> connection) {
  return [connection = std::move(connection)](
             const ir::SharedRequest& request) -> absl::StatusOr<ir::SharedBuffer> {
    v1::GetBufferRequest get;
    uint64_t id = 0;
    if (absl::StartsWith(request.reference, "#") &&
        absl::SimpleAtoi(request.reference.substr(1), &id)) {
      get.mutable_buffer()->set_id(id);
    } else {
      get.mutable_buffer()->set_name(std::string(request.reference));
    }
    WEFT_ASSIGN_OR_RETURN(const v1::GetBufferResponse found, connection->GetBuffer(get));
    const v1::BufferInfo& info = found.buffer();
    ir::SharedBuffer buffer;
    buffer.id = BufferId(info.id());
    buffer.dtype = ir::DTypeOf(info.data_type()).value_or(kernels::DType::kU8);
    buffer.shape.assign(info.shape().begin(), info.shape().end());
    buffer.size_bytes = info.size_bytes();
    buffer.device = info.device();
    return buffer;
  };
}

absl::StatusOr<PlanCommand::Subject> PlanCommand::Load(const Environment& environment) const {
  WEFT_ASSIGN_OR_RETURN(JobFile file, ReadJobFile(job_));
  WEFT_RETURN_IF_ERROR(BindModules(file).status());
  Subject subject;
  subject.job = std::move(file.job);
  if (!server_) {
    cuda::DeviceInfo device = ir::AssumedDevice();
    device.ordinal = static_cast<int>(subject.job.options().device());
    subject.devices = {std::move(device)};
    return subject;
  }
  WEFT_ASSIGN_OR_RETURN(auto connection, environment.Connect());
  WEFT_ASSIGN_OR_RETURN(const v1::ListDevicesResponse listed, connection->ListDevices({}));
  for (const v1::DeviceInfo& device : listed.devices()) {
    subject.devices.push_back(FromProto(device));
  }
  subject.resolver = ResolverOf(std::move(connection));
  return subject;
}

absl::Status PlanCommand::Print(Environment& environment, const ir::Graph& graph,
                                const plan::Plan& plan) const {
  const plan::RenderOptions options = {.max_nodes = max_nodes_};
  if (!svg_.empty()) {
    WEFT_ASSIGN_OR_RETURN(const std::string svg, DrawSvg(plan::RenderDot(graph, plan, options)));
    WEFT_RETURN_IF_ERROR(WriteWholeFile(svg_, {svg}));
    environment.out << Printable(svg_) << "\n";
  }
  if (dot_) {
    environment.out << plan::RenderDot(graph, plan, options);
  } else if (svg_.empty()) {
    environment.out << plan::RenderText(graph, plan, options);
  }
  if (pass_times_) environment.out << plan::RenderPasses(plan);
  return absl::OkStatus();
}

// The device of `devices` that the job runs on. REQUIRES: the job is valid for them.
const cuda::DeviceInfo& DeviceOf(const ir::Graph& graph,
                                 const std::vector<cuda::DeviceInfo>& devices) {
  return *std::find_if(devices.begin(), devices.end(), [&graph](const cuda::DeviceInfo& device) {
    return device.ordinal == static_cast<int>(graph.options.device);
  });
}

absl::StatusOr<ExitCode> PlanCommand::Run(Environment& environment) {
  plan::PlanOptions options;
  options.max_lanes = max_lanes_;
  WEFT_ASSIGN_OR_RETURN(options.passes, plan::PassSwitches::Parse(passes_));
  WEFT_ASSIGN_OR_RETURN(const Subject subject, Load(environment));
  ir::JobContext context;
  context.devices = subject.devices;
  context.resolver = subject.resolver;
  context.limits.max_job_bytes = kMaxArrayBytes;
  context.uploads = ir::UploadData::kStripped;
  WEFT_ASSIGN_OR_RETURN(const ir::Graph graph, ir::ValidateJob(subject.job, context));
  const cuda::DeviceInfo& device = DeviceOf(graph, subject.devices);
  WEFT_ASSIGN_OR_RETURN(const plan::Plan plan, plan::PlanGraph(graph, device, options));
  WEFT_RETURN_IF_ERROR(Print(environment, graph, plan));
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakePlanCommand() { return std::make_unique<PlanCommand>(); }

}  // namespace weft::cli
