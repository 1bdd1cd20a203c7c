#include "kernels/compile/image_format.h"

#include <elf.h>

#include <cstdint>
#include <cstring>

#include "absl/strings/match.h"
#include "kernels/compile/errors.h"

namespace weft::kernels {
namespace {

constexpr Elf64_Half kCudaMachine = 190;  // EM_CUDA
constexpr uint32_t kFatbinMagic = 0xba55ed50;

struct FatbinHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t header_bytes;
  uint64_t content_bytes;
};

bool Fits(uint64_t offset, uint64_t size, uint64_t whole) {
  return size <= whole && offset <= whole - size;
}

template <typename T>
bool ReadAt(const std::string& bytes, uint64_t offset, T& value) {
  if (!Fits(offset, sizeof value, bytes.size())) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return true;
}

// A table of `count` entries of `entry_bytes`.
bool TableFits(uint64_t offset, uint64_t count, uint64_t entry_bytes, uint64_t whole) {
  return count == 0 || Fits(offset, count * entry_bytes, whole);  // both have 16 bits
}

bool SectionsFit(const std::string& bytes, const Elf64_Ehdr& header) {
  if (header.e_shnum > 0 && header.e_shentsize != sizeof(Elf64_Shdr)) return false;
  if (!TableFits(header.e_shoff, header.e_shnum, header.e_shentsize, bytes.size())) return false;
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    if (!ReadAt(bytes, header.e_shoff + i * sizeof section, section)) return false;
    if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL) continue;
    if (!Fits(section.sh_offset, section.sh_size, bytes.size())) return false;
  }
  return true;
}

}  // namespace

absl::Status CheckPtx(absl::string_view module, const std::string& bytes) {
  if (absl::StrContains(bytes, '\0')) {
    return BadImageError(module, "PTX", "it has a NUL byte, which PTX, a text, has not");
  }
  if (!absl::StrContains(bytes, ".version") || !absl::StrContains(bytes, ".target")) {
    return BadImageError(module, "PTX", "it has no .version and .target");
  }
  return absl::OkStatus();
}

absl::Status CheckCubin(absl::string_view module, const std::string& bytes) {
  Elf64_Ehdr header;
  if (!ReadAt(bytes, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64) {
    return BadImageError(module, "cubin", "it is no ELF file of 64 bits");
  }
  if (header.e_machine != kCudaMachine) {
    return BadImageError(module, "cubin", "it is machine code of another kind than NVIDIA's");
  }
  if (!SectionsFit(bytes, header) ||
      !TableFits(header.e_phoff, header.e_phnum, header.e_phentsize, bytes.size())) {
    return BadImageError(module, "cubin", "it is cut short");
  }
  return absl::OkStatus();
}

absl::Status CheckFatbin(absl::string_view module, const std::string& bytes) {
  FatbinHeader header;
  if (!ReadAt(bytes, 0, header) || header.magic != kFatbinMagic) {
    return BadImageError(module, "fatbin", "it does not begin as one");
  }
  if (header.header_bytes < sizeof header ||
      !Fits(header.header_bytes, header.content_bytes, bytes.size())) {
    return BadImageError(module, "fatbin", "it is cut short");
  }
  return absl::OkStatus();
}

}  // namespace weft::kernels
