#include "graph/ir/json_lexer.h"

#include <iterator>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/ir/errors.h"
#include "graph/ir/text_place.h"

namespace weft::ir {
namespace {

constexpr absl::string_view kByteOrderMark = "\xef\xbb\xbf";

// Length of the number (RFC 8259 §6) at the start of `text`; 0 when there is none.
size_t NumberLength(absl::string_view text) {
  size_t at = 0;
  const auto digits = [&] {
    const size_t begin = at;
    while (at < text.size() && absl::ascii_isdigit(text[at])) ++at;
    return at - begin;
  };
  if (at < text.size() && text[at] == '-') ++at;
  const bool leading_zero = at < text.size() && text[at] == '0';
  const size_t whole = digits();
  if (whole == 0 || (leading_zero && whole > 1)) return 0;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (digits() == 0) return 0;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return 0;
  }
  return at;
}

void AppendUtf8(uint32_t code, std::string& out) {
  const auto byte = [&out](uint32_t value) { out.push_back(static_cast<char>(value)); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xc0 | code >> 6);
    byte(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    byte(0xe0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3f));
    byte(0x80 | (code & 0x3f));
  } else {
    byte(0xf0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3f));
    byte(0x80 | (code >> 6 & 0x3f));
    byte(0x80 | (code & 0x3f));
  }
}

std::optional<JsonToken::Kind> PunctuationKind(char c) {
  switch (c) {
    case '{':
      return JsonToken::Kind::kBeginObject;
    case '}':
      return JsonToken::Kind::kEndObject;
    case '[':
      return JsonToken::Kind::kBeginArray;
    case ']':
      return JsonToken::Kind::kEndArray;
    case ':':
      return JsonToken::Kind::kColon;
    case ',':
      return JsonToken::Kind::kComma;
    default:
      return std::nullopt;
  }
}

}  // namespace

absl::string_view Describe(JsonToken::Kind kind) {
  constexpr absl::string_view kTexts[] = {"\"{\"", "\"}\"", "\"[\"",    "\"]\"",
                                          "\":\"", "\",\"", "a string", "a number",
                                          "true",  "false", "null",     "the end of the file"};
  static_assert(std::size(kTexts) == static_cast<size_t>(JsonToken::Kind::kEnd) + 1);
  return kTexts[static_cast<size_t>(kind)];
}

JsonLexer::JsonLexer(absl::string_view text)
    : text_(text),
      at_(text.substr(0, kByteOrderMark.size()) == kByteOrderMark ? kByteOrderMark.size() : 0) {}

absl::Status JsonLexer::ErrorAt(size_t offset, absl::string_view what) const {
  return JobFileSyntax(PlaceOf(text_, offset), what);
}

absl::Status JsonLexer::Next(JsonToken& token) {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
    ++at_;
  }
  token.offset = at_;
  token.text.clear();
  if (at_ == text_.size()) {
    token.kind = JsonToken::Kind::kEnd;
    return absl::OkStatus();
  }
  const char c = text_[at_];
  if (const std::optional<JsonToken::Kind> kind = PunctuationKind(c); kind.has_value()) {
    ++at_;
    token.kind = *kind;
    return absl::OkStatus();
  }
  if (c == '"') return String(token);
  if (c == '-' || absl::ascii_isdigit(c)) return Number(token);
  return Word(token);
}

absl::Status JsonLexer::Word(JsonToken& token) {
  size_t end = at_;
  while (end < text_.size() && (absl::ascii_isalnum(text_[end]) || text_[end] == '_')) ++end;
  const absl::string_view word = text_.substr(at_, end - at_);
  at_ = end;
  if (word == "true") {
    token.kind = JsonToken::Kind::kTrue;
  } else if (word == "false") {
    token.kind = JsonToken::Kind::kFalse;
  } else if (word == "null") {
    token.kind = JsonToken::Kind::kNull;
  } else if (word.empty()) {
    return ErrorAt(token.offset, absl::StrCat(Quote(text_.substr(token.offset, 1)),
                                              " is not JSON; strings take double quotes"));
  } else {
    return ErrorAt(token.offset,
                   absl::StrCat(Quote(word), " is not JSON; names and strings take double quotes",
                                ", and NaN and Infinity are strings"));
  }
  return absl::OkStatus();
}

