#include "graph/ir/field_names.h"

#include <google/protobuf/descriptor.h>

#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "kernels/nearest_name.h"

namespace weft::ir {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;

// "DATA_TYPE_" of DataType: by the style rules, the first value is that and UNSPECIFIED.
absl::string_view PrefixOf(const EnumDescriptor& type) {
  absl::string_view first = type.value(0)->name();
  return absl::ConsumeSuffix(&first, "UNSPECIFIED") ? first : absl::string_view();
}

}  // namespace

std::string NearestField(const Descriptor& message, absl::string_view name, NameStyle style) {
  std::vector<absl::string_view> names;
  for (int i = 0; i < message.field_count(); ++i) {
    if (style == NameStyle::kJson) names.push_back(message.field(i)->json_name());
    names.push_back(message.field(i)->name());
  }
  return std::string(kernels::NearestName(name, names));
}

std::string NearestValue(const EnumDescriptor& type, absl::string_view name) {
  const absl::string_view prefix = PrefixOf(type);
  std::vector<absl::string_view> whole;
  std::vector<absl::string_view> bare;
  for (int i = 0; i < type.value_count(); ++i) {
    const absl::string_view value = type.value(i)->name();
    whole.push_back(value);
    bare.push_back(absl::StripPrefix(value, prefix));
  }
  // Values share a long prefix, which would make any of them near to any other: compare without it.
  const absl::string_view nearest = kernels::NearestName(absl::StripPrefix(name, prefix), bare);
  if (nearest.empty()) return std::string(kernels::NearestName(name, whole));
  return std::string(prefix) + std::string(nearest);
}

std::string ListValues(const EnumDescriptor& type) {
  std::vector<absl::string_view> names;
  for (int i = 0; i < type.value_count(); ++i) {
    if (type.value(i)->number() != 0) names.push_back(type.value(i)->name());
  }
  return absl::StrJoin(names, ", ");
}

}  // namespace weft::ir
