// gRPC's status of a call → absl::Status (internal to the library; free of gRPC).
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace weft::client {

// `code` is that of google.rpc.Code; `details` the bytes of a google.rpc.Status or empty. Field
// violations (google.rpc.BadRequest) are attached, see weft::ViolationsOf. Damaged details are left
// out.
absl::Status FromGrpcStatus(int code, const std::string& message, const std::string& details);

}  // namespace weft::client
