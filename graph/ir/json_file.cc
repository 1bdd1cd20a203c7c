#include "graph/ir/json_file.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/ir/errors.h"
#include "graph/ir/field_names.h"
#include "graph/ir/json_lexer.h"
#include "graph/ir/json_scalar.h"
#include "graph/ir/limits.h"
#include "graph/ir/text_place.h"

namespace weft::ir {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Kind = JsonToken::Kind;

// An object or array that has begun and not ended.
struct Frame {
  Message* message = nullptr;              // the object's message; an array's owner
  const FieldDescriptor* array = nullptr;  // the repeated field; nullptr for an object
  bool has_entries = false;
  std::vector<const FieldDescriptor*> seen = {};  // fields of an object; few, so a list is quick
};

class JsonParser {
 public:
  explicit JsonParser(absl::string_view text) : text_(text), lexer_(text) {}

  absl::Status Run(Message& message) {
    WEFT_RETURN_IF_ERROR(Expect(Kind::kBeginObject));
    stack_.push_back({.message = &message});
    while (!stack_.empty()) {
      WEFT_RETURN_IF_ERROR(stack_.back().array != nullptr ? Element() : Member());
    }
    return Expect(Kind::kEnd);
  }

 private:
  absl::Status Next() { return lexer_.Next(token_); }

  absl::Status Expect(Kind kind) {
    WEFT_RETURN_IF_ERROR(Next());
    return token_.kind == kind ? absl::OkStatus() : Unexpected(Describe(kind));
  }

  absl::Status Unexpected(absl::string_view wanted) const {
    return JobFileSyntax(Here(),
                         absl::StrCat("expected ", wanted, ", found ", Describe(token_.kind)));
  }

  TextPlace Here() const { return PlaceOf(text_, token_.offset); }

  // Reads up to the next member or element of the innermost frame, or ends it. True: `token_` is
  // the first token of a member or element.
  absl::StatusOr<bool> Advance(Kind end) {
    WEFT_RETURN_IF_ERROR(Next());
    Frame& frame = stack_.back();
    if (token_.kind == end) {
      stack_.pop_back();
      return false;
    }
    if (frame.has_entries) {
      if (token_.kind != Kind::kComma) {
        return Unexpected(absl::StrCat(Describe(Kind::kComma), " or ", Describe(end)));
      }
      WEFT_RETURN_IF_ERROR(Next());
    }
    frame.has_entries = true;
    return true;
  }

  absl::Status Member() {
    WEFT_ASSIGN_OR_RETURN(const bool has_member, Advance(Kind::kEndObject));
    if (!has_member) return absl::OkStatus();
    if (token_.kind != Kind::kString) return Unexpected("a field's name in quotes");
    WEFT_ASSIGN_OR_RETURN(const FieldDescriptor* field, FieldOf(stack_.back()));
    WEFT_RETURN_IF_ERROR(Expect(Kind::kColon));
    WEFT_RETURN_IF_ERROR(Next());
    if (token_.kind == Kind::kNull) return absl::OkStatus();  // as if it were left out
    stack_.back().seen.push_back(field);
    if (field->is_repeated()) {
      if (token_.kind != Kind::kBeginArray) return Unexpected(Describe(Kind::kBeginArray));
      return Push({.message = stack_.back().message, .array = field});
    }
    return Value(*field);
  }

  absl::Status Element() {
    WEFT_ASSIGN_OR_RETURN(const bool has_element, Advance(Kind::kEndArray));
    if (!has_element) return absl::OkStatus();
    return Value(*stack_.back().array);
  }

  // The value that starts with token_, into `field` of the innermost frame's message.
  absl::Status Value(const FieldDescriptor& field) {
    Message& message = *stack_.back().message;
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      return SetJsonScalar(text_, token_, field, message);
    }
    if (token_.kind != Kind::kBeginObject) return Unexpected(Describe(Kind::kBeginObject));
    const auto& reflection = *message.GetReflection();
    return Push({.message = field.is_repeated() ? reflection.AddMessage(&message, &field)
                                                : reflection.MutableMessage(&message, &field)});
  }

  absl::Status Push(Frame frame) {
    if (stack_.size() >= 2 * static_cast<size_t>(kMaxNesting)) {
      return JobFileTooDeep(Here(), kMaxNesting);
    }
    stack_.push_back(std::move(frame));
    return absl::OkStatus();
  }

  // The field that token_ names.
  absl::StatusOr<const FieldDescriptor*> FieldOf(const Frame& frame) const {
    const auto& type = *frame.message->GetDescriptor();
    const FieldDescriptor* field = type.FindFieldByName(token_.text);
    if (field == nullptr) field = type.FindFieldByCamelcaseName(token_.text);
    if (field == nullptr) {
      return JobFileUnknownName(Here(), "field", type.name(), token_.text,
                                NearestField(type, token_.text, NameStyle::kJson));
    }
    for (const FieldDescriptor* earlier : frame.seen) {
      if (earlier == field) return JobFileRepeatedField(Here(), field->name());
      const auto* choice = field->containing_oneof();
      if (choice != nullptr && choice == earlier->containing_oneof()) {
        return JobFileExcludedField(Here(), field->name(), earlier->name());
      }
    }
    return field;
  }

  const absl::string_view text_;
  JsonLexer lexer_;
  JsonToken token_;
  std::vector<Frame> stack_;
};

}  // namespace

absl::Status ParseJson(absl::string_view text, Message& message) {
  return JsonParser(text).Run(message);
}

}  // namespace weft::ir
