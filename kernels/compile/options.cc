#include "kernels/compile/options.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"

namespace weft::kernels {
namespace {

constexpr absl::string_view kAllowed =
    "-DNAME[=VALUE], -UNAME, -std=c++14, -std=c++17, -std=c++20, --use_fast_math, --fmad=true, "
    "--fmad=false, "
    "-lineinfo, --maxrregcount=N, --extra-device-vectorization, --restrict";
constexpr std::array<absl::string_view, 10> kWords = {
    "std=c++14",     "std=c++17",          "std=c++20",
    "use_fast_math", "fmad=true",          "fmad=false",
    "lineinfo",      "generate-line-info", "extra-device-vectorization",
    "restrict"};
constexpr int kMaxRegisters = 255;  // of a thread, of every compute capability so far

bool IsPrintable(absl::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isprint(static_cast<unsigned char>(c)); });
}

bool IsIdentifier(absl::string_view text) {
  if (text.empty() || absl::ascii_isdigit(static_cast<unsigned char>(text[0]))) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
  });
}

bool IsAllowed(absl::string_view option) {
  if (option.size() > kMaxOptionBytes || !IsPrintable(option)) return false;
  if (absl::ConsumePrefix(&option, "-D")) return IsIdentifier(option.substr(0, option.find('=')));
  if (absl::ConsumePrefix(&option, "-U")) return IsIdentifier(option);
  if (!absl::ConsumePrefix(&option, "-")) return false;
  absl::ConsumePrefix(&option, "-");
  if (absl::ConsumePrefix(&option, "maxrregcount=")) {
    int registers = 0;
    return absl::SimpleAtoi(option, &registers) && registers >= 0 && registers <= kMaxRegisters;
  }
  return std::find(kWords.begin(), kWords.end(), option) != kWords.end();
}

}  // namespace

absl::Status CheckOptions(absl::Span<const std::string> options) {
  if (options.size() > kMaxOptions) {
    return absl::InvalidArgumentError(absl::StrCat(
        "there are ", options.size(), " compiler options; at most ", kMaxOptions, " are allowed"));
  }
  for (const std::string& option : options) {
    if (IsAllowed(option)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "the compiler option \"", absl::CHexEscape(option.substr(0, kMaxOptionBytes)),
        "\" is not allowed. Allowed, at ", kMaxOptionBytes, " bytes each: ", kAllowed));
  }
  return absl::OkStatus();
}

absl::Status CheckHeaderName(absl::string_view name) {
  const bool characters = std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("_./+-", c);
  });
  bool parts = true;
  for (const absl::string_view part : absl::StrSplit(name, '/'))
    parts = parts && !part.empty() && part != "." && part != "..";
  if (characters && parts && name.size() <= kMaxHeaderNameBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the header's name \"", absl::CHexEscape(name.substr(0, kMaxHeaderNameBytes)),
      "\" is not allowed: give a relative path of A-Z a-z 0-9 _ . / + - without \"..\", at most ",
      kMaxHeaderNameBytes, " bytes"));
}

absl::Status CheckEntry(absl::string_view entry) {
  const bool ends_text = entry.find_first_of("\"\\;{}#") != absl::string_view::npos;
  if (!entry.empty() && entry.size() <= kMaxEntryBytes && IsPrintable(entry) && !ends_text)
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the entry \"",
                                                 absl::CHexEscape(entry.substr(0, kMaxEntryBytes)),
                                                 "\" is no kernel's name: write it as in C++, such "
                                                 "as \"scale\" or \"ns::axpy<float>\", at most ",
                                                 kMaxEntryBytes, " bytes"));
}

absl::Status CheckSource(const CudaSource& source) {
  WEFT_RETURN_IF_ERROR(CheckOptions(source.options));
  for (const CudaSource::Header& header : source.headers)
    WEFT_RETURN_IF_ERROR(CheckHeaderName(header.name));
  for (const std::string& entry : source.entries) WEFT_RETURN_IF_ERROR(CheckEntry(entry));
  for (const std::string& name : source.variables) WEFT_RETURN_IF_ERROR(CheckEntry(name));
  if (source.entries.empty()) {
    return absl::InvalidArgumentError("no entry is named: list the kernels that are launched");
  }
  return absl::OkStatus();
}

}  // namespace weft::kernels
