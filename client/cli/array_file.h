// Arrays in files: .npy (NumPy), .png (8-bit gray and RGB) and raw bytes.
//
// Every file is hostile input: sizes are checked against the file before memory is taken for them.
// Errors are INVALID_ARGUMENT, say what the file holds and what to do.
//
// Thread safety: pure functions, but for the file system.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kernels/dtype.h"

namespace weft::cli {

// No array of the command line is larger: the largest message that a weftd may be set to accept
// (DaemonConfig.max_job_bytes).
inline constexpr uint64_t kMaxArrayBytes = uint64_t{1} << 30;

struct ArrayType {
  kernels::DType dtype = kernels::DType::kU8;
  std::vector<int64_t> shape;  // outermost first
  friend bool operator==(const ArrayType&, const ArrayType&) = default;
};

// "u8 [480, 640]"
std::string Describe(const ArrayType& type);
// Bytes of the elements; nullopt when the shape is negative or more than kMaxArrayBytes.
std::optional<uint64_t> BytesOf(const ArrayType& type);

enum class FileFormat : uint8_t { kNpy, kPng, kRaw };
// By the ending (letter case is free): .npy, .png; anything else is raw.
FileFormat FormatOf(absl::string_view path);

struct Array {
  std::optional<ArrayType> type;  // nullopt: raw bytes
  std::string bytes;              // little endian, row-major
};

// Reads an array of at most `max_bytes` elements' bytes.
absl::StatusOr<Array> ReadArray(const std::string& path, uint64_t max_bytes);

// OK when an array of this type can be written in the format of `path`.
absl::Status CheckWritable(const std::string& path, const ArrayType& type);
// Writes the file whole or not at all. REQUIRES: bytes.size() == *BytesOf(type).
absl::Status WriteArray(const std::string& path, const ArrayType& type, absl::string_view bytes);

}  // namespace weft::cli
