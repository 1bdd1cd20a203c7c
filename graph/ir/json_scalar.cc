#include "graph/ir/json_scalar.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/charconv.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "graph/ir/errors.h"
#include "graph/ir/field_names.h"
#include "graph/ir/text_place.h"

namespace weft::ir {
namespace {

using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Kind = JsonToken::Kind;

// What one field is set from.
struct Setter {
  absl::string_view text;
  const JsonToken& token;
  const FieldDescriptor& field;
  Message& message;

  const Reflection& reflection() const { return *message.GetReflection(); }
  absl::Status Wrong(absl::string_view what) const {
    return JobFileBadValue(PlaceOf(text, token.offset), field.name(), what);
  }
  absl::Status Expected(absl::string_view what) const {
    return Wrong(absl::StrCat("takes ", what, ", not ", Describe(token.kind)));
  }
  absl::Status OutOfRange() const {
    return Wrong(
        absl::StrCat("takes a value of type ", field.cpp_type_name(), ", not ", Quote(token.text)));
  }
};

// Adds to a repeated field, sets a singular one.
#define WEFT_JSON_STORE(setter, TYPE, value)                             \
  do {                                                                   \
    const Reflection& reflection = (setter).reflection();                \
    if ((setter).field.is_repeated()) {                                  \
      reflection.Add##TYPE(&(setter).message, &(setter).field, (value)); \
    } else {                                                             \
      reflection.Set##TYPE(&(setter).message, &(setter).field, (value)); \
    }                                                                    \
  } while (false)

bool IsNumeric(const JsonToken& token) {
  return token.kind == Kind::kNumber || token.kind == Kind::kString;
}

// The JSON number in `text`, as a double; nullopt when there is anything else, or it is too large.
std::optional<double> ParseNumber(absl::string_view text) {
  JsonToken token;
  JsonLexer lexer(text);
  const bool whole = lexer.Next(token).ok() && token.kind == Kind::kNumber && token.offset == 0 &&
                     token.text.size() == text.size();
  double value = 0;
  if (!whole) return std::nullopt;
  const absl::from_chars_result result =
      absl::from_chars(text.data(), text.data() + text.size(), value);
  // A number that rounds to zero is zero; one beyond the largest is an error.
  const bool too_large =
      std::isinf(value) || (result.ec == std::errc::result_out_of_range && std::fabs(value) >= 1);
  if (too_large) return std::nullopt;
  return value;
}

template <typename Int>
std::optional<Int> ParseInt(absl::string_view text, double below) {
  Int value = 0;
  const bool plain = text.find_first_not_of("-0123456789") == absl::string_view::npos;
  const std::optional<double> real = ParseNumber(text);
  if (!real.has_value()) return std::nullopt;
  if (plain) return absl::SimpleAtoi(text, &value) ? std::optional<Int>(value) : std::nullopt;
  const bool fits = *real >= static_cast<double>(std::numeric_limits<Int>::min()) && *real < below;
  if (!fits || std::trunc(*real) != *real) return std::nullopt;
  return static_cast<Int>(*real);
}

absl::Status SetSigned(const Setter& setter) {
  if (!IsNumeric(setter.token)) return setter.Expected("a whole number");
  const std::optional<int64_t> value = ParseJsonInt64(setter.token.text);
  if (!value.has_value()) return setter.OutOfRange();
  if (setter.field.cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
    WEFT_JSON_STORE(setter, Int64, *value);
    return absl::OkStatus();
  }
  if (*value != static_cast<int32_t>(*value)) return setter.OutOfRange();
  WEFT_JSON_STORE(setter, Int32, static_cast<int32_t>(*value));
  return absl::OkStatus();
}

absl::Status SetUnsigned(const Setter& setter) {
  if (!IsNumeric(setter.token)) return setter.Expected("a whole number of at least 0");
  const std::optional<uint64_t> value = ParseJsonUint64(setter.token.text);
  if (!value.has_value()) return setter.OutOfRange();
  if (setter.field.cpp_type() == FieldDescriptor::CPPTYPE_UINT64) {
    WEFT_JSON_STORE(setter, UInt64, *value);
    return absl::OkStatus();
  }
  if (*value != static_cast<uint32_t>(*value)) return setter.OutOfRange();
  WEFT_JSON_STORE(setter, UInt32, static_cast<uint32_t>(*value));
  return absl::OkStatus();
}

absl::Status SetReal(const Setter& setter) {
  if (!IsNumeric(setter.token)) return setter.Expected("a number");
  std::optional<double> value;
  if (setter.token.kind == Kind::kString && setter.token.text == "NaN") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (setter.token.kind == Kind::kString && setter.token.text == "Infinity") {
    value = std::numeric_limits<double>::infinity();
  } else if (setter.token.kind == Kind::kString && setter.token.text == "-Infinity") {
    value = -std::numeric_limits<double>::infinity();
  } else {
    value = ParseNumber(setter.token.text);
  }
  if (!value.has_value()) return setter.OutOfRange();
  if (setter.field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
    WEFT_JSON_STORE(setter, Double, *value);
    return absl::OkStatus();
  }
  if (std::isfinite(*value) && std::fabs(*value) > std::numeric_limits<float>::max()) {
    return setter.OutOfRange();
  }
  WEFT_JSON_STORE(setter, Float, static_cast<float>(*value));
  return absl::OkStatus();
}

absl::Status SetBool(const Setter& setter) {
  if (setter.token.kind != Kind::kTrue && setter.token.kind != Kind::kFalse) {
    return setter.Expected("true or false");
  }
  WEFT_JSON_STORE(setter, Bool, setter.token.kind == Kind::kTrue);
  return absl::OkStatus();
}

absl::Status SetEnum(const Setter& setter) {
  const auto& type = *setter.field.enum_type();
  if (setter.token.kind == Kind::kNumber) {
    const std::optional<int64_t> number = ParseJsonInt64(setter.token.text);
    if (!number.has_value() || *number != static_cast<int32_t>(*number)) return setter.OutOfRange();
    WEFT_JSON_STORE(setter, EnumValue, static_cast<int>(*number));
    return absl::OkStatus();
  }
  if (setter.token.kind != Kind::kString) return setter.Expected("the name of a value");
  const EnumValueDescriptor* value = type.FindValueByName(setter.token.text);
  if (value == nullptr) {
    return JobFileUnknownName(PlaceOf(setter.text, setter.token.offset), "value", type.name(),
                              setter.token.text, NearestValue(type, setter.token.text));
  }
  WEFT_JSON_STORE(setter, EnumValue, value->number());
  return absl::OkStatus();
}

absl::Status SetString(const Setter& setter) {
  if (setter.token.kind != Kind::kString) return setter.Expected("a string");
  if (setter.field.type() != FieldDescriptor::TYPE_BYTES) {
    WEFT_JSON_STORE(setter, String, setter.token.text);
    return absl::OkStatus();
  }
  const std::string& text = setter.token.text;
  const bool web_safe = text.find_first_of("-_") != std::string::npos;
  std::string bytes;
  const bool decoded =
      web_safe ? absl::WebSafeBase64Unescape(text, &bytes) : absl::Base64Unescape(text, &bytes);
  if (!decoded) return setter.Wrong("takes bytes in base64, and this is none");
  WEFT_JSON_STORE(setter, String, std::move(bytes));
  return absl::OkStatus();
}

#undef WEFT_JSON_STORE

}  // namespace

std::optional<int64_t> ParseJsonInt64(absl::string_view text) {
  return ParseInt<int64_t>(text, 0x1p63);
}

std::optional<uint64_t> ParseJsonUint64(absl::string_view text) {
  return ParseInt<uint64_t>(text, 0x1p64);
}

absl::Status SetJsonScalar(absl::string_view text, const JsonToken& token,
                           const FieldDescriptor& field, Message& message) {
  const Setter setter{text, token, field, message};
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_INT64:
      return SetSigned(setter);
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_UINT64:
      return SetUnsigned(setter);
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return SetReal(setter);
    case FieldDescriptor::CPPTYPE_BOOL:
      return SetBool(setter);
    case FieldDescriptor::CPPTYPE_ENUM:
      return SetEnum(setter);
    case FieldDescriptor::CPPTYPE_STRING:
      return SetString(setter);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  return setter.Wrong("is a message");
}

}  // namespace weft::ir
