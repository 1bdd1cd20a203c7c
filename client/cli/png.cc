#include "client/cli/png.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/errors.h"

namespace {

// The decoder doubles its buffers as it goes: twice a picture, its filter bytes and some slack. A
// file that expands beyond that fails to decode, whatever its header says.
constexpr size_t kMaxBlockBytes = 2 * weft::cli::kMaxPngBytes + (size_t{1} << 20);

void* BoundedRealloc(void* block, size_t size) {
  return size > kMaxBlockBytes ? nullptr : std::realloc(block, size);
}

}  // namespace

#define STBI_MALLOC(size) BoundedRealloc(nullptr, size)
#define STBI_REALLOC(block, size) BoundedRealloc(block, size)
#define STBI_FREE(block) std::free(block)
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#include <stb/stb_image.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

namespace weft::cli {
namespace {

constexpr absl::string_view kSignature("\x89PNG\r\n\x1a\n", 8);
constexpr size_t kChunkFrameBytes = 12;  // length, type, checksum
constexpr size_t kHeaderDataBytes = 13;

constexpr std::array<uint32_t, 256> MakeCrcTable() {
  std::array<uint32_t, 256> table = {};
  for (uint32_t n = 0; n < 256; ++n) {
    uint32_t c = n;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? 0xedb88320U ^ (c >> 1) : c >> 1;
    table[n] = c;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kCrcTable = MakeCrcTable();

uint32_t Crc(absl::string_view bytes) {
  uint32_t crc = 0xffffffffU;
  for (const char c : bytes) crc = kCrcTable[(crc ^ static_cast<uint8_t>(c)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

uint32_t BigEndian32(absl::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

struct Chunk {
  absl::string_view type;
  absl::string_view data;
};

// Takes the next chunk off `rest`, its checksum checked (the decoder does not check any).
absl::StatusOr<Chunk> TakeChunk(const std::string& path, absl::string_view& rest) {
  if (rest.size() < kChunkFrameBytes) return PngDamagedError(path, "it is cut off");
  const uint32_t length = BigEndian32(rest);
  if (length > rest.size() - kChunkFrameBytes) return PngDamagedError(path, "it is cut off");
  const absl::string_view checked = rest.substr(4, 4 + size_t{length});
  if (Crc(checked) != BigEndian32(rest.substr(8 + size_t{length}))) {
    return PngDamagedError(path, "a checksum is wrong");
  }
  rest.remove_prefix(kChunkFrameBytes + length);
  return Chunk{checked.substr(0, 4), checked.substr(4)};
}

absl::string_view KindOf(uint8_t color, uint8_t depth) {
  if (color == 3) return "with a palette";
  if (color == 4 || color == 6) return "with an alpha channel";
  if (depth == 16) return "with 16 bits a channel";
  return depth < 8 ? "with less than 8 bits a pixel" : "of an unknown kind";
}

// The array that the picture will be, from its header chunk.
absl::StatusOr<ArrayType> TypeFromHeader(const std::string& path, const Chunk& header) {
  if (header.type != "IHDR" || header.data.size() != kHeaderDataBytes) {
    return PngDamagedError(path, "it does not start with a header");
  }
  const uint32_t width = BigEndian32(header.data);
  const uint32_t height = BigEndian32(header.data.substr(4));
  const auto depth = static_cast<uint8_t>(header.data[8]);
  const auto color = static_cast<uint8_t>(header.data[9]);
  if (width == 0 || height == 0) return PngDamagedError(path, "it has no pixels");
  if (depth != 8 || (color != 0 && color != 2)) return PngKindError(path, KindOf(color, depth));
  ArrayType type = {kernels::DType::kU8, {height, width}};
  if (color == 2) type.shape.push_back(3);
  if (BytesOf(type).value_or(UINT64_MAX) > kMaxPngBytes) {
    return PngTooLargeError(path, width, height);
  }
  return type;
}

// Checks every chunk up to the last; gives the array that the picture will be.
absl::StatusOr<ArrayType> CheckStructure(const std::string& path, absl::string_view file) {
  if (file.substr(0, kSignature.size()) != kSignature) {
    return PngDamagedError(path, "it does not start as one");
  }
  absl::string_view rest = file.substr(kSignature.size());
  WEFT_ASSIGN_OR_RETURN(const Chunk header, TakeChunk(path, rest));
  WEFT_ASSIGN_OR_RETURN(ArrayType type, TypeFromHeader(path, header));
  bool has_pixels = false;
  while (true) {
    WEFT_ASSIGN_OR_RETURN(const Chunk chunk, TakeChunk(path, rest));
    if (chunk.type == "IEND") break;
    has_pixels = has_pixels || chunk.type == "IDAT";
  }
  if (!has_pixels) return PngDamagedError(path, "it has no pixels");
  return type;
}

}  // namespace

absl::StatusOr<Array> DecodePng(const std::string& path, absl::string_view file) {
  WEFT_ASSIGN_OR_RETURN(ArrayType type, CheckStructure(path, file));
  const int channels = type.shape.size() == 3 ? 3 : 1;
  int width = 0;
  int height = 0;
  int channels_in_file = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(file.data()),
                            static_cast<int>(file.size()), &width, &height, &channels_in_file,
                            channels),
      stbi_image_free);
  if (pixels == nullptr) return PngDamagedError(path, stbi_failure_reason());
  if (height != type.shape[0] || width != type.shape[1]) {
    return PngDamagedError(path, "its sizes contradict each other");
  }
  std::string bytes(reinterpret_cast<const char*>(pixels.get()), *BytesOf(type));
  return Array{std::move(type), std::move(bytes)};
}

absl::Status CheckPngType(const std::string& path, const ArrayType& type) {
  const bool gray = type.shape.size() == 2 || (type.shape.size() == 3 && type.shape[2] == 1);
  const bool rgb = type.shape.size() == 3 && type.shape[2] == 3;
  const std::optional<uint64_t> bytes = BytesOf(type);
  if (type.dtype != kernels::DType::kU8 || !(gray || rgb) || !bytes.has_value() || *bytes == 0) {
    return PngTypeError(path, type);
  }
  if (*bytes > kMaxPngBytes) {
    return PngTooLargeError(path, static_cast<uint32_t>(type.shape[1]),
                            static_cast<uint32_t>(type.shape[0]));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> EncodePng(const std::string& path, const ArrayType& type,
                                      absl::string_view pixels) {
  const auto height = static_cast<int>(type.shape[0]);
  const auto width = static_cast<int>(type.shape[1]);
  const int channels = type.shape.size() == 3 ? static_cast<int>(type.shape[2]) : 1;
  std::string file;
  const auto append = [](void* to, void* data, int size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(data),
                                          static_cast<size_t>(size));
  };
  if (stbi_write_png_to_func(append, &file, width, height, channels, pixels.data(),
                             width * channels) == 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat(path, ": there was no memory to compress the picture"));
  }
  return file;
}

}  // namespace weft::cli
