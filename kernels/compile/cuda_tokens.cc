#include "kernels/compile/cuda_tokens.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace weft::kernels {
namespace {

bool IsWordCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Where `end` ends in the text, or where the text does.
size_t After(absl::string_view text, absl::string_view end, size_t from) {
  const size_t at = text.find(end, from);
  return at == absl::string_view::npos ? text.size() : at + end.size();
}

// A line of the preprocessor, with those that it is continued on.
size_t DirectiveBytes(absl::string_view text) {
  size_t end = 0;
  do {
    end = After(text, "\n", end);
  } while (end < text.size() && absl::EndsWith(text.substr(0, end), "\\\n"));
  return end;
}

size_t QuotedBytes(absl::string_view text) {
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == text[0]) {
      return i + 1;
    } else if (text[i] == '\n') {
      return i;
    }
  }
  return text.size();
}

// R"delimiter( … )delimiter" with its prefix; 0 when it is none.
size_t RawStringBytes(absl::string_view text) {
  const size_t quote = text.find("R\"");
  if (quote > 2) return 0;  // prefixes: u8, u, U, L
  if (!std::all_of(text.begin(), text.begin() + quote, IsWordCharacter)) return 0;
  const size_t open = text.find('(', quote);
  if (open == absl::string_view::npos || open > quote + 18) return 0;
  const std::string close = absl::StrCat(")", text.substr(quote + 2, open - quote - 2), "\"");
  return After(text, close, open);
}

Token Next(absl::string_view text, bool at_line_start) {
  using Kind = Token::Kind;
  const auto take = [&](Kind kind, size_t bytes) { return Token{kind, text.substr(0, bytes)}; };
  const char first = text[0];
  if (absl::ascii_isspace(static_cast<unsigned char>(first))) {
    size_t bytes = 1;
    // Up to the line's end, so that the next token is known to be the line's first.
    while (bytes < text.size() && text[bytes - 1] != '\n' &&
           absl::ascii_isspace(static_cast<unsigned char>(text[bytes]))) {
      ++bytes;
    }
    return take(Kind::kBlank, bytes);
  }
  if (absl::StartsWith(text, "//"))
    return take(Kind::kBlank, std::min(text.find('\n'), text.size()));
  if (absl::StartsWith(text, "/*")) return take(Kind::kBlank, After(text, "*/", 2));
  if (first == '#' && at_line_start) return take(Kind::kBlank, DirectiveBytes(text));
  if (const size_t bytes = RawStringBytes(text); bytes > 0) return take(Kind::kLiteral, bytes);
  if (first == '"' || first == '\'') return take(Kind::kLiteral, QuotedBytes(text));
  if (IsWordCharacter(first)) {
    size_t bytes = 1;
    const bool number = absl::ascii_isdigit(static_cast<unsigned char>(first));
    while (bytes < text.size() &&
           (IsWordCharacter(text[bytes]) || (number && text[bytes] == '\''))) {
      ++bytes;
    }
    return take(Kind::kWord, bytes);
  }
  return take(Kind::kSign, 1);
}

}  // namespace

std::vector<Token> SplitTokens(absl::string_view code) {
  std::vector<Token> tokens;
  bool at_line_start = true;
  while (!code.empty()) {
    tokens.push_back(Next(code, at_line_start));
    const Token& token = tokens.back();
    if (token.kind != Token::Kind::kBlank) {
      at_line_start = false;
    } else if (absl::EndsWith(token.text, "\n")) {
      at_line_start = true;
    }
    code.remove_prefix(token.text.size());
  }
  return tokens;
}

}  // namespace weft::kernels
