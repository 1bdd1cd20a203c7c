// Whether bytes that a job brings along are whole: the driver takes their sizes from themselves and
// would read past the end of a truncated image.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace weft::kernels {

// `module`: its name, for messages. Errors: INVALID_ARGUMENT.
absl::Status CheckPtx(absl::string_view module, const std::string& bytes);
// An ELF file of 64 bits for NVIDIA's machine whose tables and sections lie within it.
absl::Status CheckCubin(absl::string_view module, const std::string& bytes);
// The header of a fatbin (fatbinary_section.h of the CUDA Toolkit) and the size that it states.
absl::Status CheckFatbin(absl::string_view module, const std::string& bytes);

}  // namespace weft::kernels
