// One scalar of proto3 JSON: numbers as numbers or strings, NaN and the infinities as strings,
// enums by name or number, bytes in base64.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "graph/ir/json_lexer.h"

namespace google::protobuf {
class FieldDescriptor;
class Message;
}  // namespace google::protobuf

namespace weft::ir {

// Sets `field` of `message`, or adds to it where it is repeated. REQUIRES: not a message field.
// `text`: the whole file, for the positions of errors. Errors: JobFileBadValue, JobFileUnknownName.
absl::Status SetJsonScalar(absl::string_view text, const JsonToken& token,
                           const google::protobuf::FieldDescriptor& field,
                           google::protobuf::Message& message);

// A whole number as JSON may write it: "12", "-3", "1e3", "2.0". nullopt when it is none, has a
// fraction, or does not fit.
std::optional<int64_t> ParseJsonInt64(absl::string_view text);
std::optional<uint64_t> ParseJsonUint64(absl::string_view text);

}  // namespace weft::ir
