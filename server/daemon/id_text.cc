#include "server/daemon/id_text.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/daemon/errors.h"

namespace weft::daemon {
namespace {

// `prefix` and decimal digits; nothing else, no spaces, no sign.
std::optional<uint64_t> ParseNumber(absl::string_view text, absl::string_view prefix) {
  uint64_t number = 0;
  if (!absl::ConsumePrefix(&text, prefix) || !absl::SimpleAtoi(text, &number) ||
      !std::all_of(text.begin(), text.end(), absl::ascii_isdigit)) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

std::string FormatJobId(JobId id) { return absl::StrCat("j", id.value()); }
std::string FormatGraphId(ClientGraphId id) { return absl::StrCat("g", id.value()); }
std::string FormatBufferId(BufferId id) { return absl::StrCat("#", id.value()); }

absl::StatusOr<JobId> ParseJobId(absl::string_view text) {
  if (const auto number = ParseNumber(text, "j")) return JobId(*number);
  return FieldError("job_id", absl::StrCat("\"", text, "\" is no job id; they read \"j17\"."));
}

absl::StatusOr<ClientGraphId> ParseGraphId(absl::string_view text) {
  if (const auto number = ParseNumber(text, "g")) return ClientGraphId(*number);
  return FieldError("graph_id", absl::StrCat("\"", text, "\" is no graph id; they read \"g5\"."));
}

std::optional<BufferId> ParseBufferId(absl::string_view text) {
  if (const auto number = ParseNumber(text, "#")) return BufferId(*number);
  return std::nullopt;
}

}  // namespace weft::daemon
