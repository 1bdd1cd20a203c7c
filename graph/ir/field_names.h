// Nearest names among the fields of a message or the values of an enum, for messages about unknown
// ones.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace google::protobuf {
class Descriptor;
class EnumDescriptor;
}  // namespace google::protobuf

namespace weft::ir {

enum class NameStyle {
  kProto,  // data_type
  kJson,   // dataType (data_type is near it too)
};

// Empty when none is near.
std::string NearestField(const google::protobuf::Descriptor& message, absl::string_view name,
                         NameStyle style);
// A value is near by its whole name, or without the prefix that all values of an enum share ("f23"
// is near DATA_TYPE_F32).
std::string NearestValue(const google::protobuf::EnumDescriptor& type, absl::string_view name);

// "DATA_TYPE_F16, DATA_TYPE_BF16, …": all values but the unspecified one.
std::string ListValues(const google::protobuf::EnumDescriptor& type);

}  // namespace weft::ir
