// proto3 JSON → message, by the protobuf JSON mapping, as strict as a hand-written file needs:
// unknown fields and fields given twice are errors with line, column and the nearest name.
//
// It exists beside protobuf's own reader because that one tells no position. A test holds the two
// to the same results.
//
// Thread safety: pure function. Cost: linear; no recursion.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace weft::ir {

// Reads `text` (UTF-8) into `message`. The message's type may not use maps, groups or the
// well-known types with a JSON form of their own; weft.v1.Job does not.
absl::Status ParseJson(absl::string_view text, google::protobuf::Message& message);

}  // namespace weft::ir
