#include "server/daemon/to_proto.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/ir/data_type.h"
#include "graph/plan/planner.h"
#include "kernels/schema.h"
#include "server/daemon/errors.h"
#include "server/daemon/executor_client.h"
#include "server/daemon/id_text.h"
#include "weft/v1/buffer.pb.h"
#include "weft/v1/device.pb.h"
#include "weft/v1/job.pb.h"
#include "weft/v1/kernel.pb.h"
#include "weft/v1/service.pb.h"

namespace weft::daemon {
namespace {

constexpr uint32_t kDefaultPageSize = 100;
constexpr uint32_t kMaxPageSize = 1000;

constexpr JobState kStates[] = {
    JobState::kQueued,    JobState::kRunning,          JobState::kSucceeded, JobState::kFailed,
    JobState::kCancelled, JobState::kDeadlineExceeded, JobState::kAborted};
static_assert(static_cast<int>(JobState::kAborted) + 1 == v1::JOB_STATE_ABORTED,
              "JobState follows v1.JobState without its first value");

v1::ExecutorState ToProto(ExecutorDirectory::State state) {
  switch (state) {
    case ExecutorDirectory::State::kStarting:
      return v1::EXECUTOR_STATE_STARTING;
    case ExecutorDirectory::State::kServing:
      return v1::EXECUTOR_STATE_SERVING;
    case ExecutorDirectory::State::kDown:
      return v1::EXECUTOR_STATE_DOWN;
  }
  return v1::EXECUTOR_STATE_UNSPECIFIED;
}

v1::Access ToProto(kernels::Access access) {
  switch (access) {
    case kernels::Access::kRead:
      return v1::ACCESS_READ;
    case kernels::Access::kWrite:
      return v1::ACCESS_WRITE;
    case kernels::Access::kReadWrite:
      return v1::ACCESS_READ_WRITE;
  }
  return v1::ACCESS_UNSPECIFIED;
}

void ToProto(const kernels::DTypeRule& rule, const kernels::KernelSchema& schema,
             v1::ArgumentSchema& message) {
  for (kernels::DType dtype : rule.allowed) message.add_data_types(ir::DataTypeOf(dtype));
  if (rule.kind == kernels::DTypeRule::Kind::kSameAs) {
    message.set_same_data_type_as(schema.arguments[rule.argument].name);
  } else if (rule.kind != kernels::DTypeRule::Kind::kOneOf) {
    // No field of the API says it: the type that goes with another argument's.
    message.set_description(absl::StrCat(message.description(),
                                         message.description().empty() ? "" : " ",
                                         "Type: ", kernels::Describe(schema, rule), "."));
  }
}

void ToProto(const kernels::ArgumentSchema& argument, const kernels::KernelSchema& schema,
             v1::ArgumentSchema& message) {
  message.set_name(argument.name);
  message.set_description(argument.doc);
  message.set_is_buffer(argument.buffer() != nullptr);
  if (const kernels::BufferSchema* buffer = argument.buffer()) {
    message.set_access(ToProto(buffer->access));
    ToProto(buffer->dtype, schema, message);
    return;
  }
  const kernels::ScalarSchema& scalar = *argument.scalar();
  ToProto(scalar.dtype, schema, message);
  if (scalar.default_value.kind != kernels::ScalarDefault::Kind::kRequired) {
    message.set_default_value(kernels::Describe(schema, scalar.default_value));
  }
  if (scalar.min.has_value()) message.set_minimum(kernels::Describe(*scalar.min));
  if (scalar.max.has_value()) message.set_maximum(kernels::Describe(*scalar.max));
}

}  // namespace

v1::JobState ToProto(JobState state) {
  return static_cast<v1::JobState>(static_cast<int>(state) + 1);
}

void ToProto(const JobSnapshot& job, v1::JobInfo& info) {
  info.set_id(FormatJobId(job.id));
  info.set_name(job.spec->name);
  info.set_state(ToProto(job.state));
  info.set_created_unix_ns(absl::ToUnixNanos(job.created));
  info.set_queued_ns(static_cast<uint64_t>(absl::ToInt64Nanoseconds(job.queued)));
  info.set_running_ns(static_cast<uint64_t>(absl::ToInt64Nanoseconds(job.running)));
  info.set_node_count(job.spec->node_count);
  info.set_lane_count(job.spec->lane_count);
  info.set_scratch_bytes(job.spec->scratch_bytes);
  info.set_owner_uid(job.spec->owner);
  info.set_reused_graph(job.reused_graph);
  if (job.outcome == nullptr || job.outcome->error.ok()) return;
  v1::JobError& error = *info.mutable_error();
  error.set_code(static_cast<int>(job.outcome->error.code()));
  error.set_message(std::string(job.outcome->error.message()));
  error.set_node(job.outcome->error_node);
}

void ToProto(const JobOutput& output, v1::JobOutput& message) {
  message.set_name(output.name);
  message.set_data_type(ir::DataTypeOf(output.dtype));
  for (uint64_t extent : output.shape) message.add_shape(static_cast<int64_t>(extent));
  message.set_data(output.data);
  message.set_file(output.file);
}

void ToProto(const JobSnapshot& job, v1::JobResult& result) {
  ToProto(job, *result.mutable_info());
  if (job.outcome == nullptr) return;
  for (const JobOutputPtr& output : job.outcome->outputs) ToProto(*output, *result.add_outputs());
  for (const NodeTime& time : job.outcome->timeline) {
    v1::NodeTiming& message = *result.add_timeline();
    message.set_node(time.node);
    message.set_kind(time.kind);
    message.set_lane(time.lane);
    message.set_start_ns(time.start_ns);
    message.set_end_ns(time.end_ns);
    message.set_occupancy(time.occupancy);
  }
}

void ToProto(const BufferSnapshot& buffer, v1::BufferInfo& info) {
  info.set_id(buffer.id.value());
  info.set_name(buffer.spec.name);
  info.set_data_type(ir::DataTypeOf(buffer.spec.dtype));
  for (uint64_t extent : buffer.spec.shape) info.add_shape(static_cast<int64_t>(extent));
  info.set_size_bytes(buffer.spec.size_bytes);
  info.set_allocated_bytes(buffer.allocated_bytes);
  info.set_device(buffer.spec.device);
  info.set_owner_uid(buffer.owner);
  info.set_generation(buffer.generation.value());
  info.set_jobs_in_flight(buffer.uses);
  info.set_created_unix_ns(absl::ToUnixNanos(buffer.created));
}

void ToProto(const ExecutorDirectory::Entry& entry, v1::DeviceInfo& info) {
  const cuda::DeviceInfo& device = entry.info;
  info.set_ordinal(entry.device);
  info.set_executor_state(ToProto(entry.state));
  if (entry.client != nullptr) info.set_executor_pid(static_cast<uint32_t>(entry.client->pid()));
  if (device.total_memory_bytes == 0) return;  // nothing is known of it yet
  info.set_name(device.name);
  info.set_uuid(cuda::UuidText(device));
  info.set_is_cpu(device.is_cpu);
  info.set_compute_capability_major(static_cast<uint32_t>(device.compute_major));
  info.set_compute_capability_minor(static_cast<uint32_t>(device.compute_minor));
  info.set_total_memory_bytes(device.total_memory_bytes);
  info.set_free_memory_bytes(entry.free_memory_bytes);
  info.set_multiprocessor_count(device.multiprocessor_count);
  info.set_max_threads_per_block(device.max_threads_per_block);
  for (uint32_t extent : device.max_grid) info.add_max_grid(extent);
  for (uint32_t extent : device.max_block) info.add_max_block(extent);
  info.set_max_shared_bytes_per_block(
      std::max(device.shared_bytes_per_block, device.shared_bytes_per_block_optin));
  info.set_max_parameter_bytes(device.max_parameter_bytes);
  info.set_max_lanes(plan::UsefulLanes(device));
  info.set_driver_version(static_cast<uint32_t>(device.driver_version));
}

void ToProto(const kernels::KernelSchema& schema, v1::KernelSchema& message) {
  message.set_name(schema.name);
  message.set_summary(schema.summary);
  message.set_description(schema.doc);
  for (const kernels::ArgumentSchema& argument : schema.arguments) {
    ToProto(argument, schema, *message.add_arguments());
  }
}

absl::StatusOr<JobState> FromProto(v1::JobState state) {
  if (state <= v1::JOB_STATE_UNSPECIFIED || state > v1::JOB_STATE_ABORTED) {
    return FieldError("states", absl::StrCat(static_cast<int>(state), " is no state of a job."));
  }
  return kStates[static_cast<int>(state) - 1];
}

absl::StatusOr<std::string> FromProto(const v1::BufferRef& reference) {
  if (reference.name().empty() == (reference.id() == 0)) {
    return FieldError("buffer", "needs either a name or an id.");
  }
  return reference.id() == 0 ? reference.name() : FormatBufferId(BufferId(reference.id()));
}

absl::StatusOr<uint32_t> PageSize(uint32_t asked) {
  if (asked > kMaxPageSize) {
    return FieldError("page_size",
                      absl::StrCat(asked, " is over the limit of ", kMaxPageSize, "."));
  }
  return asked == 0 ? kDefaultPageSize : asked;
}

}  // namespace weft::daemon
