// Runs of bytes that lie a pitch apart: the rows of a box, the boxes of a volume. All functions are
// safe against overflow for what they require.
//
// Thread safety: values.
#pragma once

#include <cstdint>
#include <optional>

namespace weft::ir {

// Run (s, r) begins at s × slice_bytes + r × pitch_bytes.
struct Runs {
  uint64_t width_bytes = 0;  // of a run; at least 1
  uint64_t rows = 1;         // of a slice; at least 1
  uint64_t pitch_bytes = 0;  // from row to row; at least width_bytes
  uint64_t slices = 1;       // at least 1
  uint64_t slice_bytes =
      0;  // from slice to slice; at least rows × pitch_bytes; not read for one slice

  friend bool operator==(const Runs&, const Runs&) = default;
};

// From the first byte of the first run to the last byte of the last; nullopt: 2^64 or more.
// REQUIRES: what Runs says.
std::optional<uint64_t> ExtentOf(const Runs& runs);

// True when a run of `runs` and one of the same runs moved by `distance` bytes share a byte. Exact.
// REQUIRES: an extent below 2^62.
bool MeetsItself(const Runs& runs, uint64_t distance);

// A copied box: runs of one width and number, with a pitch on either side.
struct CopyBox {
  uint64_t width_bytes = 0;
  uint64_t rows = 1;
  uint64_t slices = 1;
  uint64_t src_pitch_bytes = 0;
  uint64_t dst_pitch_bytes = 0;
  uint64_t src_slice_rows = 1;  // rows from slice to slice; at least `rows`
  uint64_t dst_slice_rows = 1;

  friend bool operator==(const CopyBox&, const CopyBox&) = default;
};

// The runs of one side; nullopt when their extent is 2^64 or more.
std::optional<Runs> SourceRuns(const CopyBox& box);
std::optional<Runs> DestinationRuns(const CopyBox& box);

// True when all runs of both sides follow each other without a gap, so that the box is one run of
// width × rows × slices bytes. REQUIRES: both sides have an extent.
bool IsOneRun(const CopyBox& box);

}  // namespace weft::ir
