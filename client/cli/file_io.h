// Files of the command line: read whole with a bound, written whole or not at all.
//
// Errors name the file and say what to do. Thread safety: as the file system.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace weft::cli {

// The bytes of a file, a pipe or a device. INVALID_ARGUMENT for one that cannot be read, is a
// folder or has more than `max_bytes` (of which no more is read).
absl::StatusOr<std::string> ReadWholeFile(const std::string& path, uint64_t max_bytes);

// Writes `pieces`, one behind the other, to a new file beside `path` and renames it to `path`:
// readers see the old file or the whole new one. A symbolic link is followed; a pipe or a device is
// written to as it is. UNAVAILABLE never; other codes as errno says.
absl::Status WriteWholeFile(const std::string& path, absl::Span<const absl::string_view> pieces);

// `path` absolute, with links and ".." resolved as far as it exists: equal for two names of one
// file. (Not for hard links, which WriteWholeFile leaves alone: it replaces a name, not a content.)
std::string CanonicalPath(const std::string& path);

}  // namespace weft::cli
