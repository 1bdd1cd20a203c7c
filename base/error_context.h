// Errors are absl::Status values, made once where the cause is known. Two things travel beside code
// and text:
//
//  * field violations: which fields of a request are wrong, each with its own text. The daemon
//  turns them into
//    google.rpc.BadRequest; the command line prints one a line.
//  * where: the job, node and argument being handled, put in front of the text by WithContext.
//
// Thread safety: values and pure functions.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace weft {

// One wrong field of a request. `field` is a path such as "nodes[3].kernel.args[0]"; `description`
// says what is wrong, the value, the limit and what to do.
struct FieldViolation {
  std::string field;
  std::string description;
  friend bool operator==(const FieldViolation&, const FieldViolation&) = default;
};

// INVALID_ARGUMENT carrying all `violations` (REQUIRES: at least one). The status text is the first
// description, with the count of the others behind it.
absl::Status InvalidArgumentError(std::vector<FieldViolation> violations);

// The violations that `status` carries; empty when it carries none (or a damaged payload).
std::vector<FieldViolation> ViolationsOf(const absl::Status& status);

// Where an error happened. Empty members are left out.
struct ErrorContext {
  std::string job;
  std::string node;
  std::string argument;
};

// `status` with `job "j", node "n", argument "a": ` before its text; code and payloads are kept. OK
// stays OK.
absl::Status WithContext(const absl::Status& status, const ErrorContext& context);

// A status for a failed system call: errno's canonical code, the call and what it was done on, and
// errno's text.
absl::Status ErrnoError(int error_number, absl::string_view call, absl::string_view subject);

// An error of Weft itself (an invariant that does not hold): INTERNAL, logged; aborts in debug
// builds.
absl::Status BugError(absl::string_view what, const char* file, int line);
#define WEFT_BUG(what) ::weft::BugError((what), __FILE__, __LINE__)

}  // namespace weft
