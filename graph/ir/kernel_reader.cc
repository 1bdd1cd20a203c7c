#include "graph/ir/kernel_reader.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

std::string PartOf(int argument) { return absl::StrCat("kernel.args[", argument, "]"); }

}  // namespace

bool KernelReader::ReadArgument(int index, const v1::Argument& argument, const ViewReader& views) {
  read_index_.push_back(std::nullopt);
  switch (argument.value_case()) {
    case v1::Argument::kView: {
      const ViewPlace place = {place_, {}, index, argument.name()};
      std::optional<ReadView> view = views.Read(place, argument.view());
      if (!view.has_value()) return false;
      if (view->shape.empty()) {
        violations_.Add(PartialElement(place, view->view.range.size, kernels::NameOf(view->dtype),
                                       kernels::SizeOf(view->dtype)));
        return false;
      }
      read_index_.back() = static_cast<uint32_t>(read_.size());
      read_.push_back(*std::move(view));
      const ReadView& read = read_.back();
      given_.push_back(
          {argument.name(),
           kernels::GivenBuffer{.dtype = read.dtype,
                                .shape = read.shape,
                                .size_bytes = read.view.range.size,
                                .offset_bytes = read.view.range.offset,
                                .storage = graph_.buffer(read.view.buffer).storage.value()}});
      return true;
    }
    case v1::Argument::kI64:
      given_.push_back({argument.name(), kernels::Number(int64_t{argument.i64()})});
      return true;
    case v1::Argument::kF64:
      given_.push_back({argument.name(), kernels::Number(argument.f64())});
      return true;
    case v1::Argument::kText:
    case v1::Argument::VALUE_NOT_SET:
      break;
  }
  violations_.Add(NoArgumentValue(place_, static_cast<uint32_t>(index), argument.name()));
  return false;
}

bool KernelReader::ReadArguments(const ViewReader& views) {
  const int count = node_.args_size();
  read_.reserve(static_cast<size_t>(count));  // given_ keeps spans of the shapes inside
  given_.reserve(static_cast<size_t>(count));
  bool good = true;
  for (int i = 0; i < count; ++i) good = ReadArgument(i, node_.args(i), views) && good;
  return good;
}

// Bind names the argument in `field`; a missing one has no place of its own.
void KernelReader::Report(const FieldViolation& violation) {
  std::string part = "kernel.args";
  for (int i = 0; i < node_.args_size(); ++i) {
    if (node_.args(i).name() == violation.field) part = PartOf(i);
  }
  violations_.Add(KernelRefuses(place_, part, absl::StrCat("argument ", Quote(violation.field)),
                                violation.description));
}

void KernelReader::CollectViews(const kernels::KernelSchema& schema,
                                const kernels::BoundCall& call) {
  for (size_t a = 0; a < schema.arguments.size(); ++a) {
    const kernels::BufferSchema* buffer = schema.arguments[a].buffer();
    if (buffer == nullptr) continue;
    for (int i = 0; i < node_.args_size(); ++i) {
      if (node_.args(i).name() != schema.arguments[a].name) continue;
      const View& view = read_[*read_index_[static_cast<size_t>(i)]].view;
      const ByteRange touched{view.range.offset, call.arguments[a].touched_bytes};
      views_.push_back({view, touched, buffer->access});
    }
  }
}

bool KernelReader::PlanLaunches(const kernels::KernelSchema& schema,
                                const kernels::LaunchLimits& limits, KernelOp& op) {
  kernels::LaunchOverride chosen;
  if (node_.has_launch()) {
    const v1::LaunchShape& launch = node_.launch();
    chosen.grid = kernels::Dim3{launch.grid_x(), launch.grid_y(), launch.grid_z()};
    chosen.block = kernels::Dim3{launch.block_x(), launch.block_y(), launch.block_z()};
  }
  absl::StatusOr<kernels::LaunchPlan> plan = PlanLaunch(schema, op.call, limits, chosen);
  if (plan.ok()) {
    op.phases = std::move(plan->phases);
    return true;
  }
  for (const FieldViolation& violation : ViolationsOf(plan.status())) {
    const char* part = node_.has_launch() ? "kernel.launch" : "kernel";
    violations_.Add(KernelRefuses(place_, part, violation.field, violation.description));
  }
  return false;
}

std::optional<KernelOp> KernelReader::Read(const kernels::KernelSchema& schema,
                                           const ViewReader& views,
                                           const kernels::LaunchLimits& limits) {
  if (!ReadArguments(views)) return std::nullopt;
  kernels::BindResult bound = kernels::Bind(schema, given_);
  for (const FieldViolation& violation : bound.violations) Report(violation);
  if (!bound.ok()) return std::nullopt;
  KernelOp op;
  op.schema = &schema;
  op.call = std::move(bound.call);
  if (!PlanLaunches(schema, limits, op)) return std::nullopt;
  CollectViews(schema, op.call);
  return op;
}

}  // namespace weft::ir
