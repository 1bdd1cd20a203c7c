#include "graph/ir/memory_node_reader.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/ir/field_names.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

bool FitsIn(uint32_t pattern, uint32_t bytes) { return bytes >= 4 || pattern >> (8 * bytes) == 0; }

uint64_t OrElse(uint64_t value, uint64_t otherwise) { return value != 0 ? value : otherwise; }

CopyBox BoxOf(const v1::CopyNode::Box& in) {
  CopyBox box;
  box.width_bytes = in.width_bytes();
  box.rows = OrElse(in.rows(), 1);
  box.slices = OrElse(in.slices(), 1);
  box.src_pitch_bytes = OrElse(in.src_pitch_bytes(), box.width_bytes);
  box.dst_pitch_bytes = OrElse(in.dst_pitch_bytes(), box.width_bytes);
  box.src_slice_rows = OrElse(in.src_slice_rows(), box.rows);
  box.dst_slice_rows = OrElse(in.dst_slice_rows(), box.rows);
  return box;
}

std::optional<Advice> AdviceOf(v1::AdviseNode::Advice advice) {
  switch (advice) {
    case v1::AdviseNode::ADVICE_READ_MOSTLY:
      return Advice::kReadMostly;
    case v1::AdviseNode::ADVICE_NOT_READ_MOSTLY:
      return Advice::kNotReadMostly;
    case v1::AdviseNode::ADVICE_PREFERRED_LOCATION:
      return Advice::kPreferredLocation;
    case v1::AdviseNode::ADVICE_NO_PREFERRED_LOCATION:
      return Advice::kNoPreferredLocation;
    case v1::AdviseNode::ADVICE_ACCESSED_BY:
      return Advice::kAccessedBy;
    case v1::AdviseNode::ADVICE_NOT_ACCESSED_BY:
      return Advice::kNotAccessedBy;
    default:
      return std::nullopt;
  }
}

bool TakesNoLocation(Advice advice) {
  return advice == Advice::kReadMostly || advice == Advice::kNotReadMostly ||
         advice == Advice::kNoPreferredLocation;
}

}  // namespace

std::optional<View> MemoryNodeReader::ReadView(absl::string_view part, bool is_given,
                                               const v1::View& view, Reach reach) const {
  const ViewPlace place = {place_, part, -1, {}};
  if (!is_given) {
    violations_.Add(NoView(place));
    return std::nullopt;
  }
  const std::optional<ir::ReadView> read = views_.Read(place, view, reach);
  return read.has_value() ? std::make_optional(read->view) : std::nullopt;
}

// ---- Copies -------------------------------------------------------------------------------------

std::optional<CopyOp> MemoryNodeReader::Read(const v1::CopyNode& copy) const {
  const std::optional<View> src =
      ReadView("copy.src", copy.has_src(), copy.src(), Reach::kAnyDevice);
  const std::optional<View> dst =
      ReadView("copy.dst", copy.has_dst(), copy.dst(), Reach::kAnyDevice);
  if (!src.has_value() || !dst.has_value()) return std::nullopt;
  return copy.has_box() ? ReadBox(copy.box(), *src, *dst) : ReadWhole(*src, *dst);
}

std::optional<CopyOp> MemoryNodeReader::ReadWhole(const View& src, const View& dst) const {
  const ByteRange& from = src.range;
  const ByteRange& to = dst.range;
  if (from.size != to.size) {
    violations_.Add(CopySizesDiffer(place_, from.size, to.size));
    return std::nullopt;
  }
  const Buffer& buffer = graph_.buffer(src.buffer);
  if (buffer.storage == graph_.buffer(dst.buffer).storage && from.overlaps(to)) {
    const uint64_t begin = std::max(from.offset, to.offset);
    const ByteRange both{begin, std::min(from.end(), to.end()) - begin};
    violations_.Add(CopyOverlaps(place_, buffer.name, both));
    return std::nullopt;
  }
  return CopyOp{src, dst};
}

