#include "graph/ir/message_walk.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "graph/ir/errors.h"
#include "graph/ir/text_place.h"

namespace weft::ir {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

struct Visit {
  const Message* message = nullptr;
  int parent = -1;  // in the list of visits
  FieldStep step;   // from the parent
};

std::vector<FieldStep> PathTo(const std::vector<Visit>& visits, int at) {
  std::vector<FieldStep> path;
  for (; visits[at].parent >= 0; at = visits[at].parent) path.push_back(visits[at].step);
  std::reverse(path.begin(), path.end());
  return path;
}

int CountOf(const Message& message, const FieldDescriptor& field) {
  return field.is_repeated() ? message.GetReflection()->FieldSize(message, &field) : 1;
}

void AppendChildren(std::vector<Visit>& visits, int parent,
                    const std::vector<const FieldDescriptor*>& fields) {
  const Message& message = *visits[parent].message;
  const Reflection& reflection = *message.GetReflection();
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    for (int i = 0; i < CountOf(message, *field); ++i) {
      const Message& child = field->is_repeated() ? reflection.GetRepeatedMessage(message, field, i)
                                                  : reflection.GetMessage(message, field);
      visits.push_back({&child, parent, {field, field->is_repeated() ? i : -1}});
    }
  }
}

// check(message, its set fields) for every message from `root` down, until it returns false. The
// path of the message for which it did.
std::optional<std::vector<FieldStep>> FindMessage(
    const Message& root,
    absl::FunctionRef<bool(const Message&, const std::vector<const FieldDescriptor*>&)> check) {
  std::vector<Visit> visits = {{.message = &root}};
  std::vector<const FieldDescriptor*> fields;
  for (int at = 0; at < static_cast<int>(visits.size()); ++at) {
    const Message& message = *visits[at].message;
    fields.clear();
    message.GetReflection()->ListFields(message, &fields);
    if (!check(message, fields)) return PathTo(visits, at);
    AppendChildren(visits, at, fields);
  }
  return std::nullopt;
}

// Among the fields of the message itself.
std::optional<InvalidString> InvalidStringOf(const Message& message,
                                             const std::vector<const FieldDescriptor*>& fields) {
  const Reflection& reflection = *message.GetReflection();
  std::string copy;
  for (const FieldDescriptor* field : fields) {
    if (field->type() != FieldDescriptor::TYPE_STRING) continue;
    for (int i = 0; i < CountOf(message, *field); ++i) {
      const std::string& text =
          field->is_repeated() ? reflection.GetRepeatedStringReference(message, field, i, &copy)
                               : reflection.GetStringReference(message, field, &copy);
      if (!FindInvalidUtf8(text).has_value()) continue;
      return InvalidString{{{field, field->is_repeated() ? i : -1}}, text};
    }
  }
  return std::nullopt;
}

}  // namespace

std::string PathText(absl::Span<const FieldStep> path) {
  std::string text;
  for (const FieldStep& step : path) {
    absl::StrAppend(&text, text.empty() ? "" : ".", step.field->name());
    if (step.index >= 0) absl::StrAppend(&text, "[", step.index, "]");
  }
  return text;
}

std::optional<InvalidString> FindInvalidString(const Message& root) {
  std::optional<InvalidString> found;
  const std::optional<std::vector<FieldStep>> owner =
      FindMessage(root, [&found](const Message& message, const auto& fields) {
        found = InvalidStringOf(message, fields);
        return !found.has_value();
      });
  if (owner.has_value()) found->path.insert(found->path.begin(), owner->begin(), owner->end());
  return found;
}

absl::Status CheckNoUnknownFields(const Message& root) {
  int number = 0;
  const std::optional<std::vector<FieldStep>> owner =
      FindMessage(root, [&number](const Message& message, const auto&) {
        const auto& unknown = message.GetReflection()->GetUnknownFields(message);
        if (!unknown.empty()) number = unknown.field(0).number();
        return unknown.empty();
      });
  return owner.has_value() ? JobFileUnknownNumber(PathText(*owner), number) : absl::OkStatus();
}

}  // namespace weft::ir
