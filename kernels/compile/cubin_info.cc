#include "kernels/compile/cubin_info.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "kernels/compile/errors.h"

namespace weft::kernels {
namespace {

constexpr Elf64_Half kNvidiaMachine = 190;  // EM_CUDA
// From this ABI version of the ELF header on the architecture is the second byte of its flags, before
// the first.
constexpr unsigned char kFlagsOfCuda13 = 8;
// Of a block's shared memory, from this architecture on, the sections count 1 KiB that the system
// reserves (CUDA C++ Programming Guide, "Shared Memory" of compute capability 9.0).
constexpr uint32_t kReservedCountedFrom = 90;
constexpr uint32_t kReservedBytes = 1024;
constexpr unsigned char kEntryFlag = 0x10;  // of a symbol's st_other: STO_CUDA_ENTRY
// Beyond these a file is an attack: sections may lie over each other, and one name be long.
constexpr size_t kMaxAttributes = size_t{1} << 20;
constexpr size_t kMaxCubinNameBytes = 4096;

// Attributes of .nv.info sections, by their numbers there.
enum Attribute : uint8_t {
  kMaxThreads = 0x05,
  kRequiredThreads = 0x10,
  kFrameSize = 0x11,
  kParameter = 0x17,
  kRegisters = 0x2f,
  kClusterBlocks = 0x3d,
  kLargeParameter = 0x45,  // of kernels with more than 4 KiB of parameters
};
// How the value of an attribute is stored.
enum Format : uint8_t { kNone = 1, kByte = 2, kHalf = 3, kSized = 4 };

template <typename T>
bool LoadAt(absl::string_view bytes, uint64_t offset, T& value) {
  if (sizeof value > bytes.size() || offset > bytes.size() - sizeof value) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return true;
}

struct CubinSection {
  Elf64_Shdr header = {};
  absl::string_view name;
  absl::string_view data;  // empty for NOBITS
};

struct CubinSymbol {
  absl::string_view name;
  Elf64_Sym entry = {};
};

class CubinReader {
 public:
  CubinReader(absl::string_view name, absl::string_view bytes) : name_(name), bytes_(bytes) {}

  absl::StatusOr<uint32_t> ReadHeader() {
    if (!LoadAt(bytes_, 0, header_) || std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 ||
        header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB) {
      return Bad("it is no ELF file of 64 bits");
    }
    if (header_.e_machine != kNvidiaMachine) {
      return Bad("it is machine code of another kind than NVIDIA's");
    }
    const bool wide = header_.e_ident[EI_ABIVERSION] >= kFlagsOfCuda13;
    architecture_ = (wide ? header_.e_flags >> 8 : header_.e_flags) & 0xff;
    return architecture_;
  }

  absl::StatusOr<CodeInfo> Read() {
    WEFT_RETURN_IF_ERROR(ReadHeader().status());
    WEFT_RETURN_IF_ERROR(ReadSections());
    WEFT_RETURN_IF_ERROR(ReadSymbols());
    CollectSymbols();
    for (const CubinSection& section : sections_) WEFT_RETURN_IF_ERROR(ReadAttributes(section));
    for (const CubinSection& section : sections_) AddMemory(section);
    return Finish();
  }

 private:
  absl::Status Bad(absl::string_view why) const { return BadImageError(name_, "cubin", why); }

  absl::Status ReadSections() {
    if (header_.e_shnum > 0 && header_.e_shentsize != sizeof(Elf64_Shdr)) {
      return Bad("its table of sections is of another size");
    }
    for (uint64_t i = 0; i < header_.e_shnum; ++i) {
      CubinSection section;
      const uint64_t offset = i * sizeof section.header;  // both have 16 bits
      if (header_.e_shoff > bytes_.size() ||
          !LoadAt(bytes_.substr(header_.e_shoff), offset, section.header)) {
        return Bad("it is cut short");
      }
      const Elf64_Shdr& at = section.header;
      if (at.sh_type != SHT_NOBITS && at.sh_type != SHT_NULL) {
        if (at.sh_size > bytes_.size() || at.sh_offset > bytes_.size() - at.sh_size) {
          return Bad("it is cut short");
        }
        section.data = bytes_.substr(at.sh_offset, at.sh_size);
      }
      sections_.push_back(section);
    }
    if (header_.e_shstrndx >= sections_.size()) return Bad("its sections have no names");
    const absl::string_view names = sections_[header_.e_shstrndx].data;
    for (CubinSection& section : sections_) section.name = TextAt(names, section.header.sh_name);
    return absl::OkStatus();
  }

