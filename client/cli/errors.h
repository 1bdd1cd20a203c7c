// The errors of the command line, one function each; docs/errors.md has a section for each.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/error_context.h"
#include "client/cli/array_file.h"

namespace weft::cli {

// Files. CannotWriteError is marked so that ExitCodeOf tells it from the server's errors.
absl::Status CannotReadError(const std::string& path, int error_number);
absl::Status FileTooLargeError(const std::string& path, uint64_t max_bytes);
absl::Status CannotWriteError(const std::string& path, int error_number);
bool IsCannotWrite(const absl::Status& status);

// .npy
absl::Status NpyDamagedError(const std::string& path, absl::string_view what);
absl::Status NpyDataTypeError(const std::string& path, absl::string_view descr);
absl::Status NpyByteOrderError(const std::string& path, absl::string_view descr);
absl::Status NpyFortranOrderError(const std::string& path);
absl::Status NpySizeError(const std::string& path, const ArrayType& type, uint64_t got_bytes);

// .png
absl::Status PngDamagedError(const std::string& path, absl::string_view what);
absl::Status PngKindError(const std::string& path, absl::string_view kind);
absl::Status PngTooLargeError(const std::string& path, uint32_t width, uint32_t height);
absl::Status PngTypeError(const std::string& path, const ArrayType& type);

// Binding files to nodes and outputs.
absl::Status BindingSyntaxError(absl::string_view option, absl::string_view text);
absl::Status BindingNameError(absl::string_view option, absl::string_view name,
                              absl::string_view nearest);
absl::Status BoundTwiceError(absl::string_view option, absl::string_view name);
FieldViolation InputTypeViolation(const std::string& field, const std::string& node,
                                  const std::string& file, const ArrayType& got,
                                  const std::string& expected);
FieldViolation InputSizeViolation(const std::string& field, const std::string& node,
                                  const std::string& file, uint64_t got_bytes,
                                  uint64_t expected_bytes);
FieldViolation InputFileViolation(const std::string& field, const std::string& node,
                                  const absl::Status& why);
FieldViolation OutputFileViolation(const std::string& field, const std::string& output,
                                   const absl::Status& why);
FieldViolation OutputCollisionViolation(const std::string& field, const std::string& output,
                                        const std::string& file, const std::string& other);

// Options.
absl::Status ShapeSyntaxError(absl::string_view text);
absl::Status DataTypeNameError(absl::string_view text, absl::string_view nearest);
absl::Status BufferMismatchError(const std::string& buffer, const std::string& file,
                                 const std::string& got, const std::string& expected);

// Programs that the command line starts.
absl::Status NoDaemonProgramError(const std::string& path);
absl::Status DaemonStartError(absl::string_view log);
absl::Status NoGraphvizError();
absl::Status GraphvizError(absl::string_view what);

}  // namespace weft::cli
