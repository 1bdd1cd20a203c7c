#include "client/cli/errors.h"

#include <cstring>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "client/cli/output.h"
#include "kernels/nearest_name.h"

namespace weft::cli {
namespace {

constexpr char kCannotWriteUrl[] = "weft.dev/output-file";

// strerror is not safe beside other threads; errno's text by way of absl is.
std::string ErrnoText(int error_number) {
  const absl::Status status = absl::ErrnoToStatus(error_number, "");
  std::string text(status.message());
  return text.substr(text.find_first_not_of(": "));
}

}  // namespace

absl::Status CannotReadError(const std::string& path, int error_number) {
  const std::string why = ErrnoText(error_number);
  return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be read: ", why));
}

absl::Status FileTooLargeError(const std::string& path, uint64_t max_bytes) {
  const std::string limit = FormatBytes(max_bytes);
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": has more than ", limit, ", the most that can be read"));
}

absl::Status CannotWriteError(const std::string& path, int error_number) {
  absl::Status status =
      absl::ErrnoToStatus(error_number, absl::StrCat(path, ": cannot be written"));
  status.SetPayload(kCannotWriteUrl, absl::Cord(path));
  return status;
}

bool IsCannotWrite(const absl::Status& status) {
  return status.GetPayload(kCannotWriteUrl).has_value();
}

absl::Status NpyDamagedError(const std::string& path, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": is not a readable .npy file: ", what, ". Write it with numpy.save"));
}

absl::Status NpyDataTypeError(const std::string& path, absl::string_view descr) {
  const std::string type = Printable(descr);
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": holds elements of NumPy type '", type,
                   "'; possible are f2, f4, f8, i1, i2, i4, i8, u1, u2, u4, u8, and V2 for bf16. ",
                   "Convert it with array.astype"));
}

absl::Status NpyByteOrderError(const std::string& path, absl::string_view descr) {
  const std::string type = Printable(descr);
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": is big-endian ('", type,
                   "'). Convert it with array.astype(array.dtype.newbyteorder('<'))"));
}

absl::Status NpyFortranOrderError(const std::string& path) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": is in Fortran order. Save it with numpy.save(file, ",
                   "numpy.ascontiguousarray(array))"));
}

absl::Status NpySizeError(const std::string& path, const ArrayType& type, uint64_t expected_bytes,
                          uint64_t got_bytes) {
  const std::string array = Describe(type);
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": says that it holds ", array, " = ", expected_bytes, " bytes, but has ",
                   got_bytes, " behind its header. It was cut off or added to: write it again"));
}

absl::Status NpyTooLargeError(const std::string& path, const ArrayType& type) {
  const std::string array = Describe(type);
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": says that it holds ", array,
                   ", which is more than 1 GiB, the most that a job can have"));
}

absl::Status PngDamagedError(const std::string& path, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": is not a readable PNG file: ", what, ". Write it again"));
}

absl::Status PngKindError(const std::string& path, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": is a PNG ", what, "; possible are 8-bit gray and 8-bit RGB. ",
      "Convert it, for example with `convert ", path, " -alpha off -depth 8 png24:out.png`"));
}

absl::Status PngTooLargeError(const std::string& path, uint32_t width, uint32_t height) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": has ", width, " × ", height,
                                                 " pixels, more than a picture of 256 MiB has. ",
                                                 "Use .npy"));
}

absl::Status PngTypeError(const std::string& path, const ArrayType& type) {
  const std::string array = Describe(type);
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": a PNG file holds u8 [height, width] or u8 [height, width, 3], not ",
                   array, ". Cast to u8 first, or write .npy instead"));
}

absl::Status ArchitectureSyntaxError(absl::string_view text) {
  const std::string given = Printable(text);
  return absl::InvalidArgumentError(
      absl::StrCat("--arch ", given, ": is no architecture; give one such as sm_90"));
}

absl::Status NoSourceError(const std::string& path) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": is no CUDA C++ source; only files that end in .cu are compiled"));
}

absl::Status CodeEndingError(const std::string& path) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": is neither .cubin nor .ptx; the ending says what to compile to"));
}

absl::Status BindingSyntaxError(absl::string_view option, absl::string_view text) {
  const absl::string_view name = option == "input" ? "NODE" : "NAME";
  return absl::InvalidArgumentError(
      absl::StrCat("--", option, " ", text, ": write --", option, " ", name, "=FILE"));
}

absl::Status NoSuchUploadError(absl::string_view name, absl::string_view nearest) {
  return absl::InvalidArgumentError(absl::StrCat("--input: the job has no upload node \"", name,
                                                 "\".", kernels::DidYouMean(nearest)));
}

