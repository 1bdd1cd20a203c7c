// The errors of weftd that a user can see, one function each: code, what is wrong with the figures,
// what to do. docs/errors.md has a section for each.
//
// Thread safety: pure functions.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/ids.h"

namespace weft::daemon {

// The daemon as a whole.
absl::Status AlreadyRunningError(const std::string& socket, pid_t pid);
absl::Status NotOurSocketError(const std::string& path, absl::string_view what);
absl::Status DrainingError();
absl::Status SessionEndedError();

// Devices and executors.
absl::Status UnknownDeviceError(uint32_t device, size_t device_count);
absl::Status ExecutorStartingError(uint32_t device);
absl::Status ExecutorLostError(uint32_t device, absl::string_view what_happened);
absl::Status ExecutorStartError(uint32_t device, absl::string_view what_happened);

// Jobs.
absl::Status UnknownJobError(absl::string_view job_id);
absl::Status NotYourJobError(absl::string_view job_id);
absl::Status JobEndedError(absl::string_view job_id, absl::string_view state);
absl::Status QueueFullError(uint32_t limit);
absl::Status JobTooLargeError(uint64_t size_bytes, uint64_t limit_bytes);
absl::Status RequestIdTooLongError(size_t length, size_t limit);
absl::Status JobDeadlineError(uint64_t deadline_ms);
absl::Status JobCancelledError();
absl::Status JobLostError(const absl::Status& executor_health);
absl::Status ShutdownJobError();
absl::Status WaitTimeoutError(absl::string_view job_id, uint64_t timeout_ms);

// Buffers.
absl::Status UnknownBufferError(absl::string_view reference);
absl::Status NotYourBufferError(absl::string_view reference);
absl::Status BufferExistsError(absl::string_view name);
absl::Status BufferInUseError(absl::string_view reference, uint32_t jobs);
absl::Status TooManyBuffersError(uint32_t limit);
absl::Status BufferQuotaError(uint64_t asked_bytes, uint64_t used_bytes, uint64_t limit_bytes);
absl::Status BufferRangeError(uint64_t offset_bytes, uint64_t size_bytes, uint64_t buffer_bytes);

// Prepared graphs.
absl::Status UnknownGraphError(absl::string_view graph_id);
absl::Status GraphInUseError(absl::string_view graph_id);
absl::Status TooManyGraphsError(uint32_t limit);

// Requests in general: one wrong field.
absl::Status FieldError(absl::string_view field, absl::string_view description);

}  // namespace weft::daemon
