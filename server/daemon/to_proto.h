// The daemon's own types as messages of the API.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/daemon/buffer_registry.h"
#include "server/daemon/executor_directory.h"
#include "server/daemon/job_table.h"

namespace weft::v1 {
class BufferInfo;
class BufferRef;
class DeviceInfo;
class JobInfo;
class JobOutput;
class JobResult;
class KernelSchema;
enum JobState : int;
}  // namespace weft::v1
namespace weft::kernels {
struct KernelSchema;
}

namespace weft::daemon {

v1::JobState ToProto(JobState state);
void ToProto(const JobSnapshot& job, v1::JobInfo& info);
void ToProto(const JobOutput& output, v1::JobOutput& message);
// Also outputs and timeline, once the job has ended.
void ToProto(const JobSnapshot& job, v1::JobResult& result);
void ToProto(const BufferSnapshot& buffer, v1::BufferInfo& info);
void ToProto(const ExecutorDirectory::Entry& entry, v1::DeviceInfo& info);
void ToProto(const kernels::KernelSchema& schema, v1::KernelSchema& message);

// The state that a filter of a listing names; INVALID_ARGUMENT for a number that is none.
absl::StatusOr<JobState> FromProto(v1::JobState state);
// A reference as BufferRegistry reads it: a name, or "#" and an id. INVALID_ARGUMENT unless just
// one of both is set.
absl::StatusOr<std::string> FromProto(const v1::BufferRef& reference);

// The size of a page: `asked`, or the default, within the API's limit.
absl::StatusOr<uint32_t> PageSize(uint32_t asked);

}  // namespace weft::daemon