absl::Status NoSuchOutputNameError(absl::string_view name, absl::string_view nearest) {
  return absl::InvalidArgumentError(absl::StrCat("--output: the job has no output \"", name, "\".",
                                                 kernels::DidYouMean(nearest)));
}

absl::Status BoundTwiceError(absl::string_view option, absl::string_view name) {
  return absl::InvalidArgumentError(
      absl::StrCat("--", option, " names \"", name, "\" twice: give it one file"));
}

FieldViolation InputTypeViolation(const std::string& field, const std::string& upload,
                                  const std::string& file, const ArrayType& got,
                                  const std::string& expected) {
  const std::string array = Describe(got);
  return {field,
          absl::StrCat("node \"", upload, "\": ", file, " holds ", array, ", but the node uploads ",
                       expected, ". Convert the file, or change the buffer in the job")};
}

FieldViolation InputSizeViolation(const std::string& field, const std::string& upload,
                                  const std::string& file, uint64_t got_bytes,
                                  uint64_t expected_bytes) {
  return {field, absl::StrCat("node \"", upload, "\": ", file, " has ", got_bytes,
                              " bytes, but the node uploads ", expected_bytes,
                              ". Use another file, or change the buffer in the job")};
}

FieldViolation InputFileViolation(const std::string& field, const std::string& upload,
                                  absl::string_view why) {
  return {field, absl::StrCat("node \"", upload, "\": ", why)};
}

FieldViolation ModuleFileViolation(const std::string& field, const std::string& module,
                                   absl::string_view why) {
  return {field, absl::StrCat("module \"", module, "\": ", why)};
}

FieldViolation ModuleEndingViolation(const std::string& field, const std::string& module,
                                     const std::string& file) {
  return {field, absl::StrCat("module \"", module, "\": the ending of ", file,
                              " says nothing of what it is; use .cu, .ptx, .cubin or .fatbin")};
}

FieldViolation OutputFileViolation(const std::string& field, const std::string& output,
                                   absl::string_view why) {
  return {field, absl::StrCat("output \"", output, "\": ", why)};
}

FieldViolation OutputCollisionViolation(const std::string& field, const std::string& output,
                                        const std::string& file, const std::string& other) {
  return {field, absl::StrCat("output \"", output, "\" would overwrite ", file, ", which is ",
                              other, ". Name another file with --output ", output, "=FILE")};
}

absl::Status ShapeSyntaxError(absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(
      "--shape ", text, ": write sizes separated by commas, outermost first, as in 480,640,3"));
}

absl::Status DataTypeNameError(absl::string_view text, absl::string_view nearest) {
  return absl::InvalidArgumentError(
      absl::StrCat("--dtype ", text, ": there is no such type.", kernels::DidYouMean(nearest),
                   " Types are f16, bf16, f32, f64, i8 to i64, ", "u8 to u64"));
}

absl::Status BufferMismatchError(const std::string& buffer, const std::string& file,
                                 const std::string& got, const std::string& expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(file, " holds ", got, ", but buffer \"", buffer, "\" is ", expected,
                   ". Use another name, or `weft delete ", buffer, "` first"));
}

absl::Status FileShapeError(const std::string& file, uint64_t bytes, const std::string& type) {
  return absl::InvalidArgumentError(absl::StrCat(
      file, " holds ", bytes, " bytes, which do not make ", type, ": correct --dtype or --shape"));
}

absl::Status NotProfiledError(const std::string& job) {
  return absl::FailedPreconditionError(
      absl::StrCat("job ", job, " was not profiled; submit it with --profile"));
}

absl::Status NotServingError(double seconds) {
  return absl::UnavailableError(
      absl::StrCat("weftd does not serve with all its devices after ", seconds,
                   " s: `weft status` and `weft devices` show what is missing, its log says why"));
}

absl::Status NoDaemonProgramError(const std::string& path) {
  return absl::UnavailableError(absl::StrCat(
      "there is no weftd at ", path, ", beside this program: install both into one folder"));
}

absl::Status DaemonStartError(absl::string_view log) {
  const absl::string_view words = log.empty() ? "(nothing)" : log;
  return absl::UnavailableError(absl::StrCat("the private weftd did not start. It said:\n", words));
}

absl::Status NoGraphvizError() {
  return absl::InvalidArgumentError(
      "--svg needs graphviz, and there is no program `dot`: install graphviz, or print the graph "
      "with --dot");
}

absl::Status GraphvizError(absl::string_view what) {
  return absl::InternalError(absl::StrCat("graphviz could not draw the plan: ", what));
}

}  // namespace weft::cli
