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

// ---- Files ------------------------------------------------------------------------------------
// A file that was named is not there, may not be read, or is a folder.
absl::Status CannotReadError(const std::string& path, int error_number);
// A file is larger than any job may be.
absl::Status FileTooLargeError(const std::string& path, uint64_t max_bytes);
// A file could not be written (exit status 8); the one that was there before is as it was.
absl::Status CannotWriteError(const std::string& path, int error_number);
// True for CannotWriteError, whose code is that of the system's error.
bool IsCannotWrite(const absl::Status& status);

// ---- .npy -------------------------------------------------------------------------------------
// A file that ends in .npy is not one, or its header is not as NumPy writes it.
absl::Status NpyDamagedError(const std::string& path, absl::string_view what);
// The elements of a .npy file have a type that jobs do not have.
absl::Status NpyDataTypeError(const std::string& path, absl::string_view descr);
// A .npy file is big-endian; jobs are little-endian.
absl::Status NpyByteOrderError(const std::string& path, absl::string_view descr);
// A .npy file is column-major; jobs are row-major.
absl::Status NpyFortranOrderError(const std::string& path);
// A .npy file has fewer or more bytes than its header says.
absl::Status NpySizeError(const std::string& path, const ArrayType& type, uint64_t expected_bytes,
                          uint64_t got_bytes);
// A .npy file says that it has more than any job may have.
absl::Status NpyTooLargeError(const std::string& path, const ArrayType& type);

// ---- .png -------------------------------------------------------------------------------------
// A file that ends in .png is not one, is cut off, or a checksum in it is wrong.
absl::Status PngDamagedError(const std::string& path, absl::string_view what);
// A PNG has a palette, an alpha channel, 16 bits a channel, or fewer than 8: its values would not
// arrive as they are.
absl::Status PngKindError(const std::string& path, absl::string_view what);
// A picture has more pixels than the decoder may take memory for.
absl::Status PngTooLargeError(const std::string& path, uint32_t width, uint32_t height);
// A .png file cannot hold the output that is bound to it.
absl::Status PngTypeError(const std::string& path, const ArrayType& type);

// ---- Code of one's own ------------------------------------------------------------------------
// The value of --arch is no architecture.
absl::Status ArchitectureSyntaxError(absl::string_view text);
// What is to be compiled does not end in .cu.
absl::Status NoSourceError(const std::string& path);
// Compiled code is to be written to a file of another ending than .cubin and .ptx.
absl::Status CodeEndingError(const std::string& path);

// ---- Binding files to nodes and outputs ---------------------------------------------------------
// The value of --input or --output has no name, no "=" or no file.
absl::Status BindingSyntaxError(absl::string_view option, absl::string_view text);
// --input names something that is no upload node.
absl::Status NoSuchUploadError(absl::string_view name, absl::string_view nearest);
// --output names something that is no output.
absl::Status NoSuchOutputNameError(absl::string_view name, absl::string_view nearest);
// --input or --output gives one name two files.
absl::Status BoundTwiceError(absl::string_view option, absl::string_view name);
// The array in a file has another type or shape than the view that it is uploaded into. (Sizes of 1
// do not count.)
FieldViolation InputTypeViolation(const std::string& field, const std::string& upload,
                                  const std::string& file, const ArrayType& got,
                                  const std::string& expected);
// A file of raw bytes has another size than the view that it is uploaded into.
FieldViolation InputSizeViolation(const std::string& field, const std::string& upload,
                                  const std::string& file, uint64_t got_bytes,
                                  uint64_t expected_bytes);
// The file of an upload cannot be read, for one of the reasons above.
FieldViolation InputFileViolation(const std::string& field, const std::string& upload,
                                  absl::string_view why);
// The code of a module cannot be had from its file.
FieldViolation ModuleFileViolation(const std::string& field, const std::string& module,
                                   absl::string_view why);
FieldViolation ModuleEndingViolation(const std::string& field, const std::string& module,
                                     const std::string& file);
// The file of an output cannot hold it, for one of the reasons above.
FieldViolation OutputFileViolation(const std::string& field, const std::string& output,
                                   absl::string_view why);
// An output would be written over the job file, an input of the job or another output.
FieldViolation OutputCollisionViolation(const std::string& field, const std::string& output,
                                        const std::string& file, const std::string& other);

// ---- Options ------------------------------------------------------------------------------------
// The value of --shape is no list of sizes.
absl::Status ShapeSyntaxError(absl::string_view text);
// The value of --dtype is no type.
absl::Status DataTypeNameError(absl::string_view text, absl::string_view nearest);
// `weft put` was given a file that does not fit the buffer of that name.
absl::Status BufferMismatchError(const std::string& buffer, const std::string& file,
                                 const std::string& got, const std::string& expected);

// `weft put`: raw bytes that are not as many as --dtype and --shape say.
absl::Status FileShapeError(const std::string& file, uint64_t bytes, const std::string& type);

// `weft status --wait` is over, and weftd answers but does not serve.
absl::Status NotServingError(double seconds);

// `weft trace` of a job whose nodes were not measured.
absl::Status NotProfiledError(const std::string& job);

// ---- Programs that weft starts ------------------------------------------------------------------
// `weft run --local` finds no weftd beside itself.
absl::Status NoDaemonProgramError(const std::string& path);
// The weftd of `weft run --local` ended, or was not ready in two minutes; `log` is what it said.
absl::Status DaemonStartError(absl::string_view log);
// `weft plan --svg` needs graphviz.
absl::Status NoGraphvizError();
// Graphviz was started and failed: draw fewer nodes with --max-nodes, or look at --dot.
absl::Status GraphvizError(absl::string_view what);

}  // namespace weft::cli
