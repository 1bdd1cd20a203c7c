// The errors that the client library makes itself; those of the server pass through it.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "weft/v1/job.pb.h"

namespace weft::client {

// UNAVAILABLE: there is no socket at `path`.
absl::Status NoServerError(const std::string& path);
// UNAVAILABLE: there is a socket, but nobody accepts connections at it.
absl::Status NobodyListensError(const std::string& path);
// PERMISSION_DENIED: the socket, or a folder on the way to it, may not be opened.
absl::Status SocketDeniedError(const std::string& path);
// INVALID_ARGUMENT: no socket can have this path.
absl::Status SocketPathTooLongError(const std::string& path);
// DEADLINE_EXCEEDED: a call that should take no time had no answer.
absl::Status NoAnswerError(const std::string& path, absl::Duration timeout);
// INVALID_ARGUMENT: gRPC refused a message for its size before weftd saw it; `told` has both sizes.
absl::Status MessageTooLargeError(absl::string_view told);
// UNAVAILABLE: the server ended while it worked on the call.
absl::Status ServerEndedError();
// The error of a job that has ended without success.
absl::Status JobEndedError(const v1::JobInfo& info);
// FAILED_PRECONDITION: a result was asked of a job that has not ended.
absl::Status JobNotEndedError(const v1::JobInfo& info);
// NOT_FOUND, with the names that there are.
absl::Status NoSuchOutputError(absl::string_view name, const std::vector<std::string>& present);
// FAILED_PRECONDITION: a handle was used after it was moved from, deleted or released.
absl::Status HandleGoneError(absl::string_view what);
// DATA_LOSS: a read ended with fewer or more bytes than the range has.
absl::Status ReadSizeError(uint64_t got, uint64_t expected);

}  // namespace weft::client
