// What PTX says of itself: its version and target, and the kernels and variables that it declares.
//
// Read by the grammar of the PTX ISA ("Module Directives", "Kernel and Function Directives") as far as
// declarations go; the instructions are skipped.
//
// Thread safety: pure functions. Linear in the text, which may be anything.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/compile/kernel_info.h"

namespace weft::kernels {

struct PtxHeader {
  uint32_t version_major = 0;  // .version
  uint32_t version_minor = 0;
  std::string target;  // .target: "sm_80", "sm_90a"

  // "compute_80": what nvcc calls the architecture of PTX for sm_80.
  std::string Architecture() const;
};

// `name`: of the module or file, for messages. Errors: INVALID_ARGUMENT.
absl::StatusOr<PtxHeader> ReadPtxHeader(absl::string_view name, absl::string_view text);

// Kernels have no resources: those are known once it is compiled. Errors: INVALID_ARGUMENT.
absl::StatusOr<CodeInfo> ReadPtx(absl::string_view name, absl::string_view text);

}  // namespace weft::kernels
