// The .npy format of NumPy, versions 1 to 3 (numpy.lib.format): a magic, a header that is a Python
// dictionary, then the elements. Little-endian numbers in C order only; bf16 is "V2", as ml_dtypes
// writes it.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/array_file.h"

namespace weft::cli {

// Bytes of the longest header that is read; NumPy's own limit is 10,000 for files not trusted.
inline constexpr size_t kMaxNpyHeaderBytes = 64 << 10;

struct NpyHeader {
  ArrayType type;
  size_t header_bytes = 0;  // the elements start here
};

// `path` is for messages. INVALID_ARGUMENT unless the elements are exactly what is behind the
// header.
absl::StatusOr<NpyHeader> ParseNpyHeader(const std::string& path, absl::string_view file);

// Magic and header, padded so that the elements start at a multiple of 64 bytes.
std::string MakeNpyHeader(const ArrayType& type);

}  // namespace weft::cli
