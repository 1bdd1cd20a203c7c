#include "client/cli/npy.h"

#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "client/cli/errors.h"

namespace weft::cli {
namespace {

using kernels::DType;

constexpr absl::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kAlignment = 64;
constexpr size_t kMaxDimensions = 32;  // NumPy's own limit

struct DTypeCode {
  const char* code;  // NumPy's kind and size
  DType dtype;
};
constexpr DTypeCode kCodes[] = {
    {"f2", DType::kF16}, {"V2", DType::kBF16}, {"f4", DType::kF32}, {"f8", DType::kF64},
    {"i1", DType::kI8},  {"u1", DType::kU8},   {"i2", DType::kI16}, {"u2", DType::kU16},
    {"i4", DType::kI32}, {"u4", DType::kU32},  {"i8", DType::kI64}, {"u8", DType::kU64},
};

// Reads the tokens of a header's dictionary, of which only texts, booleans and tuples of integers
// can occur.
class Scanner {
 public:
  explicit Scanner(absl::string_view text) : rest_(text) {}

  // Skips spaces; true and past it when `c` is next.
  bool Take(char c) {
    SkipSpaces();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool TakeWord(absl::string_view word) {
    SkipSpaces();
    if (rest_.substr(0, word.size()) != word) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  // A text in single or double quotes, without escapes.
  std::optional<absl::string_view> TakeText() {
    SkipSpaces();
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) return std::nullopt;
    const size_t end = rest_.find(rest_.front(), 1);
    if (end == absl::string_view::npos) return std::nullopt;
    const absl::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::optional<int64_t> TakeInteger() {
    SkipSpaces();
    size_t digits = 0;
    while (digits < rest_.size() &&
           absl::ascii_isdigit(static_cast<unsigned char>(rest_[digits]))) {
      ++digits;
    }
    int64_t value = 0;
    if (!absl::SimpleAtoi(rest_.substr(0, digits), &value)) return std::nullopt;
    rest_.remove_prefix(digits);
    if (!rest_.empty() && rest_.front() == 'L') rest_.remove_prefix(1);  // Python 2
    return value;
  }
  bool AtEnd() {
    SkipSpaces();
    return rest_.empty();
  }

 private:
  void SkipSpaces() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }
  absl::string_view rest_;
};

struct Dictionary {
  bool has_descr = false;
  std::string descr;  // not std::optional: GCC 12 at -O3 takes its text for uninitialised
  std::optional<bool> fortran_order;
  std::optional<std::vector<int64_t>> shape;
};

// "(480, 640)", "(3,)" or "()".
std::optional<std::vector<int64_t>> TakeShape(Scanner& scanner) {
  if (!scanner.Take('(')) return std::nullopt;
  std::vector<int64_t> shape;
  while (!scanner.Take(')')) {
    const std::optional<int64_t> extent = scanner.TakeInteger();
    if (!extent.has_value() || shape.size() == kMaxDimensions) return std::nullopt;
    shape.push_back(*extent);
    if (scanner.Take(',')) continue;
    if (scanner.Take(')')) break;
    return std::nullopt;
  }
  return shape;
}

// One value of the dictionary; false when it is not of the kind that `key` has.
bool TakeEntry(absl::string_view key, Scanner& scanner, Dictionary& dictionary) {
  if (key == "descr" && !dictionary.has_descr) {
    const std::optional<absl::string_view> descr = scanner.TakeText();
    if (descr.has_value()) dictionary.descr.assign(descr->data(), descr->size());
    dictionary.has_descr = descr.has_value();
    return dictionary.has_descr;
  }
  if (key == "fortran_order" && !dictionary.fortran_order.has_value()) {
    if (scanner.TakeWord("True")) {
      dictionary.fortran_order = true;
    } else if (scanner.TakeWord("False")) {
      dictionary.fortran_order = false;
    }
    return dictionary.fortran_order.has_value();
  }
  if (key == "shape" && !dictionary.shape.has_value()) {
    dictionary.shape = TakeShape(scanner);
    return dictionary.shape.has_value();
  }
  return false;
}

absl::StatusOr<Dictionary> ParseDictionary(const std::string& path, absl::string_view text) {
  Scanner scanner(text);
  Dictionary dictionary;
  if (!scanner.Take('{')) return NpyDamagedError(path, "its header is no dictionary");
  while (!scanner.Take('}')) {
    const std::optional<absl::string_view> key = scanner.TakeText();
    if (!key.has_value() || !scanner.Take(':')) {
      return NpyDamagedError(path, "its header is not as NumPy writes it");
    }
    if (!TakeEntry(*key, scanner, dictionary)) {
      return *key == "descr"
                 ? NpyDamagedError(path, "it holds records; only plain numbers are possible")
                 : NpyDamagedError(path, absl::StrCat("the entry '", *key, "' of its header"));
    }
    scanner.Take(',');
  }
  if (!scanner.AtEnd()) return NpyDamagedError(path, "its header goes on behind the dictionary");
  if (!dictionary.has_descr || !dictionary.fortran_order || !dictionary.shape) {
    return NpyDamagedError(path, "its header lacks descr, fortran_order or shape");
  }
  return dictionary;
}

absl::StatusOr<DType> ParseDescr(const std::string& path, absl::string_view descr) {
  if (descr.size() < 2) return NpyDataTypeError(path, descr);
  const char order = descr.front();
  if (order != '<' && order != '|' && order != '>') return NpyDataTypeError(path, descr);
  for (const DTypeCode& code : kCodes) {
    if (descr.substr(1) != code.code) continue;
    if (order == '>' && kernels::SizeOf(code.dtype) > 1) return NpyByteOrderError(path, descr);
    return code.dtype;
  }
  return NpyDataTypeError(path, descr);
}

// The bytes of the dictionary and where the elements start.
struct Frame {
  absl::string_view dictionary;
  size_t header_bytes = 0;
};

absl::StatusOr<Frame> ParseFrame(const std::string& path, absl::string_view file) {
  if (file.substr(0, kMagic.size()) != kMagic || file.size() < 12) {
    return NpyDamagedError(path, "it does not start as one");
  }
  const auto byte = [&file](size_t i) {
    return static_cast<size_t>(static_cast<uint8_t>(file[i]));
  };
  const size_t version = byte(6);
  if (version < 1 || version > 3) {
    return NpyDamagedError(path, absl::StrCat("it has format version ", version));
  }
  size_t length = byte(8) | byte(9) << 8;
  size_t start = 10;
  if (version > 1) {
    length |= byte(10) << 16 | byte(11) << 24;
    start = 12;
  }
  if (length > kMaxNpyHeaderBytes || length > file.size() - start) {
    return NpyDamagedError(path, absl::StrCat("its header claims ", length, " bytes"));
  }
  return Frame{file.substr(start, length), start + length};
}

}  // namespace

absl::StatusOr<NpyHeader> ParseNpyHeader(const std::string& path, absl::string_view file) {
  WEFT_ASSIGN_OR_RETURN(const Frame frame, ParseFrame(path, file));
  WEFT_ASSIGN_OR_RETURN(Dictionary dictionary, ParseDictionary(path, frame.dictionary));
  WEFT_ASSIGN_OR_RETURN(const DType dtype, ParseDescr(path, dictionary.descr));
  NpyHeader header = {{dtype, std::move(*dictionary.shape)}, frame.header_bytes};
  // With one dimension both orders are the same bytes.
  if (*dictionary.fortran_order && header.type.shape.size() > 1) return NpyFortranOrderError(path);
  const uint64_t got_bytes = file.size() - header.header_bytes;
  const std::optional<uint64_t> expected_bytes = BytesOf(header.type);
  if (!expected_bytes.has_value()) return NpyTooLargeError(path, header.type);
  if (*expected_bytes != got_bytes) {
    return NpySizeError(path, header.type, *expected_bytes, got_bytes);
  }
  return header;
}

std::string MakeNpyHeader(const ArrayType& type) {
  const char* code = "";
  for (const DTypeCode& candidate : kCodes) {
    if (candidate.dtype == type.dtype) code = candidate.code;
  }
  const bool has_order = kernels::SizeOf(type.dtype) > 1 && type.dtype != DType::kBF16;
  // A tuple of one needs its comma.
  const char* tail = type.shape.size() == 1 ? ",)" : ")";
  std::string dictionary = absl::StrCat("{'descr': '", has_order ? "<" : "|", code,
                                        "', 'fortran_order': False, 'shape': (",
                                        absl::StrJoin(type.shape, ", "), tail, ", }");
  constexpr size_t kFrameBytes = 10;
  const size_t unpadded = kFrameBytes + dictionary.size() + 1;
  dictionary.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  dictionary.push_back('\n');
  std::string header(kMagic);
  header.append({1, 0, static_cast<char>(dictionary.size() & 0xff),
                 static_cast<char>(dictionary.size() >> 8)});
  return header + dictionary;
}

}  // namespace weft::cli
