// Job files of any bytes through everything that weftd does with a job before it touches a device:
// parse, validate, plan, verify, render, fingerprint. The first byte chooses the format ('t' text,
// 'j' JSON, anything else binary).
//
// It aborts where a promise is broken: an error other than those that a client may cause, a message
// that is not UTF-8, a plan that the verifier refuses, or a job that gives another plan once its
// shared buffers are described (as weftd does for the executor).
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "graph/ir/assumed_device.h"
#include "graph/ir/fingerprint.h"
#include "graph/ir/job_file.h"
#include "graph/ir/text_place.h"
#include "graph/ir/upload_bytes.h"
#include "graph/ir/validate.h"
#include "graph/plan/planner.h"
#include "graph/plan/render.h"
#include "graph/plan/verify_plan.h"
#include "weft/v1/job.pb.h"

namespace weft {
namespace {

[[noreturn]] void Broken(const char* promise, absl::string_view text) {
  std::fprintf(stderr, "broken promise: %s: %s\n", promise, std::string(text).c_str());
  std::abort();
}

void CheckError(const absl::Status& status) {
  if (status.ok()) return;
  const bool allowed = absl::IsInvalidArgument(status) || absl::IsNotFound(status) ||
                       absl::IsResourceExhausted(status);
  if (!allowed) Broken("errors are the client's", status.ToString());
  if (ir::FindInvalidUtf8(status.message()).has_value()) Broken("messages are UTF-8", "");
  if (status.message().size() > 10'000) Broken("messages are short", status.message());
  for (const FieldViolation& violation : ViolationsOf(status)) {
    if (ir::FindInvalidUtf8(violation.description).has_value()) Broken("violations are UTF-8", "");
  }
}

absl::StatusOr<ir::SharedBuffer> Resolve(const ir::SharedRequest& request) {
  const bool is_known = request.reference == "s" || request.reference == "#1";
  if (!is_known) return absl::NotFoundError("there is no such buffer");
  return ir::SharedBuffer{BufferId(1), kernels::DType::kF32, {32, 32}, 4096, request.device};
}

std::string Plan(const ir::Graph& graph, const cuda::DeviceInfo& device, const char* passes) {
  plan::PlanOptions options;
  options.passes = *plan::PassSwitches::Parse(passes);
  const absl::StatusOr<plan::Plan> plan = plan::PlanGraph(graph, device, options);
  CheckError(plan.status());
  if (!plan.ok()) return "";
  const absl::Status verified = plan::VerifyPlan(graph, *plan);
  if (!verified.ok()) Broken("plans are right", verified.message());
  plan::RenderDot(graph, *plan);
  return plan::RenderText(graph, *plan);
}

void Run(absl::string_view bytes, ir::JobFormat format) {
  static const std::vector<cuda::DeviceInfo> devices = {ir::AssumedDevice()};
  ir::Limits limits;
  limits.max_nodes = 2000;
  limits.max_buffers = 200;
  absl::StatusOr<v1::Job> job = ir::ParseJob(bytes, format, limits);
  CheckError(job.status());
  if (!job.ok()) return;
  const ir::JobContext present = {.devices = devices, .resolver = Resolve, .limits = limits};
  CheckError(ir::ValidateJob(*job, present).status());
  const std::vector<std::string> uploads = ir::TakeUploadBytes(*job);
  ir::Fingerprinter({1, 2}).Of(*job, {}, {});
  const ir::JobContext stripped = {.devices = devices,
                                   .resolver = Resolve,
                                   .limits = limits,
                                   .uploads = ir::UploadData::kStripped};
  const absl::StatusOr<ir::Graph> graph = ir::ValidateJob(*job, stripped);
  CheckError(graph.status());
  if (!graph.ok()) return;
  CheckError(ir::CheckUploadBytes(*graph, uploads));
  const std::string plan = Plan(*graph, devices[0], "");
  Plan(*graph, devices[0], "none");
  ir::DescribeSharedBuffers(*graph, *job);
  const absl::StatusOr<ir::Graph> again = ir::ValidateJob(*job, stripped);
  if (!again.ok()) Broken("described jobs are valid", again.status().ToString());
  if (Plan(*again, devices[0], "") != plan) Broken("described jobs have the same plan", plan);
}

}  // namespace
}  // namespace weft

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const absl::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const weft::ir::JobFormat format = data[0] == 't'   ? weft::ir::JobFormat::kText
                                     : data[0] == 'j' ? weft::ir::JobFormat::kJson
                                                      : weft::ir::JobFormat::kBinary;
  weft::Run(bytes, format);
  return 0;
}
