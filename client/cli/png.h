// 8-bit gray and RGB pictures in PNG: gray is u8 [height, width], RGB u8 [height, width, 3].
// Other kinds (palette, alpha, 16 bits, 1 to 4 bits) are refused, because their values would not be
// the file's.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/array_file.h"

namespace weft::cli {

// Bytes of the largest picture: 16,384 × 5,461 pixels of RGB. Bounds what a small hostile file can
// make the decoder allocate to a few times this.
inline constexpr uint64_t kMaxPngBytes = uint64_t{256} << 20;

// `path` is for messages. Structure, checksums and sizes are checked before anything is decoded.
absl::StatusOr<Array> DecodePng(const std::string& path, absl::string_view file);

absl::Status CheckPngType(const std::string& path, const ArrayType& type);
// REQUIRES: CheckPngType(path, type) is OK, and the bytes are of that type.
absl::StatusOr<std::string> EncodePng(const std::string& path, const ArrayType& type,
                                      absl::string_view pixels);

}  // namespace weft::cli
