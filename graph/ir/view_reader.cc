#include "graph/ir/view_reader.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/ir/data_type.h"
#include "graph/ir/limits.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {

std::optional<BufferIndex> ViewReader::FindBuffer(const ViewPlace& place,
                                                  const v1::View& view) const {
  const std::optional<uint32_t> index = buffers_.names.Find(view.buffer());
  if (!index.has_value()) {
    const absl::string_view nearest =
        violations_.full() ? absl::string_view() : buffers_.names.Nearest(view.buffer());
    violations_.Add(UnknownBuffer(place, view.buffer(), nearest));
    return std::nullopt;
  }
  if (!buffers_.is_sound[*index]) return std::nullopt;  // reported with its declaration
  return BufferIndex(*index);
}

std::optional<uint64_t> ViewReader::ShapeBytes(const ViewPlace& place, const v1::View& view,
                                               ReadView& result) const {
  if (view.shape_size() > static_cast<int>(kMaxDimensions)) {
    violations_.Add(TooManyDimensions(place.Field("shape"), place.Subject(), view.shape_size()));
    return std::nullopt;
  }
  for (const int64_t extent : view.shape()) {
    if (extent < 0) {
      violations_.Add(BadExtent(place.Field("shape"), place.Subject(), extent));
      return std::nullopt;
    }
    result.shape.push_back(static_cast<uint64_t>(extent));
  }
  const std::optional<uint64_t> bytes = BytesOf(result.shape, result.dtype, kMaxBufferBytes);
  if (!bytes.has_value()) {
    violations_.Add(
        BadViewShape(place, absl::StrCat("the shape makes more than ", kMaxBufferBytes, " bytes")));
  } else if (view.size_bytes() != 0 && view.size_bytes() != *bytes) {
    violations_.Add(
        BadViewShape(place, absl::StrCat("the shape makes ", *bytes, " bytes, but size_bytes is ",
                                         view.size_bytes(), "; leave one of them out")));
    return std::nullopt;
  }
  return bytes;
}

std::optional<ReadView> ViewReader::Read(const ViewPlace& place, const v1::View& view,
                                         Reach reach) const {
  const std::optional<BufferIndex> index = FindBuffer(place, view);
  if (!index.has_value()) return std::nullopt;
  const Buffer& buffer = graph_.buffer(*index);
  if (reach == Reach::kOwnDevice && graph_.IsElsewhere(buffer)) {
    violations_.Add(
        UsedElsewhere(place, buffer.name, buffer.shared->device, graph_.options.device));
    return std::nullopt;
  }
  ReadView result;
  result.dtype = buffer.dtype;
  const uint64_t offset = view.offset_bytes();
  uint64_t size = view.size_bytes();
  if (view.shape_size() > 0) {
    const std::optional<uint64_t> bytes = ShapeBytes(place, view, result);
    if (!bytes.has_value()) return std::nullopt;
    size = *bytes;
  } else if (size == 0 && offset <= buffer.size_bytes) {
    size = buffer.size_bytes - offset;
  }
  const ByteRange range{offset, size};
  if (!range.within(buffer.size_bytes)) {
    violations_.Add(OutsideBuffer(place, buffer.name, range, buffer.size_bytes));
    return std::nullopt;
  }
  result.view = {*index, range};
  const uint64_t element = kernels::SizeOf(buffer.dtype);
  if (view.shape_size() > 0) return result;
  if (offset == 0 && size == buffer.size_bytes) {
    result.shape = buffer.shape;
  } else if (size % element == 0) {
    result.shape = {size / element};
  }
  return result;
}

}  // namespace weft::ir
