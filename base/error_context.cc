#include "base/error_context.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"

namespace weft {
namespace {

constexpr char kViolationsUrl[] = "weft.dev/field-violations";

void AppendSized(std::string& out, const std::string& text) {
  const auto size = static_cast<uint32_t>(text.size());
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out.append(text);
}

bool TakeSized(absl::string_view& in, std::string& text) {
  uint32_t size = 0;
  if (in.size() < sizeof size) return false;
  std::memcpy(&size, in.data(), sizeof size);
  in.remove_prefix(sizeof size);
  if (in.size() < size) return false;
  text.assign(in.data(), size);
  in.remove_prefix(size);
  return true;
}

}  // namespace

absl::Status InvalidArgumentError(std::vector<FieldViolation> violations) {
  if (violations.empty()) return WEFT_BUG("InvalidArgumentError needs a violation");
  std::string text = absl::StrCat(violations[0].field, ": ", violations[0].description);
  if (violations.size() > 1) {
    absl::StrAppend(&text, " (and ", violations.size() - 1, " more)");
  }
  absl::Status status = absl::InvalidArgumentError(text);
  std::string payload;
  for (const FieldViolation& violation : violations) {
    AppendSized(payload, violation.field);
    AppendSized(payload, violation.description);
  }
  status.SetPayload(kViolationsUrl, absl::Cord(payload));
  return status;
}

std::vector<FieldViolation> ViolationsOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kViolationsUrl);
  if (!payload.has_value()) return {};
  const std::string bytes(*payload);
  absl::string_view rest = bytes;
  std::vector<FieldViolation> violations;
  while (!rest.empty()) {
    FieldViolation violation;
    if (!TakeSized(rest, violation.field) || !TakeSized(rest, violation.description)) return {};
    violations.push_back(std::move(violation));
  }
  return violations;
}

absl::Status WithContext(const absl::Status& status, const ErrorContext& context) {
  if (status.ok()) return status;
  std::string where;
  const auto add = [&where](absl::string_view what, const std::string& name) {
    if (name.empty()) return;
    absl::StrAppend(&where, where.empty() ? "" : ", ", what, " \"", name, "\"");
  };
  add("job", context.job);
  add("node", context.node);
  add("argument", context.argument);
  if (where.empty()) return status;
  absl::Status result(status.code(), absl::StrCat(where, ": ", status.message()));
  status.ForEachPayload([&result](absl::string_view url, const absl::Cord& payload) {
    result.SetPayload(url, payload);
  });
  return result;
}

absl::Status ErrnoError(int error_number, absl::string_view call, absl::string_view subject) {
  return absl::ErrnoToStatus(error_number, absl::StrCat(call, "(", subject, ")"));
}

absl::Status BugError(absl::string_view what, const char* file, int line) {
  const std::string text = absl::StrCat("bug in Weft: ", what, " (", file, ":", line, ")");
  log::Error(text);
#ifndef NDEBUG
  std::abort();
#endif
  return absl::InternalError(text);
}

}  // namespace weft
