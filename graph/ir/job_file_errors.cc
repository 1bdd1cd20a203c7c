// The part of errors.h that is about files of jobs.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/ir/errors.h"
#include "kernels/nearest_name.h"

namespace weft::ir {
namespace {

std::string At(TextPlace place) {
  return absl::StrCat("line ", place.line, ", column ", place.column, ": ");
}

}  // namespace

absl::Status UnknownFileEnding(absl::string_view path) {
  return absl::InvalidArgumentError(
      absl::StrCat(Quote(path), " has no ending of a job file; use .textproto or .pbtxt (text), ",
                   ".json (proto3 JSON) or .binpb (binary)"));
}

absl::Status JobFileEmpty() {
  return absl::InvalidArgumentError(
      "the job file is empty; a job has at least a node, such as: nodes { name: \"n\" empty {} }");
}

absl::Status JobFileTooLarge(uint64_t size_bytes, uint64_t limit_bytes) {
  return absl::InvalidArgumentError(
      absl::StrCat("the job file has ", size_bytes, " bytes; the limit is ", limit_bytes,
                   ". Put large data into buffers (weft put) instead of inline bytes, or raise ",
                   "max_job_bytes of the server"));
}

absl::Status JobFileNotUtf8(TextPlace place, uint8_t byte) {
  return absl::InvalidArgumentError(
      absl::StrCat(At(place), absl::StrFormat("byte 0x%02x is not UTF-8 text", byte),
                   "; save the file as UTF-8, or name it .binpb if it is binary"));
}

absl::Status JobFileTextNotUtf8(TextPlace place, absl::string_view path, absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat(At(place), "field ", path, " is ", Quote(text),
                   ", whose escapes do not make UTF-8 text; correct them"));
}

absl::Status JobFileSyntax(TextPlace place, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(At(place), what));
}

absl::Status JobFileUnknownName(TextPlace place, absl::string_view kind, absl::string_view owner,
                                absl::string_view name, absl::string_view nearest) {
  return absl::InvalidArgumentError(
      absl::StrCat(At(place), owner, " has no ", kind, " ", Quote(name),
                   nearest.empty() ? "; see docs/job-format.md"
                                   : absl::StrCat(".", kernels::DidYouMean(nearest))));
}

absl::Status JobFileTooDeep(TextPlace place, int limit) {
  return absl::InvalidArgumentError(absl::StrCat(At(place), "more than ", limit,
                                                 " levels of nesting; a job needs no more than 7"));
}

absl::Status JobFileRepeatedField(TextPlace place, absl::string_view field) {
  return absl::InvalidArgumentError(
      absl::StrCat(At(place), "field ", Quote(field), " is given twice; leave one out"));
}

absl::Status JobFileExcludedField(TextPlace place, absl::string_view field,
                                  absl::string_view earlier) {
  return absl::InvalidArgumentError(absl::StrCat(At(place), "field ", Quote(field),
                                                 " excludes field ", Quote(earlier),
                                                 ", which is given too; leave one out"));
}

absl::Status JobFileBadValue(TextPlace place, absl::string_view field, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(At(place), "field ", Quote(field), " ", what));
}

absl::Status JobFileNotBinary(absl::string_view hint) {
  return absl::InvalidArgumentError(
      absl::StrCat("the file is not a weft.v1.Job in binary form (cut off, damaged, nested too ",
                   "deeply, or another message)", hint));
}

absl::Status JobFileUnknownNumber(absl::string_view path, int field_number) {
  return absl::InvalidArgumentError(
      absl::StrCat(path.empty() ? "the job" : path, " has an unknown field number ", field_number,
                   "; the file is damaged, another message, or made for a newer version of Weft"));
}

}  // namespace weft::ir
