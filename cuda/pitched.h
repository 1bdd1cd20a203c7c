// Copies and fills of rows that lie a pitch apart: parts of images, of matrices and of volumes.
//
// Thread safety: pure functions; the stream's rules hold.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "cuda/driver.h"
#include "cuda/memory.h"
#include "cuda/stream.h"

namespace weft::cuda {

// One side of a copied box: row r of slice s begins at
// address + (s × slice_rows + r) × pitch_bytes. Host addresses (HostAddress) may stand here too.
struct BoxSide {
  CUdeviceptr address = 0;
  size_t pitch_bytes = 0;  // at least the box's width
  size_t slice_rows = 0;   // at least the box's rows; not read when there is one slice
  friend bool operator==(const BoxSide&, const BoxSide&) = default;
};

// `slices` slices of `rows` rows of `width_bytes` bytes. The sides do not overlap.
struct BoxCopy {
  BoxSide destination;
  BoxSide source;
  size_t width_bytes = 0;
  size_t rows = 1;
  size_t slices = 1;
  friend bool operator==(const BoxCopy&, const BoxCopy&) = default;
};

// The copy as the driver takes it. It tells host from device by the addresses.
CUDA_MEMCPY3D ToMemcpy3D(const BoxCopy& copy);

// Does not block, as CopyAsync. A box without a byte does nothing.
// Errors: INVALID_ARGUMENT for a pitch below the width, or above DeviceInfo::max_pitch_bytes.
absl::Status CopyBoxAsync(const StreamRef& stream, const BoxCopy& copy);

// `rows` rows of `width` elements of the pattern, `pitch_bytes` from one to the next. Elements are
// aligned: address and pitch are multiples of their size.
struct FillRows {
  CUdeviceptr destination = 0;
  FillPattern pattern;
  size_t width = 0;
  size_t rows = 1;
  size_t pitch_bytes = 0;  // at least the width's bytes; not read when there is one row
};

// Does not block. Without an element it does nothing; the bytes between the rows stay as they are.
// Errors: INVALID_ARGUMENT for another element size than 1, 2 or 4, and for a pitch below the width.
absl::Status FillRowsAsync(const StreamRef& stream, const FillRows& fill);

}  // namespace weft::cuda
