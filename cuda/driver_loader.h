// Finds and opens the library of a driver and fills the table of its functions.
//
// Where a library is looked for, in order; the first file that exists is taken, and an error in it
// is an error (a broken driver is never hidden by another one further down):
//   1. DriverOptions::library_path, when it is not empty: nothing else is tried;
//   2. kHost only: ../lib and ../../lib beside the running program (installed and build tree);
//   3. the dynamic loader's own path (LD_LIBRARY_PATH, rpath, ld.so.conf).
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cuda/driver.h"

namespace weft::cuda {

struct DriverOptions {
  DriverKind kind = DriverKind::kCuda;
  std::string library_path;  // empty: search
};

// The oldest driver that has every required function, in cuGetProcAddress numbering. CUDA 12.0
// brought the second kernel-node and exec-update signatures that the list names.
inline constexpr int kMinDriverVersion = 12000;

// "cuda" or "host"; INVALID_ARGUMENT for another text.
absl::StatusOr<DriverKind> ParseDriverKind(absl::string_view text);
absl::string_view DriverKindName(DriverKind kind);

// Opens the library and resolves every function at its pinned version. Calls no driver function but
// cuGetProcAddress; in particular not cuInit, so the process may still fork.
// Errors: NOT_FOUND (no library; the text lists where it was looked for and what to install),
// FAILED_PRECONDITION (the library is no driver, cannot be opened, or is too old; the text names
// each missing function).
absl::StatusOr<std::unique_ptr<const Driver>> LoadDriver(const DriverOptions& options);

// cuInit, and a check of the driver's version. Once per process, before any handle is made; a
// second call does nothing. After it the process must not fork and go on using the driver in the
// child. Errors: NOT_FOUND (no device), FAILED_PRECONDITION (version), or what the driver says.
absl::Status InitializeDriver(const Driver& driver);

// Gives the CPU driver its settings ("devices=2;workers=4;fault=…", see cuda/host/README.md).
// REQUIRES: before InitializeDriver. Errors: FAILED_PRECONDITION when `driver` is not the CPU
// driver or is already initialised; INVALID_ARGUMENT when the text is malformed.
absl::Status ConfigureHostDriver(const Driver& driver, const std::string& settings);

}  // namespace weft::cuda
