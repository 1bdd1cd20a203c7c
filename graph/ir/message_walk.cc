#include "graph/ir/message_walk.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/ir/errors.h"
#include "graph/ir/text_place.h"

namespace weft::ir {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

struct Visit {
  const Message* message = nullptr;
  int parent = -1;                         // in the list of visits
  const FieldDescriptor* field = nullptr;  // of the parent
  int index = -1;                          // in the field, where it is repeated
};

std::string PathOf(const std::vector<Visit>& visits, int at) {
  std::string path;
  for (; visits[at].parent >= 0; at = visits[at].parent) {
    const Visit& visit = visits[at];
    path = absl::StrCat(visit.field->name(),
                        visit.index >= 0 ? absl::StrCat("[", visit.index, "]") : "",
                        path.empty() ? "" : ".", path);
  }
  return path;  // empty: the root
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
      visits.push_back({&child, parent, field, field->is_repeated() ? i : -1});
    }
  }
}

// check(message, its set fields, path()) for every message from `root` down; stops at an error.
absl::Status Walk(
    const Message& root,
    absl::FunctionRef<absl::Status(const Message&, const std::vector<const FieldDescriptor*>&,
                                   absl::FunctionRef<std::string()>)>
        check) {
  std::vector<Visit> visits = {{.message = &root}};
  std::vector<const FieldDescriptor*> fields;
  for (int at = 0; at < static_cast<int>(visits.size()); ++at) {
    const Message& message = *visits[at].message;
    fields.clear();
    message.GetReflection()->ListFields(message, &fields);
    WEFT_RETURN_IF_ERROR(check(message, fields, [&] { return PathOf(visits, at); }));
    AppendChildren(visits, at, fields);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckStringsAreUtf8(const Message& root) {
  return Walk(root,
              [](const Message& message, const std::vector<const FieldDescriptor*>& fields,
                 absl::FunctionRef<std::string()> path) -> absl::Status {
                const Reflection& reflection = *message.GetReflection();
                std::string copy;
                for (const FieldDescriptor* field : fields) {
                  if (field->type() != FieldDescriptor::TYPE_STRING) continue;
                  for (int i = 0; i < CountOf(message, *field); ++i) {
                    const std::string& text =
                        field->is_repeated()
                            ? reflection.GetRepeatedStringReference(message, field, i, &copy)
                            : reflection.GetStringReference(message, field, &copy);
                    if (!FindInvalidUtf8(text).has_value()) continue;
                    const std::string owner = path();
                    return JobFileTextNotUtf8(
                        absl::StrCat(owner, owner.empty() ? "" : ".", field->name()), text);
                  }
                }
                return absl::OkStatus();
              });
}

absl::Status CheckNoUnknownFields(const Message& root) {
  return Walk(root,
              [](const Message& message, const std::vector<const FieldDescriptor*>&,
                 absl::FunctionRef<std::string()> path) -> absl::Status {
                const auto& unknown = message.GetReflection()->GetUnknownFields(message);
                if (unknown.empty()) return absl::OkStatus();
                return JobFileUnknownNumber(path(), unknown.field(0).number());
              });
}

}  // namespace weft::ir
