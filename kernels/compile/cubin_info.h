// Reads machine code of NVIDIA's (a cubin: an ELF file) as data: which kernels it has, their
// parameters and what a thread and a block of them take. No driver and no tool of the toolkit is
// needed.
//
// The parts that NVIDIA does not document (the attributes in sections .nv.info) are as cuobjdump and
// nvdisasm print them and as the files of nvcc 11 to 13 have them, for compute capabilities 7.5 to
// 12.0. An attribute that is not known is skipped by its size.
//
// Thread safety: pure functions. Linear in the file. The bytes may be anything: what does not lie
// within them is an error.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/compile/kernel_info.h"

namespace weft::kernels {

// The compute capability that a cubin is for, as 10 × major + minor: 90 for sm_90.
// `name`: of the module or file, for messages. Errors: INVALID_ARGUMENT.
absl::StatusOr<uint32_t> CubinArchitecture(absl::string_view name, absl::string_view bytes);

// Errors: INVALID_ARGUMENT: no cubin, cut short, or tables that contradict each other.
absl::StatusOr<CodeInfo> ReadCubin(absl::string_view name, absl::string_view bytes);

}  // namespace weft::kernels
