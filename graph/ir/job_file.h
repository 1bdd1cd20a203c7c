// Job files: text (textproto), proto3 JSON and binary, read into a Job message.
//
// Every error is INVALID_ARGUMENT with one clear message: what is wrong, where (line and column for
// text and JSON, both counted from 1; columns count characters), and for an unknown field or enum
// value the nearest name. A job file is hostile input: sizes and nesting are bounded before
// anything is built, and nothing here recurses over it without a bound.
//
// Thread safety: pure functions. Cost: linear in the bytes; text about 15 MB/s, the others 20 and more.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/ir/limits.h"

namespace weft::v1 {
class Job;
}  // namespace weft::v1

namespace weft::ir {

enum class JobFormat {
  kText,    // .textproto, .pbtxt
  kJson,    // .json: the proto3 JSON mapping; unknown and repeated fields are errors
  kBinary,  // .binpb: the wire format; unknown fields are errors
};

// The format that the ending of `path` names (letter case is free). INVALID_ARGUMENT otherwise,
// with the endings that exist.
absl::StatusOr<JobFormat> FormatFromPath(absl::string_view path);

// The job in `bytes`. Names, ranges and everything else that needs more than the format itself are
// checked by ValidateJob (validate.h).
absl::StatusOr<v1::Job> ParseJob(absl::string_view bytes, JobFormat format,
                                 const Limits& limits = {});

}  // namespace weft::ir
