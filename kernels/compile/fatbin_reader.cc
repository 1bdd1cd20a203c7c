#include "kernels/compile/fatbin_reader.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "kernels/compile/errors.h"

namespace weft::kernels {
namespace {

constexpr uint32_t kFatbinMagicNumber = 0xba55ed50;

struct FatbinFileHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t header_bytes;
  uint64_t content_bytes;
};
static_assert(sizeof(FatbinFileHeader) == 16);

struct FatbinEntryHeader {
  uint16_t kind;
  uint16_t unknown0;
  uint32_t header_bytes;
  uint64_t payload_bytes;
  uint32_t compressed_bytes;  // 0: not compressed
  uint32_t unknown1;
  uint16_t minor;  // of PTX: its ISA version
  uint16_t major;
  uint32_t architecture;
  uint32_t unknown2;
  uint32_t unknown3;
  uint64_t flags;
  uint64_t unknown4;
  uint64_t whole_bytes;  // 0: not compressed
};
static_assert(sizeof(FatbinEntryHeader) == 64);

constexpr uint16_t kPtxEntry = 1;
constexpr uint16_t kElfEntry = 2;
// Bits of FatbinEntryHeader::flags, as the toolkit's 13.0 writes them.
constexpr uint64_t kArchitectureSpecific = 0x100000;
constexpr uint64_t kFamilySpecific = 0x200000;
constexpr uint64_t kAnyCompression = 0x2000 | 0x8000;  // LZ4, Zstandard

FatbinImage ImageOf(const FatbinEntryHeader& header) {
  FatbinImage image;
  if (header.kind == kPtxEntry) image.kind = FatbinImage::Kind::kPtx;
  if (header.kind == kElfEntry) image.kind = FatbinImage::Kind::kMachineCode;
  image.architecture = header.architecture;
  if ((header.flags & kArchitectureSpecific) != 0) image.suffix = "a";
  if ((header.flags & kFamilySpecific) != 0) image.suffix = "f";
  if (image.kind == FatbinImage::Kind::kPtx) {
    image.ptx_major = header.major;
    image.ptx_minor = header.minor;
  }
  image.compressed = (header.flags & kAnyCompression) != 0 || header.whole_bytes != 0;
  return image;
}

}  // namespace

std::string FatbinImage::Architecture() const {
  return absl::StrCat(kind == Kind::kPtx ? "compute_" : "sm_", architecture, suffix);
}

absl::StatusOr<std::vector<FatbinImage>> ReadFatbin(absl::string_view name,
                                                    absl::string_view bytes) {
  FatbinFileHeader file;
  if (bytes.size() < sizeof file) return BadImageError(name, "fatbin", "it is cut short");
  std::memcpy(&file, bytes.data(), sizeof file);
  if (file.magic != kFatbinMagicNumber) {
    return BadImageError(name, "fatbin", "it does not begin as one");
  }
  if (file.header_bytes < sizeof file || file.header_bytes > bytes.size() ||
      file.content_bytes > bytes.size() - file.header_bytes) {
    return BadImageError(name, "fatbin", "it is cut short");
  }
  absl::string_view rest = bytes.substr(file.header_bytes, file.content_bytes);
  std::vector<FatbinImage> images;
  while (rest.size() >= sizeof(FatbinEntryHeader)) {
    FatbinEntryHeader header;
    std::memcpy(&header, rest.data(), sizeof header);
    if (header.header_bytes < sizeof header || header.header_bytes > rest.size() ||
        header.payload_bytes > rest.size() - header.header_bytes) {
      return BadImageError(name, "fatbin", "an image in it is cut short");
    }
    images.push_back(ImageOf(header));
    images.back().payload = rest.substr(header.header_bytes, header.payload_bytes);
    rest.remove_prefix(header.header_bytes + header.payload_bytes);
  }
  return images;
}

}  // namespace weft::kernels