absl::Status JsonLexer::Number(JsonToken& token) {
  const size_t length = NumberLength(text_.substr(at_));
  const size_t end = at_ + length;
  const bool runs_on = end < text_.size() && (absl::ascii_isalnum(text_[end]) || text_[end] == '.');
  if (length == 0 || runs_on) return ErrorAt(at_, "this is not a number of JSON");
  token.kind = JsonToken::Kind::kNumber;
  token.text.assign(text_.data() + at_, length);
  at_ = end;
  return absl::OkStatus();
}

absl::Status JsonLexer::String(JsonToken& token) {
  token.kind = JsonToken::Kind::kString;
  ++at_;
  while (at_ < text_.size()) {
    size_t plain = at_;
    while (plain < text_.size() && text_[plain] != '"' && text_[plain] != '\\' &&
           static_cast<uint8_t>(text_[plain]) >= 0x20) {
      ++plain;
    }
    token.text.append(text_.data() + at_, plain - at_);
    at_ = plain;
    if (at_ == text_.size()) break;
    if (text_[at_] == '"') {
      ++at_;
      return absl::OkStatus();
    }
    if (text_[at_] != '\\') {
      return ErrorAt(at_, "a control character inside a string; write it as \\n, \\t or \\u00xx");
    }
    WEFT_RETURN_IF_ERROR(Escape(token.text));
  }
  return ErrorAt(token.offset, "this string has no end");
}

absl::Status JsonLexer::Escape(std::string& out) {
  const size_t begin = at_++;
  if (at_ == text_.size()) return absl::OkStatus();  // String reports the missing end
  constexpr absl::string_view kNames = "\"\\/bfnrt";
  constexpr absl::string_view kValues = "\"\\/\b\f\n\r\t";
  const char c = text_[at_++];
  if (c == 'u') {
    at_ = begin;
    return UnicodeEscape(out);
  }
  const size_t index = kNames.find(c);
  if (index == absl::string_view::npos) {
    return ErrorAt(begin,
                   "JSON has no such escape; use one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u");
  }
  out.push_back(kValues[index]);
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> JsonLexer::HexDigits() {
  const absl::string_view digits = text_.substr(at_, 6);
  uint32_t code = 0;
  if (digits.size() < 6 || digits[0] != '\\' || digits[1] != 'u') {
    return ErrorAt(at_, "half of a surrogate pair; write both halves as \\uxxxx\\uxxxx");
  }
  for (const char c : digits.substr(2)) {
    if (!absl::ascii_isxdigit(c)) return ErrorAt(at_, "\\u takes four hexadecimal digits");
    const char lower = absl::ascii_tolower(c);
    code = code << 4 | static_cast<uint32_t>(lower <= '9' ? lower - '0' : lower - 'a' + 10);
  }
  at_ += 6;
  return code;
}

absl::Status JsonLexer::UnicodeEscape(std::string& out) {
  const size_t begin = at_;
  if (text_.size() - at_ < 6) return ErrorAt(begin, "\\u takes four hexadecimal digits");
  WEFT_ASSIGN_OR_RETURN(uint32_t code, HexDigits());
  if (code >= 0xd800 && code < 0xe000) {
    if (code >= 0xdc00) return ErrorAt(begin, "half of a surrogate pair without the first half");
    WEFT_ASSIGN_OR_RETURN(const uint32_t low, HexDigits());
    if (low < 0xdc00 || low >= 0xe000) {
      return ErrorAt(begin, "half of a surrogate pair; write both halves as \\uxxxx\\uxxxx");
    }
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  AppendUtf8(code, out);
  return absl::OkStatus();
}

}  // namespace weft::ir
