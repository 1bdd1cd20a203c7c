#include "graph/ir/runs.h"

#include <algorithm>

namespace weft::ir {
namespace {

// sum += a * b; false on overflow.
bool AddProduct(uint64_t a, uint64_t b, uint64_t& sum) {
  uint64_t product = 0;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(sum, product, &sum);
}

std::optional<Runs> SideOf(const CopyBox& box, uint64_t pitch_bytes, uint64_t slice_rows) {
  Runs runs = {box.width_bytes, box.rows, pitch_bytes, box.slices, 0};
  if (box.slices > 1 && __builtin_mul_overflow(slice_rows, pitch_bytes, &runs.slice_bytes)) {
    return std::nullopt;
  }
  return ExtentOf(runs).has_value() ? std::make_optional(runs) : std::nullopt;
}

// True when a row at `offset` shares a byte with a row of one slice at 0.
bool MeetsARow(const Runs& runs, uint64_t offset) {
  if (runs.rows == 1) return offset < runs.width_bytes;
  // The nearest rows are the last one that begins at or before the offset, and the next.
  const uint64_t before = std::min(offset / runs.pitch_bytes, runs.rows - 1);
  if (offset - before * runs.pitch_bytes < runs.width_bytes) return true;
  return before + 1 < runs.rows && (before + 1) * runs.pitch_bytes - offset < runs.width_bytes;
}

}  // namespace

std::optional<uint64_t> ExtentOf(const Runs& runs) {
  uint64_t extent = runs.width_bytes;
  if (!AddProduct(runs.rows - 1, runs.pitch_bytes, extent)) return std::nullopt;
  if (runs.slices > 1 && !AddProduct(runs.slices - 1, runs.slice_bytes, extent)) {
    return std::nullopt;
  }
  return extent;
}

// Two runs (s, r) and (t, q) are (s - t) × slice + (r - q) × pitch bytes apart. Since a slice's rows
// end before the next slice begins, only the two differences of slices nearest to the distance can
// bring runs together, and of rows likewise.
bool MeetsItself(const Runs& runs, uint64_t distance) {
  if (runs.slices == 1) return MeetsARow(runs, distance);
  const uint64_t before = distance / runs.slice_bytes;
  if (before < runs.slices && MeetsARow(runs, distance - before * runs.slice_bytes)) return true;
  return before + 1 < runs.slices && MeetsARow(runs, (before + 1) * runs.slice_bytes - distance);
}

std::optional<Runs> SourceRuns(const CopyBox& box) {
  return SideOf(box, box.src_pitch_bytes, box.src_slice_rows);
}

std::optional<Runs> DestinationRuns(const CopyBox& box) {
  return SideOf(box, box.dst_pitch_bytes, box.dst_slice_rows);
}

bool IsOneRun(const CopyBox& box) {
  const bool rows_touch =
      box.src_pitch_bytes == box.width_bytes && box.dst_pitch_bytes == box.width_bytes;
  const bool slices_touch = box.src_slice_rows == box.rows && box.dst_slice_rows == box.rows;
  // One row in each of several slices: the pitch still says where the next slice begins.
  return (rows_touch || (box.rows == 1 && box.slices == 1)) && (slices_touch || box.slices == 1);
}

}  // namespace weft::ir
