#include "graph/build/errors.h"

#include "absl/strings/str_cat.h"

namespace weft::build {

absl::Status ParameterCountError(absl::string_view entry, size_t given, size_t declared) {
  return absl::InvalidArgumentError(
      absl::StrCat("kernel \"", entry, "\" takes ", declared, " parameters, and the job gives ",
                   given, "; give one for each, in the order of its ", "declaration"));
}

absl::Status ParameterSizeError(absl::string_view entry, size_t index, size_t given_bytes,
                                size_t declared_bytes) {
  return absl::InvalidArgumentError(absl::StrCat(
      "parameter ", index, " of kernel \"", entry, "\" has ", declared_bytes,
      " bytes, and the job gives ", given_bytes, "; give it the type that the kernel declares"));
}

absl::Status BlockTooLargeError(absl::string_view entry, uint64_t threads, uint32_t limit,
                                uint32_t registers) {
  return absl::InvalidArgumentError(absl::StrCat(
      "kernel \"", entry, "\" runs with at most ", limit, " threads in a block (it uses ",
      registers, " registers a thread), and the job asks for ", threads,
      "; make the block smaller, or compile with fewer registers (--maxrregcount)"));
}

absl::Status SharedMemoryError(absl::string_view entry, uint32_t static_bytes,
                               uint32_t dynamic_bytes) {
  return absl::InvalidArgumentError(absl::StrCat(
      "kernel \"", entry, "\" has ", static_bytes,
      " bytes of static shared memory, and the job asks ", "for ", dynamic_bytes,
      " more, which is above the device's limit; use less (weft devices ", "shows the limit)"));
}

absl::Status GridTooLargeError(absl::string_view entry, uint64_t blocks, uint64_t limit) {
  return absl::InvalidArgumentError(absl::StrCat(
      "kernel \"", entry, "\" is cooperative with ", blocks, " blocks, and the device holds ",
      limit, " of them at once; launch fewer blocks, each of which does more"));
}

absl::Status VariableTooSmallError(absl::string_view symbol, uint64_t variable_bytes,
                                   uint64_t offset_bytes, uint64_t size_bytes) {
  return absl::InvalidArgumentError(absl::StrCat("variable \"", symbol, "\" has ", variable_bytes,
                                                 " bytes, and the job sets ", size_bytes,
                                                 " from offset ", offset_bytes, " on; set fewer"));
}

}  // namespace weft::build
