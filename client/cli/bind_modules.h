// The code of a job's modules, from the files that they name.
//
// Thread safety: none; the main thread alone.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/bind_files.h"

namespace weft::cli {

// Puts the bytes of files into the modules that name one (Module.file), as what the file's ending
// says: .cu, .ptx, .cubin or .fatbin. Gives the files that were read. INVALID_ARGUMENT with a field
// violation for each module whose file cannot be read or has another ending.
absl::StatusOr<std::vector<std::string>> BindModules(JobFile& file);

}  // namespace weft::cli
