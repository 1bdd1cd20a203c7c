// Protobuf text format → message, with errors as job files have them.
//
// Thread safety: pure function. Cost: linear.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace weft::ir {

// Reads `text` (UTF-8) into `message`. Strings that escapes make into something else than UTF-8 are
// refused.
absl::Status ParseText(absl::string_view text, google::protobuf::Message& message);

}  // namespace weft::ir
