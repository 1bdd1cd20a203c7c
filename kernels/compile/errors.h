// What can go wrong with code that a job brings along: one function an error.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace weft::kernels {

// The compiler's own lines, cut to kMaxLogBytes.
absl::Status CompileError(absl::string_view module, absl::string_view log);
// A call of the compiler that failed for another reason than the source.
absl::Status CompilerFailedError(absl::string_view why);
absl::Status UnknownEntryError(absl::string_view module, absl::string_view entry);
absl::Status UnknownVariableError(absl::string_view module, absl::string_view variable);
absl::Status NoNvrtcError();

// Bytes that are no PTX, cubin or fatbin (`kind`), or are cut short.
absl::Status BadImageError(absl::string_view module, absl::string_view kind, absl::string_view why);

// An image of a fatbin whose content is not read because it is compressed.
absl::Status CompressedImageError(absl::string_view module, absl::string_view architecture);

}  // namespace weft::kernels
