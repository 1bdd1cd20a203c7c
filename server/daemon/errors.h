// The errors of weftd that a user can see, one function each: code, what is wrong with the figures,
// what to do. docs/errors.md is made from this file: the comment of each says when it comes.
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

// ---- The daemon as a whole

// A second weftd was started on a socket that one serves already.
absl::Status AlreadyRunningError(const std::string& socket, pid_t pid);
// Something lies where the socket is to be that no weftd of this user has left.
absl::Status NotOurSocketError(const std::string& path, absl::string_view what);
// New work while weftd shuts down.
absl::Status DrainingError();
// The connection ended while its request was handled; nobody reads this.
absl::Status SessionEndedError();
// A connection more than max_sessions; it is closed.
absl::Status TooManySessionsError(uint32_t limit);
// A caller that came by another way than the Unix socket.
absl::Status UnknownCallerError();

// ---- Devices and executors

// A device that the machine does not have, or that weftd does not serve.
absl::Status UnknownDeviceError(uint32_t device, size_t device_count);
// Work for a device whose executor does not serve yet, or is being started again.
absl::Status ExecutorStartingError(uint32_t device);
// The executor ended while it worked on the request.
absl::Status ExecutorLostError(uint32_t device, absl::string_view what_happened);
// weftd ends with this when an executor cannot start at its start.
absl::Status ExecutorStartError(uint32_t device, absl::string_view what_happened);
// The program of the executor is not where it should be.
absl::Status NoExecutorProgramError(const std::string& program, int error_number);
// weftd was told to use CUDA where no GPU is to be seen.
absl::Status NoGpuError();

// ---- Jobs

// No job has this id, or it has ended and was forgotten.
absl::Status UnknownJobError(absl::string_view job_id);
// A job of another user; root sees all.
absl::Status NotYourJobError(absl::string_view job_id);
// Cancel of a job that has ended.
absl::Status JobEndedError(absl::string_view job_id, absl::string_view state);
// A job more than max_queued_jobs.
absl::Status QueueFullError(uint32_t limit);
// A job larger than max_job_bytes.
absl::Status JobTooLargeError(uint64_t size_bytes, uint64_t limit_bytes);
// SubmitRequest.request_id is longer than allowed.
absl::Status RequestIdTooLongError(size_t length, size_t limit);
// The error of a job in state DEADLINE_EXCEEDED.
absl::Status JobDeadlineError(uint64_t deadline_ms);
// The error of a job in state CANCELLED.
absl::Status JobCancelledError();
// The error of a job in state ABORTED whose executor was lost while it ran.
absl::Status JobLostError(const absl::Status& executor_health);
// The error of a job in state ABORTED that outlasted weftd's grace time.
absl::Status ShutdownJobError();
// Wait with a timeout, and the job has not ended by then.
absl::Status WaitTimeoutError(absl::string_view job_id, uint64_t timeout_ms);

// ---- Buffers

// No buffer has this name or id (any more).
absl::Status UnknownBufferError(absl::string_view reference);
// A buffer of another user; root sees all.
// A job with modules of a caller who may not bring code (the setting user_kernels).
absl::Status UserKernelsForbiddenError(absl::string_view setting);
absl::Status NotYourBufferError(absl::string_view reference);
// Create with a name that is taken.
absl::Status BufferExistsError(absl::string_view name);
// Delete of a buffer that jobs or transfers use.
absl::Status BufferInUseError(absl::string_view reference, uint32_t jobs);
// A buffer more than max_buffers.
absl::Status TooManyBuffersError(uint32_t limit);
// A buffer that does not fit in what max_buffer_bytes leaves.
absl::Status BufferQuotaError(uint64_t asked_bytes, uint64_t used_bytes, uint64_t limit_bytes);
// Read or Write beyond the end of a buffer.
absl::Status BufferRangeError(uint64_t offset_bytes, uint64_t size_bytes, uint64_t buffer_bytes);

// ---- Prepared graphs

// No graph of this connection has this id (any more).
absl::Status UnknownGraphError(absl::string_view graph_id);
// Release of a graph that is launched.
absl::Status GraphInUseError(absl::string_view graph_id);
// A prepared graph more than max_prepared_graphs.
absl::Status TooManyGraphsError(uint32_t limit);
// weftd's table of descriptors is full.
absl::Status NoDescriptorError(uint32_t device);
// weftd's plan of a job and the executor's take different amounts of staging memory.
absl::Status PlansDifferError();

// ---- Requests

// One field of a request is wrong: `field` and what is wrong with it.
absl::Status FieldError(absl::string_view field, absl::string_view description);

}  // namespace weft::daemon