  // Up to the NUL; nothing outside the table.
  static absl::string_view TextAt(absl::string_view table, uint64_t offset) {
    if (offset >= table.size()) return {};
    const absl::string_view rest = table.substr(offset, kMaxCubinNameBytes);
    return rest.substr(0, rest.find('\0'));
  }

  absl::Status ReadSymbols() {
    for (const CubinSection& section : sections_) {
      if (section.header.sh_type != SHT_SYMTAB) continue;
      if (section.header.sh_link >= sections_.size()) return Bad("its symbols have no names");
      const absl::string_view names = sections_[section.header.sh_link].data;
      for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.data.size();
           at += sizeof(Elf64_Sym)) {
        CubinSymbol symbol;
        LoadAt(section.data, at, symbol.entry);
        symbol.name = TextAt(names, symbol.entry.st_name);
        symbols_.push_back(symbol);
      }
      return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  void CollectSymbols() {
    for (const CubinSymbol& symbol : symbols_) {
      const unsigned type = ELF64_ST_TYPE(symbol.entry.st_info);
      const uint16_t section = symbol.entry.st_shndx;
      if (symbol.name.empty() || section >= sections_.size()) continue;
      if (type == STT_FUNC && (symbol.entry.st_other & kEntryFlag) != 0) {
        KernelInfo& kernel = kernels_[symbol.name];
        kernel.name = std::string(symbol.name);
        kernel.resources.emplace();
      } else if (type == STT_OBJECT && symbol.entry.st_size > 0) {
        const absl::string_view in = sections_[section].name;
        const bool constant = absl::StartsWith(in, ".nv.constant");
        if (!constant && !absl::StartsWith(in, ".nv.global")) continue;
        variables_[symbol.name] = {std::string(symbol.name), symbol.entry.st_size, constant};
      }
    }
  }

  KernelInfo* FindKernel(absl::string_view name) {
    const auto it = kernels_.find(name);
    return it == kernels_.end() ? nullptr : &it->second;
  }

  // Of symbol `index`; null when that is no kernel.
  KernelInfo* KernelOfSymbol(uint32_t index) {
    return index < symbols_.size() ? FindKernel(symbols_[index].name) : nullptr;
  }

  absl::Status ReadAttributes(const CubinSection& section) {
    absl::string_view kernel_name = section.name;
    if (!absl::ConsumePrefix(&kernel_name, ".nv.info")) return absl::OkStatus();
    absl::ConsumePrefix(&kernel_name, ".");
    KernelInfo* const kernel = FindKernel(kernel_name);
    absl::string_view rest = section.data;
    while (rest.size() >= 4) {
      const auto format = static_cast<uint8_t>(rest[0]);
      const auto attribute = static_cast<uint8_t>(rest[1]);
      absl::string_view value = rest.substr(2, 2);
      rest.remove_prefix(4);
      if (format < kNone || format > kSized) return Bad("its attributes cannot be read");
      if (++attributes_ > kMaxAttributes) return Bad("it has more attributes than any");
      if (format == kSized) {
        uint16_t size = 0;
        LoadAt(value, 0, size);
        if (size > rest.size()) return Bad("its attributes are cut short");
        value = rest.substr(0, size);
        rest.remove_prefix(size);
      }
      Note(attribute, value, kernel);
    }
    return absl::OkStatus();
  }

  // `kernel`: whose section it is; null in the section of all.
  void Note(uint8_t attribute, absl::string_view value, KernelInfo* kernel) {
    switch (attribute) {
      case kRegisters:
      case kFrameSize:
        return NoteOfSymbol(attribute, value);
      case kMaxThreads:
      case kRequiredThreads:
        if (kernel != nullptr && LoadAt(value, 0, kernel->max_block)) {
          kernel->block_required = attribute == kRequiredThreads;
        }
        return;
      case kClusterBlocks:
        if (kernel != nullptr) LoadAt(value, 0, kernel->cluster);
        return;
      case kParameter:
      case kLargeParameter:
        if (kernel != nullptr) NoteParameter(attribute, value, *kernel);
        return;
      default:
        return;
    }
  }

  void NoteOfSymbol(uint8_t attribute, absl::string_view value) {
    uint32_t symbol = 0;
    uint32_t number = 0;
    if (!LoadAt(value, 0, symbol) || !LoadAt(value, 4, number)) return;
    KernelInfo* const kernel = KernelOfSymbol(symbol);
    if (kernel == nullptr) return;
    (attribute == kRegisters ? kernel->resources->registers : kernel->resources->stack_bytes) =
        number;
  }

  // u32 (0), u16 ordinal, u16 offset, then: u32 with the size from bit 18 on; or u16 size, u16.
  void NoteParameter(uint8_t attribute, absl::string_view value, KernelInfo& kernel) {
    uint16_t ordinal = 0;
    uint16_t offset = 0;
    uint32_t tail = 0;
    if (!LoadAt(value, 4, ordinal) || !LoadAt(value, 6, offset) || !LoadAt(value, 8, tail)) return;
    const uint32_t size = attribute == kParameter ? tail >> 18 : tail & 0xffff;
    parameters_[kernel.name][ordinal] = {offset, size};
  }

  void AddMemory(const CubinSection& section) {
    absl::string_view name = section.name;
    const auto size = static_cast<uint32_t>(std::min<uint64_t>(section.header.sh_size, UINT32_MAX));
    if (absl::ConsumePrefix(&name, ".nv.shared.")) {
      KernelInfo* const kernel = FindKernel(name);
      if (kernel == nullptr) return;
      const bool reserved = architecture_ >= kReservedCountedFrom && size >= kReservedBytes;
      kernel->resources->static_shared_bytes = reserved ? size - kReservedBytes : size;
    } else if (absl::ConsumePrefix(&name, ".nv.constant0.")) {
      KernelInfo* const kernel = FindKernel(name);
      if (kernel != nullptr) kernel->resources->constant_bytes = size;
    } else if (absl::ConsumePrefix(&name, ".text.")) {
      // Files older than the attribute have the registers in the top byte of sh_info.
      KernelInfo* const kernel = FindKernel(name);
      if (kernel != nullptr && kernel->resources->registers == 0) {
        kernel->resources->registers = section.header.sh_info >> 24;
      }
    }
  }

  CodeInfo Finish() {
    CodeInfo info;
    info.architecture = absl::StrCat("sm_", architecture_);
    for (auto& [name, kernel] : kernels_) {
      for (const auto& [ordinal, parameter] : parameters_[kernel.name]) {
        kernel.parameters.push_back(parameter);
      }
      info.kernels.push_back(std::move(kernel));
    }
    for (auto& [name, variable] : variables_) info.variables.push_back(std::move(variable));
    return info;
  }

  const absl::string_view name_;
  const absl::string_view bytes_;
  Elf64_Ehdr header_ = {};
  uint32_t architecture_ = 0;
  std::vector<CubinSection> sections_;
  std::vector<CubinSymbol> symbols_;
  std::map<absl::string_view, KernelInfo> kernels_;
  std::map<absl::string_view, VariableInfo> variables_;
  std::map<std::string, std::map<uint16_t, KernelParameterInfo>> parameters_;  // by kernel, ordinal
  size_t attributes_ = 0;
};

}  // namespace

absl::StatusOr<uint32_t> CubinArchitecture(absl::string_view name, absl::string_view bytes) {
  return CubinReader(name, bytes).ReadHeader();
}

absl::StatusOr<CodeInfo> ReadCubin(absl::string_view name, absl::string_view bytes) {
  return CubinReader(name, bytes).Read();
}

}  // namespace weft::kernels