std::optional<CopyOp> MemoryNodeReader::ReadBox(const v1::CopyNode_Box& in, const View& src,
                                                const View& dst) const {
  const CopyBox box = BoxOf(in);
  if (!CheckBox(box)) return std::nullopt;
  const std::optional<View> from = Cut("copy.src", src, SourceRuns(box));
  const std::optional<View> to = Cut("copy.dst", dst, DestinationRuns(box));
  if (!from.has_value() || !to.has_value()) return std::nullopt;
  if (IsOneRun(box)) return ReadWhole(*from, *to);
  const CopyOp op = {*from, *to, box};
  const bool good = CheckPitch("copy.box.src_pitch_bytes", box.src_pitch_bytes) &&
                    CheckPitch("copy.box.dst_pitch_bytes", box.dst_pitch_bytes) &&
                    CheckApart(op, box);
  return good ? std::make_optional(op) : std::nullopt;
}

bool MemoryNodeReader::CheckBox(const CopyBox& box) const {
  if (box.width_bytes == 0) {
    violations_.Add(NoWidth(place_, "copy.box.width_bytes"));
    return false;
  }
  return CheckSide("src", box, box.src_pitch_bytes, box.src_slice_rows) &&
         CheckSide("dst", box, box.dst_pitch_bytes, box.dst_slice_rows);
}

bool MemoryNodeReader::CheckSide(absl::string_view side, const CopyBox& box, uint64_t pitch_bytes,
                                 uint64_t slice_rows) const {
  if (pitch_bytes < box.width_bytes) {
    violations_.Add(PitchTooSmall(place_, absl::StrCat("copy.box.", side, "_pitch_bytes"),
                                  pitch_bytes, box.width_bytes));
    return false;
  }
  if (slice_rows < box.rows) {
    violations_.Add(SliceTooSmall(place_, absl::StrCat("copy.box.", side, "_slice_rows"),
                                  slice_rows, box.rows));
    return false;
  }
  return true;
}

std::optional<View> MemoryNodeReader::Cut(absl::string_view part, const View& view,
                                          const std::optional<Runs>& runs) const {
  const std::optional<uint64_t> extent = runs.has_value() ? ExtentOf(*runs) : std::nullopt;
  if (!extent.has_value() || *extent > view.range.size) {
    violations_.Add(RowsOutsideView(place_, part, extent, view.range.size));
    return std::nullopt;
  }
  return View{view.buffer, {view.range.offset, *extent}};
}

// Inside one buffer: rows may lie between each other's, where it is cheap to tell that no two share
// a byte, which is with the same pitches on both sides.
bool MemoryNodeReader::CheckApart(const CopyOp& op, const CopyBox& box) const {
  const Buffer& buffer = graph_.buffer(op.src.buffer);
  if (buffer.storage != graph_.buffer(op.dst.buffer).storage) return true;
  const ByteRange& from = op.src.range;
  const ByteRange& to = op.dst.range;
  if (!from.overlaps(to)) return true;
  const bool is_same_shape = box.src_pitch_bytes == box.dst_pitch_bytes &&
                             (box.slices == 1 || box.src_slice_rows == box.dst_slice_rows);
  const uint64_t distance = std::max(from.offset, to.offset) - std::min(from.offset, to.offset);
  if (is_same_shape && !MeetsItself(*SourceRuns(box), distance)) return true;
  const uint64_t begin = std::max(from.offset, to.offset);
  const ByteRange both{begin, std::min(from.end(), to.end()) - begin};
  violations_.Add(is_same_shape ? CopyOverlaps(place_, buffer.name, both)
                                : BoxesEntangled(place_, buffer.name, both));
  return false;
}

bool MemoryNodeReader::CheckPitch(absl::string_view field, uint64_t pitch_bytes) const {
  const uint64_t limit = device_ != nullptr ? device_->max_pitch_bytes : 0;
  if (limit == 0 || pitch_bytes <= limit) return true;
  violations_.Add(PitchTooLarge(place_, field, pitch_bytes, limit));
  return false;
}

// ---- Fills --------------------------------------------------------------------------------------

std::optional<FillOp> MemoryNodeReader::Read(const v1::FillNode& fill) const {
  const std::optional<View> dst = ReadView("fill.dst", fill.has_dst(), fill.dst());
  const uint32_t bytes = fill.pattern_bytes() == 0 ? 1 : fill.pattern_bytes();
  if (bytes != 1 && bytes != 2 && bytes != 4) {
    violations_.Add(BadPatternSize(place_, bytes));
    return std::nullopt;
  }
  if (!FitsIn(fill.pattern(), bytes)) {
    violations_.Add(PatternTooLarge(place_, fill.pattern(), bytes));
    return std::nullopt;
  }
  if (!dst.has_value()) return std::nullopt;
  const FillOp whole = {*dst, fill.pattern(), bytes};
  if (fill.width_bytes() != 0 || fill.rows() != 0 || fill.pitch_bytes() != 0) {
    return ReadRows(fill, whole);
  }
  const ByteRange& range = dst->range;
  if (range.offset % bytes != 0 || range.size % bytes != 0) {
    violations_.Add(FillMisaligned(place_, range, bytes));
    return std::nullopt;
  }
  return whole;
}

