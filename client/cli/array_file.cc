#include "client/cli/array_file.h"

#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/errors.h"
#include "client/cli/file_io.h"
#include "client/cli/npy.h"
#include "client/cli/output.h"
#include "client/cli/png.h"

namespace weft::cli {

std::string Describe(const ArrayType& type) {
  return absl::StrCat(kernels::NameOf(type.dtype), " ", FormatShape(type.shape));
}

std::optional<uint64_t> BytesOf(const ArrayType& type) {
  uint64_t bytes = kernels::SizeOf(type.dtype);
  bool empty = false;
  for (const int64_t extent : type.shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) {
      empty = true;
      continue;
    }
    if (static_cast<uint64_t>(extent) > kMaxArrayBytes / bytes) return std::nullopt;
    bytes *= static_cast<uint64_t>(extent);
  }
  return empty ? 0 : bytes;
}

FileFormat FormatOf(absl::string_view path) {
  if (absl::EndsWithIgnoreCase(path, ".npy")) return FileFormat::kNpy;
  if (absl::EndsWithIgnoreCase(path, ".png")) return FileFormat::kPng;
  return FileFormat::kRaw;
}

absl::StatusOr<Array> ReadArray(const std::string& path, uint64_t max_bytes) {
  const FileFormat format = FormatOf(path);
  const uint64_t max_file_bytes =
      format == FileFormat::kNpy ? max_bytes + kMaxNpyHeaderBytes : max_bytes;
  WEFT_ASSIGN_OR_RETURN(std::string file, ReadWholeFile(path, max_file_bytes));
  switch (format) {
    case FileFormat::kNpy: {
      WEFT_ASSIGN_OR_RETURN(NpyHeader header, ParseNpyHeader(path, file));
      file.erase(0, header.header_bytes);
      return Array{std::move(header.type), std::move(file)};
    }
    case FileFormat::kPng:
      return DecodePng(path, file);
    case FileFormat::kRaw:
      break;
  }
  return Array{std::nullopt, std::move(file)};
}

absl::Status CheckWritable(const std::string& path, const ArrayType& type) {
  return FormatOf(path) == FileFormat::kPng ? CheckPngType(path, type) : absl::OkStatus();
}

absl::Status WriteArray(const std::string& path, const ArrayType& type, absl::string_view bytes) {
  switch (FormatOf(path)) {
    case FileFormat::kNpy:
      return WriteWholeFile(path, {MakeNpyHeader(type), bytes});
    case FileFormat::kPng: {
      WEFT_RETURN_IF_ERROR(CheckPngType(path, type));
      WEFT_ASSIGN_OR_RETURN(const std::string file, EncodePng(path, type, bytes));
      return WriteWholeFile(path, {file});
    }
    case FileFormat::kRaw:
      break;
  }
  return WriteWholeFile(path, {bytes});
}

}  // namespace weft::cli
