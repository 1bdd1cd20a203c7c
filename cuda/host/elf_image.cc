#include "cuda/host/elf_image.h"

#include <elf.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace weft::hostcuda {
namespace {

// No image of Weft's comes near; headers that say more are wrong.
constexpr uint64_t kMaxImageBytes = uint64_t{256} << 20;
constexpr unsigned char kFatbinMagic[] = {0x50, 0xed, 0x55, 0xba};
constexpr unsigned char kFatbinWrapperMagic[] = {0xb1, 0x43, 0x62, 0x46};
constexpr Elf64_Half kCudaMachine = 190;  // EM_CUDA, newer than this system's <elf.h> may be
#if defined(__x86_64__)
constexpr Elf64_Half kOwnMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kOwnMachine = EM_AARCH64;
#else
#error "Add this processor's ELF machine number."
#endif

// Reads no byte behind the first one that differs: the image may end there.
template <size_t N>
bool StartsWith(const unsigned char* image, const unsigned char (&magic)[N]) {
  for (size_t i = 0; i < N; ++i) {
    if (image[i] != magic[i]) return false;
  }
  return true;
}

CUresult RefuseForeign(const unsigned char* image) {
  if (StartsWith(image, kFatbinMagic) || StartsWith(image, kFatbinWrapperMagic)) {
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  // PTX is text that begins with a directive or a comment.
  const bool directive = image[0] == '.' && image[1] == 'v';
  const bool comment = image[0] == '/' && (image[1] == '/' || image[1] == '*');
  return directive || comment ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_ERROR_INVALID_IMAGE;
}

// Copies [offset, end) of the image to the same place of the file. Not through libc's pwrite, which
// a sanitizer replaces with one that refuses to read behind the end of an object: what lies there is
// unknown, but harmless to look at.
bool CopyRange(int fd, const unsigned char* image, uint64_t offset, uint64_t end) {
  while (offset < end) {
    const long copied = ::syscall(SYS_pwrite64, fd, image + offset, end - offset, offset);
    if (copied <= 0) return false;
    offset += static_cast<uint64_t>(copied);
  }
  return true;
}

template <typename T>
bool ReadTable(int fd, uint64_t offset, size_t count, std::vector<T>* rows) {
  rows->resize(count);
  const size_t bytes = count * sizeof(T);
  return ::pread(fd, rows->data(), bytes, static_cast<off_t>(offset)) ==
         static_cast<ssize_t>(bytes);
}

CUresult CheckHeader(const Elf64_Ehdr& header) {
  if (header.e_machine == kCudaMachine) return CUDA_ERROR_NO_BINARY_FOR_GPU;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return CUDA_ERROR_INVALID_IMAGE;
  }
  if (header.e_machine != kOwnMachine) return CUDA_ERROR_NO_BINARY_FOR_GPU;
  const bool tables = header.e_phentsize == sizeof(Elf64_Phdr) && header.e_phnum > 0 &&
                      header.e_shentsize == sizeof(Elf64_Shdr) && header.e_shnum > 0 &&
                      header.e_shstrndx < header.e_shnum && header.e_phoff >= sizeof(Elf64_Ehdr) &&
                      header.e_phoff < kMaxImageBytes && header.e_shoff >= sizeof(Elf64_Ehdr) &&
                      header.e_shoff < kMaxImageBytes;
  return header.e_type == ET_DYN && tables ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}

// Raises *end to `offset + size`; false when that is beyond any image.
bool Reach(uint64_t offset, uint64_t size, uint64_t* end) {
  if (offset > kMaxImageBytes || size > kMaxImageBytes - offset) return false;
  *end = std::max(*end, offset + size);
  return true;
}

// The end of the file by its tables, which are copied already. False when they contradict.
bool FindEnd(int fd, const Elf64_Ehdr& header, uint64_t* end) {
  std::vector<Elf64_Shdr> sections;
  std::vector<Elf64_Phdr> segments;
  if (!ReadTable(fd, header.e_shoff, header.e_shnum, &sections) ||
      !ReadTable(fd, header.e_phoff, header.e_phnum, &segments)) {
    return false;
  }
  if (sections[0].sh_type != SHT_NULL || sections[header.e_shstrndx].sh_type != SHT_STRTAB) {
    return false;
  }
  for (const Elf64_Shdr& section : sections) {
    const bool in_file = section.sh_type != SHT_NULL && section.sh_type != SHT_NOBITS;
    if (in_file && !Reach(section.sh_offset, section.sh_size, end)) return false;
  }
  bool loadable = false;
  bool dynamic = false;
  for (const Elf64_Phdr& segment : segments) {
    if (!Reach(segment.p_offset, segment.p_filesz, end)) return false;
    loadable |= segment.p_type == PT_LOAD && segment.p_filesz <= segment.p_memsz;
    dynamic |= segment.p_type == PT_DYNAMIC;
  }
  return loadable && dynamic;
}

}  // namespace

CUresult CopyElfImage(const void* image, UniqueFd* file) {
  const auto* bytes = static_cast<const unsigned char*>(image);
  constexpr unsigned char kElfMagic[] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3};
  if (!StartsWith(bytes, kElfMagic)) return RefuseForeign(bytes);
  UniqueFd copy(::memfd_create("weft_host_image", MFD_CLOEXEC));
  if (!copy.valid()) return CUDA_ERROR_OPERATING_SYSTEM;

  Elf64_Ehdr header;
  if (!CopyRange(copy.get(), bytes, 0, sizeof(header)) ||
      ::pread(copy.get(), &header, sizeof(header), 0) != sizeof(header)) {
    return CUDA_ERROR_INVALID_IMAGE;
  }
  const CUresult checked = CheckHeader(header);
  if (checked != CUDA_SUCCESS) return checked;

  uint64_t end = sizeof(header);
  Reach(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr), &end);
  Reach(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr), &end);
  if (!CopyRange(copy.get(), bytes, sizeof(header), end)) return CUDA_ERROR_INVALID_IMAGE;
  const uint64_t copied = end;
  if (!FindEnd(copy.get(), header, &end) || !CopyRange(copy.get(), bytes, copied, end)) {
    return CUDA_ERROR_INVALID_IMAGE;
  }
  *file = std::move(copy);
  return CUDA_SUCCESS;
}

}  // namespace weft::hostcuda
