// A small job that succeeds as long as anything does: it fills one f32 with 2, doubles it by a
// kernel, and gives it as output "sum". Tests run it behind whatever they did to a server.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "weft/v1/job.pb.h"

namespace weft::testing {

// As a job file (.textproto).
std::string CanaryJobText();
v1::Job CanaryJob();
// OK when the job succeeded and its output is right.
absl::Status CheckCanaryResult(const v1::JobResult& result);

}  // namespace weft::testing
