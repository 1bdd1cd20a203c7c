// How much thread_local memory a shared object wants.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace weft::kernels {

// Of each thread that uses the object, in bytes. 0 for what is no ELF file of this machine's word size.
uint64_t ThreadLocalBytes(absl::string_view elf);

}  // namespace weft::kernels
