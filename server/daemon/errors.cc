#include "server/daemon/errors.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/error_context.h"

namespace weft::daemon {

using absl::StrCat;

absl::Status AlreadyRunningError(const std::string& socket, pid_t pid) {
  return absl::FailedPreconditionError(
      StrCat("another weftd (pid ", pid, ") already serves ", socket,
             ". Use it, stop it, or choose another path with --socket."));
}

absl::Status NotOurSocketError(const std::string& path, absl::string_view what) {
  return absl::FailedPreconditionError(
      StrCat(path, " ", what,
             ", and weftd does not remove what is not its own. Remove it, or "
             "choose another path with --socket."));
}

absl::Status DrainingError() {
  return absl::UnavailableError(
      "weftd is shutting down and takes no new work. Retry when it has started again.");
}

absl::Status SessionEndedError() {
  return absl::CancelledError("the connection that sent this request has ended.");
}

absl::Status TooManySessionsError(uint32_t limit) {
  return absl::ResourceExhaustedError(
      StrCat("there are ", limit, " connections already (max_sessions)."));
}

absl::Status UnknownCallerError() {
  return absl::UnauthenticatedError("the caller is not known: use weftd's Unix socket.");
}

absl::Status UnknownDeviceError(uint32_t device, size_t device_count) {
  return absl::NotFoundError(StrCat("there is no device ", device, "; this server has ",
                                    device_count, ". `weft devices` lists them."));
}

absl::Status ExecutorStartingError(uint32_t device) {
  return absl::UnavailableError(
      StrCat("the executor of device ", device, " is starting. Retry in a moment."));
}

absl::Status ExecutorLostError(uint32_t device, absl::string_view what_happened) {
  return absl::UnavailableError(StrCat("the executor of device ", device, " was lost (",
                                       what_happened, ") and is being restarted. Retry."));
}

absl::Status ExecutorStartError(uint32_t device, absl::string_view what_happened) {
  return absl::UnavailableError(
      StrCat("the executor of device ", device, " did not start: ", what_happened));
}

absl::Status NoExecutorProgramError(const std::string& program, int error_number) {
  return absl::NotFoundError(StrCat("there is no program ", program, " (",
                                    std::strerror(error_number),
                                    "). Install weft-executor beside weftd, or name it with "
                                    "--executor-program."));
}

absl::Status NoGpuError() {
  return absl::FailedPreconditionError(
      "no GPU was found (no /dev/nvidia0, or CUDA_VISIBLE_DEVICES hides all). Check `nvidia-smi`, "
      "name the devices with --devices, or use --driver=cpu.");
}

absl::Status UnknownJobError(absl::string_view job_id) {
  return absl::NotFoundError(StrCat("there is no job \"", job_id,
                                    "\". Ended jobs are remembered until newer ones take their "
                                    "place (max_kept_jobs, max_kept_result_bytes)."));
}

absl::Status NotYourJobError(absl::string_view job_id) {
  return absl::PermissionDeniedError(StrCat("job ", job_id, " belongs to another user."));
}

absl::Status JobEndedError(absl::string_view job_id, absl::string_view state) {
  return absl::FailedPreconditionError(
      StrCat("job ", job_id, " has ended (", state, "); it cannot be cancelled."));
}

absl::Status QueueFullError(uint32_t limit) {
  return absl::ResourceExhaustedError(StrCat("the server already has ", limit,
                                             " jobs that have not ended (max_queued_jobs). "
                                             "Wait for some to end and retry."));
}

absl::Status JobTooLargeError(uint64_t size_bytes, uint64_t limit_bytes) {
  return FieldError("job", StrCat("has ", size_bytes, " bytes; at most ", limit_bytes,
                                  " are allowed (max_job_bytes). Put large inputs into buffers."));
}

absl::Status RequestIdTooLongError(size_t length, size_t limit) {
  return FieldError("request_id",
                    StrCat("has ", length, " characters; at most ", limit, " are allowed."));
}

absl::Status JobDeadlineError(uint64_t deadline_ms) {
  return absl::DeadlineExceededError(
      StrCat("the job was still queued ", deadline_ms,
             " ms after it was accepted (options.deadline_ms). Nothing of it has run."));
}

absl::Status JobCancelledError() {
  return absl::CancelledError("the job was cancelled before it ran.");
}

absl::Status JobLostError(const absl::Status& executor_health) {
  return absl::AbortedError(StrCat("while the job ran, ", executor_health.message(),
                                   " Buffers that the job writes may hold part of its results."));
}

absl::Status ShutdownJobError() {
  return absl::AbortedError(
      "weftd was shut down before the job had ended (drain_grace_ms). Submit it again.");
}

absl::Status WaitTimeoutError(absl::string_view job_id, uint64_t timeout_ms) {
  return absl::DeadlineExceededError(
      StrCat("job ", job_id, " has not ended after ", timeout_ms, " ms; it goes on. Wait again."));
}

absl::Status UnknownBufferError(absl::string_view reference) {
  return absl::NotFoundError(
      StrCat("there is no buffer \"", reference, "\". `weft buffers` lists yours."));
}

absl::Status UserKernelsForbiddenError(absl::string_view setting) {
  return absl::PermissionDeniedError(
      StrCat("the job brings code along, which you may not on this server (user_kernels: ", setting,
             "). Use built-in kernels, or ask who runs the server to set user_kernels."));
}

absl::Status NotYourBufferError(absl::string_view reference) {
  return absl::PermissionDeniedError(StrCat("buffer \"", reference, "\" belongs to another user."));
}

absl::Status BufferExistsError(absl::string_view name) {
  return absl::AlreadyExistsError(
      StrCat("there already is a buffer \"", name, "\". Use it, delete it, or take another name."));
}

absl::Status BufferInUseError(absl::string_view reference, uint32_t jobs) {
  return absl::FailedPreconditionError(StrCat("buffer \"", reference, "\" is used by ", jobs,
                                              " jobs or transfers that have not ended. Wait for "
                                              "them, or cancel them, and retry."));
}

absl::Status TooManyBuffersError(uint32_t limit) {
  return absl::ResourceExhaustedError(
      StrCat("the server already has ", limit, " buffers (max_buffers). Delete some."));
}

absl::Status BufferQuotaError(uint64_t asked_bytes, uint64_t used_bytes, uint64_t limit_bytes) {
  return absl::ResourceExhaustedError(
      StrCat(asked_bytes, " bytes do not fit: ", used_bytes, " of ", limit_bytes,
             " bytes are in use on the device (max_buffer_bytes). Delete buffers, or raise the "
             "limit."));
}

absl::Status BufferRangeError(uint64_t offset_bytes, uint64_t size_bytes, uint64_t buffer_bytes) {
  return FieldError(offset_bytes > buffer_bytes ? "offset_bytes" : "size_bytes",
                    StrCat("offset ", offset_bytes, " and size ", size_bytes,
                           " reach beyond the buffer's ", buffer_bytes, " bytes."));
}

absl::Status UnknownGraphError(absl::string_view graph_id) {
  return absl::NotFoundError(StrCat("this connection has prepared no graph \"", graph_id,
                                    "\". A prepared graph ends with its connection."));
}

absl::Status GraphInUseError(absl::string_view graph_id) {
  return absl::FailedPreconditionError(StrCat("graph ", graph_id,
                                              " has launches that have not ended. Wait for them "
                                              "and retry."));
}

absl::Status TooManyGraphsError(uint32_t limit) {
  return absl::ResourceExhaustedError(StrCat(
      "the server already holds ", limit, " prepared graphs (max_prepared_graphs). Release some."));
}

absl::Status NoDescriptorError(uint32_t device) {
  return absl::ResourceExhaustedError(
      StrCat("weftd is at its limit of open files and cannot take memory of device ", device,
             " over. Delete buffers, or raise the limit (LimitNOFILE of the unit, ulimit -Hn)."));
}

absl::Status PlansDifferError() {
  return absl::InternalError(
      "weftd and its executor plan the job differently: they are of two versions. Restart weftd.");
}

absl::Status FieldError(absl::string_view field, absl::string_view description) {
  return InvalidArgumentError({{std::string(field), std::string(description)}});
}

}  // namespace weft::daemon
