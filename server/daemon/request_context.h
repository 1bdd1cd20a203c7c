// What every RPC needs: who calls, and the way from absl::Status to gRPC's.
//
// Thread safety: pure functions, but for the registry they read.
#pragma once

#include <grpcpp/support/status.h>

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/daemon/caller.h"

namespace grpc {
class CallbackServerContext;
class ServerUnaryReactor;
}  // namespace grpc

namespace weft::daemon {

class SessionRegistry;

// UNAUTHENTICATED, or CANCELLED when the caller's connection has just ended.
absl::StatusOr<Caller> CallerOf(const grpc::CallbackServerContext& context,
                                const SessionRegistry& sessions);

// Code and text, and the field violations as google.rpc.BadRequest in the details. All of it fits
// in the 8 KiB of metadata that gRPC's clients accept unless they ask for more: longer texts are
// cut, and violations beyond are counted.
grpc::Status ToGrpc(const absl::Status& status);

// Longest request id: a UUID with a few words of a caller's own.
inline constexpr size_t kMaxRequestIdBytes = 64;
// INVALID_ARGUMENT for a longer one.
absl::Status CheckRequestId(const std::string& request_id);

// Ends a unary call at once.
grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext& context, const absl::Status& status);

}  // namespace weft::daemon
