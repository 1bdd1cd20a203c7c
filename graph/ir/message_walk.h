// Checks of every message inside a message, without recursion.
//
// Thread safety: pure functions. Cost: linear, through reflection: about 0.3 µs a message.
#pragma once

#include "absl/status/status.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace weft::ir {

// INVALID_ARGUMENT with the path of the first string that is not UTF-8.
absl::Status CheckStringsAreUtf8(const google::protobuf::Message& root);

// JobFileUnknownNumber for the first field that the wire had and the type does not.
absl::Status CheckNoUnknownFields(const google::protobuf::Message& root);

}  // namespace weft::ir
