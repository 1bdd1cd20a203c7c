#include "client/cli/view_type.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/cli/output.h"
#include "graph/ir/data_type.h"

namespace weft::cli {
namespace {

const v1::BufferDecl* FindBuffer(const v1::Job& job, const std::string& name) {
  const auto found = std::find_if(job.buffers().begin(), job.buffers().end(),
                                  [&name](const auto& buffer) { return buffer.name() == name; });
  return found == job.buffers().end() ? nullptr : &*found;
}

// What the declaration says of the whole buffer.
ViewType TypeOfBuffer(const v1::BufferDecl& buffer) {
  ViewType type;
  const bool is_shared = buffer.storage_case() == v1::BufferDecl::kShared;
  type.dtype = ir::DTypeOf(buffer.data_type());
  if (!type.dtype.has_value() && !is_shared) type.dtype = kernels::DType::kU8;
  if (buffer.shape_size() > 0) {
    type.shape.emplace(buffer.shape().begin(), buffer.shape().end());
  } else if (!is_shared) {
    type.shape = {1};
  }
  type.shape_is_given = true;
  if (type.dtype.has_value() && type.shape.has_value()) {
    type.bytes = BytesOf({*type.dtype, *type.shape});
  }
  return type;
}

std::vector<int64_t> WithoutOnes(const std::vector<int64_t>& shape) {
  std::vector<int64_t> squeezed;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(squeezed),
               [](int64_t extent) { return extent != 1; });
  return squeezed;
}

}  // namespace

ViewType TypeOfView(const v1::Job& job, const v1::View& view) {
  const v1::BufferDecl* buffer = FindBuffer(job, view.buffer());
  if (buffer == nullptr) return {};
  ViewType type = TypeOfBuffer(*buffer);
  if (view.shape_size() > 0) {
    type.shape.emplace(view.shape().begin(), view.shape().end());
    type.bytes = type.dtype.has_value() ? BytesOf({*type.dtype, *type.shape}) : std::nullopt;
    return type;
  }
  const bool is_whole =
      view.offset_bytes() == 0 && (view.size_bytes() == 0 || view.size_bytes() == type.bytes);
  if (is_whole) return type;
  // A part of a buffer: one dimension.
  type.shape_is_given = false;
  if (view.size_bytes() != 0) {
    type.bytes = view.size_bytes();
  } else if (type.bytes.has_value()) {
    if (view.offset_bytes() > *type.bytes) return {};
    type.bytes = *type.bytes - view.offset_bytes();
  }
  type.shape.reset();
  if (type.bytes.has_value() && type.dtype.has_value()) {
    type.shape = {static_cast<int64_t>(*type.bytes / kernels::SizeOf(*type.dtype))};
  }
  return type;
}

std::string Describe(const ViewType& type, const v1::View& view) {
  std::string text;
  if (type.dtype.has_value()) text = std::string(kernels::NameOf(*type.dtype));
  if (type.shape.has_value()) {
    absl::StrAppend(&text, text.empty() ? "" : " ", FormatShape(*type.shape));
  }
  return absl::StrCat(text, " (buffer \"", view.buffer(), "\")");
}

bool Fits(const ArrayType& array, const ViewType& view) {
  if (view.dtype.has_value() && array.dtype != *view.dtype) return false;
  if (view.shape_is_given && view.shape.has_value()) {
    return WithoutOnes(array.shape) == WithoutOnes(*view.shape);
  }
  return !view.bytes.has_value() || BytesOf(array) == *view.bytes;
}

}  // namespace weft::cli
