#include "graph/ir/argument_reader.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {

std::string ArgumentReader::PartOf(int argument) const {
  return absl::StrCat(field_, "[", argument, "]");
}

bool ArgumentReader::ReadBuffer(int index, const v1::Argument& argument, const ViewReader& views) {
  const ViewPlace place = {place_, field_, index, argument.name()};
  std::optional<ReadView> view = views.Read(place, argument.view());
  if (!view.has_value()) return false;
  if (view->shape.empty()) {
    violations_.Add(PartialElement(place, view->view.range.size, kernels::NameOf(view->dtype),
                                   kernels::SizeOf(view->dtype)));
    return false;
  }
  read_index_.back() = static_cast<uint32_t>(read_.size());
  read_.push_back(*std::move(view));
  const ReadView& read = read_.back();
  given_.push_back(
      {argument.name(),
       kernels::GivenBuffer{.dtype = read.dtype,
                            .shape = read.shape,
                            .size_bytes = read.view.range.size,
                            .offset_bytes = read.view.range.offset,
                            .storage = graph_.buffer(read.view.buffer).storage.value()}});
  return true;
}

bool ArgumentReader::ReadArgument(int index, const v1::Argument& argument,
                                  const ViewReader& views) {
  read_index_.push_back(std::nullopt);
  switch (argument.value_case()) {
    case v1::Argument::kView:
      return ReadBuffer(index, argument, views);
    case v1::Argument::kI64:
      given_.push_back({argument.name(), kernels::Number(int64_t{argument.i64()})});
      return true;
    case v1::Argument::kF64:
      given_.push_back({argument.name(), kernels::Number(argument.f64())});
      return true;
    case v1::Argument::kText:
      given_.push_back({argument.name(), absl::string_view(argument.text())});
      return true;
    case v1::Argument::VALUE_NOT_SET:
      break;
  }
  violations_.Add(NoArgumentValue(place_, PartOf(index), argument.name()));
  return false;
}

bool ArgumentReader::ReadAll(const ViewReader& views) {
  const int count = arguments_.size();
  read_.reserve(static_cast<size_t>(count));  // given_ keeps spans of the shapes inside
  given_.reserve(static_cast<size_t>(count));
  bool good = true;
  for (int i = 0; i < count; ++i) good = ReadArgument(i, arguments_.Get(i), views) && good;
  return good;
}

// Bind names the argument in `field`; a missing one has no place of its own.
void ArgumentReader::Report(const FieldViolation& violation) {
  std::string part(field_);
  for (int i = 0; i < arguments_.size(); ++i) {
    if (arguments_.Get(i).name() == violation.field) part = PartOf(i);
  }
  violations_.Add(KernelRefuses(place_, part, absl::StrCat("argument ", Quote(violation.field)),
                                violation.description));
}

void ArgumentReader::CollectViews(const kernels::KernelSchema& schema,
                                  const kernels::BoundCall& call) {
  for (size_t a = 0; a < schema.arguments.size(); ++a) {
    const kernels::BufferSchema* buffer = schema.arguments[a].buffer();
    if (buffer == nullptr) continue;
    for (int i = 0; i < arguments_.size(); ++i) {
      if (arguments_.Get(i).name() != schema.arguments[a].name) continue;
      const View& view = read_[*read_index_[static_cast<size_t>(i)]].view;
      const ByteRange touched{view.range.offset, call.arguments[a].touched_bytes};
      views_.push_back({view, touched, buffer->access});
    }
  }
}

std::optional<kernels::BoundCall> ArgumentReader::Read(const kernels::KernelSchema& schema,
                                                       const ViewReader& views) {
  if (!ReadAll(views)) return std::nullopt;
  kernels::BindResult bound = kernels::Bind(schema, given_);
  for (const FieldViolation& violation : bound.violations) Report(violation);
  if (!bound.ok()) return std::nullopt;
  CollectViews(schema, bound.call);
  return std::move(bound.call);
}

}  // namespace weft::ir
