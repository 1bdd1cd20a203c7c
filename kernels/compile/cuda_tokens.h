// C++ text as tokens, enough to find declarations in it.
#pragma once

#include <vector>

#include "absl/strings/string_view.h"

namespace weft::kernels {

struct Token {
  enum class Kind {
    kBlank,    // space, comments, lines of the preprocessor
    kWord,     // identifiers, keywords, numbers
    kLiteral,  // strings and characters
    kSign,     // one character
  };
  Kind kind;
  absl::string_view text;  // of the text that was split
};

// All of the text, in order: the tokens joined are the text. Never fails; a comment or literal without its end goes to
// the end of the text or line.
std::vector<Token> SplitTokens(absl::string_view code);

}  // namespace weft::kernels
