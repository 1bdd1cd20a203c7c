#include "client/cli/kernel_listing.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/output.h"
#include "graph/ir/data_type.h"

namespace weft::cli {
namespace {

using kernels::DTypeRule;

v1::Access ToProto(kernels::Access access) {
  switch (access) {
    case kernels::Access::kRead:
      return v1::ACCESS_READ;
    case kernels::Access::kWrite:
      return v1::ACCESS_WRITE;
    case kernels::Access::kReadWrite:
      return v1::ACCESS_READ_WRITE;
  }
  return v1::ACCESS_UNSPECIFIED;
}

// The types that follow from another argument's, without those that are listed already.
void AddFollowingTypes(const kernels::KernelSchema& schema, const DTypeRule& rule,
                       v1::ArgumentSchema& argument) {
  const kernels::BufferSchema* source = schema.arguments[rule.argument].buffer();
  if (source == nullptr) return;
  for (const kernels::DType from : source->dtype.allowed) {
    const v1::DataType type = ir::DataTypeOf(
        rule.kind == DTypeRule::Kind::kSumOf ? kernels::SumType(from) : kernels::ComputeType(from));
    const auto& types = argument.data_types();
    if (std::find(types.begin(), types.end(), type) == types.end()) argument.add_data_types(type);
  }
}

void SetTypes(const kernels::KernelSchema& schema, const DTypeRule& rule,
              v1::ArgumentSchema& argument) {
  switch (rule.kind) {
    case DTypeRule::Kind::kOneOf:
      for (const kernels::DType dtype : rule.allowed)
        argument.add_data_types(ir::DataTypeOf(dtype));
      return;
    case DTypeRule::Kind::kSameAs:
      argument.set_same_data_type_as(schema.arguments[rule.argument].name);
      return;
    case DTypeRule::Kind::kSumOf:
    case DTypeRule::Kind::kComputeOf:
      AddFollowingTypes(schema, rule, argument);
      argument.set_description(
          absl::StrCat(argument.description(), " (", kernels::Describe(schema, rule), ")"));
  }
}

bool IsOptional(const kernels::BufferSchema& buffer) {
  return buffer.presence == kernels::BufferSchema::Presence::kOptional;
}

std::string DefaultOf(const kernels::KernelSchema& schema, const kernels::ScalarSchema& scalar) {
  if (scalar.choices.empty()) return kernels::Describe(schema, scalar.default_value);
  return scalar.choices[static_cast<size_t>(std::get<int64_t>(scalar.default_value.constant))];
}

std::string Limits(const kernels::ScalarSchema& scalar) {
  if (!scalar.choices.empty()) return absl::StrJoin(scalar.choices, ", ");
  if (scalar.min.has_value() && scalar.max.has_value()) {
    return absl::StrCat(kernels::Describe(*scalar.min), " to ", kernels::Describe(*scalar.max));
  }
  if (scalar.min.has_value()) return absl::StrCat("≥ ", kernels::Describe(*scalar.min));
  if (scalar.max.has_value()) return absl::StrCat("≤ ", kernels::Describe(*scalar.max));
  return "";
}

}  // namespace

v1::KernelSchema ToProto(const kernels::KernelSchema& schema) {
  v1::KernelSchema proto;
  proto.set_name(schema.name);
  proto.set_summary(schema.summary);
  proto.set_description(schema.doc);
  if (schema.library.has_value()) {
    proto.set_library(std::string(schema.library->library));
    proto.set_cuts_graph(schema.library->recording == kernels::LibraryTraits::Recording::kStreams);
  }
  for (const kernels::ArgumentSchema& argument : schema.arguments) {
    v1::ArgumentSchema& out = *proto.add_arguments();
    out.set_name(argument.name);
    out.set_description(argument.doc);
    if (const kernels::BufferSchema* buffer = argument.buffer(); buffer != nullptr) {
      out.set_is_buffer(true);
      out.set_access(ToProto(buffer->access));
      SetTypes(schema, buffer->dtype, out);
      out.set_optional(IsOptional(*buffer));
    } else if (const auto& choices = argument.scalar()->choices; !choices.empty()) {
      for (const std::string& choice : choices) out.add_choices(choice);
      out.set_default_value(DefaultOf(schema, *argument.scalar()));
    } else {
      const kernels::ScalarSchema& scalar = *argument.scalar();
      SetTypes(schema, scalar.dtype, out);
      out.set_default_value(kernels::Describe(schema, scalar.default_value));
      if (scalar.min.has_value()) out.set_minimum(kernels::Describe(*scalar.min));
      if (scalar.max.has_value()) out.set_maximum(kernels::Describe(*scalar.max));
    }
  }
  return proto;
}

void PrintKernel(std::ostream& out, const kernels::KernelSchema& schema) {
  out << schema.name << ": " << schema.summary << "\n";
  if (!schema.doc.empty()) out << "\n" << schema.doc << "\n";
  out << "\n";
  Table table({{"ARGUMENT"}, {"KIND"}, {"TYPE"}, {"SHAPE"}, {"DEFAULT"}, {"LIMITS"}, {"MEANING"}});
  for (const kernels::ArgumentSchema& argument : schema.arguments) {
    if (const kernels::BufferSchema* buffer = argument.buffer(); buffer != nullptr) {
      table.AddRow(
          {argument.name,
           absl::StrCat(kernels::NameOf(buffer->access), IsOptional(*buffer) ? ", optional" : ""),
           kernels::Describe(schema, buffer->dtype), kernels::Describe(schema, buffer->shape), "",
           "", argument.doc});
    } else {
      const kernels::ScalarSchema& scalar = *argument.scalar();
      const bool is_choice = !scalar.choices.empty();
      table.AddRow({argument.name, is_choice ? "choice" : "scalar",
                    is_choice ? "text" : kernels::Describe(schema, scalar.dtype), "",
                    DefaultOf(schema, scalar), Limits(scalar), argument.doc});
    }
  }
  table.Print(out);
}

}  // namespace weft::cli