std::optional<FillOp> MemoryNodeReader::ReadRows(const v1::FillNode& fill,
                                                 const FillOp& whole) const {
  const uint64_t width = fill.width_bytes();
  if (width == 0) {
    violations_.Add(NoWidth(place_, "fill.width_bytes"));
    return std::nullopt;
  }
  const Runs rows = {width, OrElse(fill.rows(), 1), OrElse(fill.pitch_bytes(), width), 1, 0};
  if (rows.pitch_bytes < width) {
    violations_.Add(PitchTooSmall(place_, "fill.pitch_bytes", rows.pitch_bytes, width));
    return std::nullopt;
  }
  const uint32_t bytes = whole.pattern_bytes;
  if (whole.dst.range.offset % bytes != 0 || width % bytes != 0 || rows.pitch_bytes % bytes != 0) {
    violations_.Add(
        FillRowsMisaligned(place_, whole.dst.range.offset, width, rows.pitch_bytes, bytes));
    return std::nullopt;
  }
  const std::optional<View> dst = Cut("fill.dst", whole.dst, rows);
  if (!dst.has_value()) return std::nullopt;
  FillOp op = {*dst, whole.pattern, bytes};
  if (rows.rows == 1 || rows.pitch_bytes == width) return op;  // one run
  if (!CheckPitch("fill.pitch_bytes", rows.pitch_bytes)) return std::nullopt;
  op.rows = rows;
  return op;
}

// ---- Managed memory -----------------------------------------------------------------------------

std::optional<View> MemoryNodeReader::ReadManaged(absl::string_view part, bool is_given,
                                                  const v1::View& view) const {
  const std::optional<View> read = ReadView(part, is_given, view);
  if (!read.has_value()) return std::nullopt;
  const Buffer& buffer = graph_.buffer(read->buffer);
  if (buffer.memory == MemoryKind::kManaged) return read;
  violations_.Add(NotManaged(place_, part, buffer.name));
  return std::nullopt;
}

std::optional<Location> MemoryNodeReader::ReadLocation(absl::string_view part, int location) const {
  if (location == v1::LOCATION_HOST) return Location::kHost;
  if (location == v1::LOCATION_DEVICE || location == v1::LOCATION_UNSPECIFIED) {
    return Location::kDevice;
  }
  violations_.Add(UnknownEnumValue(place_.Field(part), "Location", location,
                                   ListValues(*v1::Location_descriptor())));
  return std::nullopt;
}

std::optional<PrefetchOp> MemoryNodeReader::Read(const v1::PrefetchNode& prefetch) const {
  const std::optional<View> view =
      ReadManaged("prefetch.view", prefetch.has_view(), prefetch.view());
  const std::optional<Location> to = ReadLocation("prefetch.to", prefetch.to());
  if (!view.has_value() || !to.has_value()) return std::nullopt;
  return PrefetchOp{*view, *to};
}

std::optional<AdviseOp> MemoryNodeReader::Read(const v1::AdviseNode& advise) const {
  const std::optional<View> view = ReadManaged("advise.view", advise.has_view(), advise.view());
  const std::optional<Advice> advice = AdviceOf(advise.advice());
  if (!advice.has_value()) {
    violations_.Add(UnknownEnumValue(place_.Field("advise.advice"), "Advice", advise.advice(),
                                     ListValues(*v1::AdviseNode::Advice_descriptor())));
  }
  const std::optional<Location> location = ReadLocation("advise.location", advise.location());
  if (!view.has_value() || !advice.has_value() || !location.has_value()) return std::nullopt;
  if (TakesNoLocation(*advice) && advise.location() != v1::LOCATION_UNSPECIFIED) {
    violations_.Add(AdviceWithoutPlace(place_));
    return std::nullopt;
  }
  return AdviseOp{*view, *advice, *location};
}

}  // namespace weft::ir
