#include "kernels/compile/thread_local_size.h"

#include <elf.h>

#include <cstring>

namespace weft::kernels {

uint64_t ThreadLocalBytes(absl::string_view elf) {
  Elf64_Ehdr header;
  if (elf.size() < sizeof(header)) return 0;
  std::memcpy(&header, elf.data(), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) return 0;
  if (header.e_phoff > elf.size()) return 0;
  if (header.e_phnum > (elf.size() - header.e_phoff) / sizeof(Elf64_Phdr)) return 0;
  uint64_t bytes = 0;
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, elf.data() + header.e_phoff + i * sizeof(segment), sizeof(segment));
    if (segment.p_type == PT_TLS) bytes += segment.p_memsz;
  }
  return bytes;
}

}  // namespace weft::kernels
