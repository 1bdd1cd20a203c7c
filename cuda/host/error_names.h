// CUresult by name and with its text.
// Thread safety: pure functions.
#pragma once

#include <optional>

#include "absl/strings/string_view.h"
#include "cuda/host/cuda_api.h"

namespace weft::hostcuda {

// "CUDA_ERROR_OUT_OF_MEMORY", or null for a value that <cuda.h> does not name.
const char* ErrorName(CUresult error);
// A short text, or null for a value that <cuda.h> does not name.
const char* ErrorText(CUresult error);
// The error of this name, given without "CUDA_ERROR_".
std::optional<CUresult> ErrorByShortName(absl::string_view name);

}  // namespace weft::hostcuda
