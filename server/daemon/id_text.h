// Ids as clients see them: "j17" a job, "g5" a prepared graph, "#7" a buffer.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/ids.h"

namespace weft::daemon {

// A graph that a client prepared; unique for the life of a daemon.
using ClientGraphId = StrongId<struct ClientGraphTag, uint64_t>;

std::string FormatJobId(JobId id);
std::string FormatGraphId(ClientGraphId id);
std::string FormatBufferId(BufferId id);

// INVALID_ARGUMENT with a violation of field `job_id`, `graph_id`.
absl::StatusOr<JobId> ParseJobId(absl::string_view text);
absl::StatusOr<ClientGraphId> ParseGraphId(absl::string_view text);
// nullopt when it is no id (it may be a name).
std::optional<BufferId> ParseBufferId(absl::string_view text);

}  // namespace weft::daemon
