// What a client may say to a compiler of kernels: an allow-list, so that no option names a file or a program.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kernels/compile/compiler.h"

namespace weft::kernels {

inline constexpr size_t kMaxOptions = 256;
inline constexpr size_t kMaxOptionBytes = 1024;
inline constexpr size_t kMaxHeaderNameBytes = 255;
inline constexpr size_t kMaxEntryBytes = 512;

// Allowed: -DNAME[=VALUE], -UNAME, -std=c++14, c++17 or c++20 (also --std=), --use_fast_math, --fmad=true or false,
// -lineinfo, --generate-line-info, --maxrregcount=N, --extra-device-vectorization, --restrict; those of two dashes with
// one as well. Errors: INVALID_ARGUMENT with the option and what is allowed.
absl::Status CheckOptions(absl::Span<const std::string> options);

// The name of a header as #include gives it: relative, of A-Z a-z 0-9 _ . / + -, without "." and ".." as a part.
// Errors: INVALID_ARGUMENT.
absl::Status CheckHeaderName(absl::string_view name);

// A kernel's name expression: printable, without what ends a line or a string. Errors: INVALID_ARGUMENT.
absl::Status CheckEntry(absl::string_view entry);

// All of the above, for a source that has at least one entry.
absl::Status CheckSource(const CudaSource& source);

}  // namespace weft::kernels
