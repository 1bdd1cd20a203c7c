// The tokens of a JSON text (RFC 8259), with their positions.
//
// Thread safety: one thread. Cost: linear; a string is copied once, while it is decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace weft::ir {

struct JsonToken {
  enum class Kind : uint8_t {
    kBeginObject,
    kEndObject,
    kBeginArray,
    kEndArray,
    kColon,
    kComma,
    kString,
    kNumber,
    kTrue,
    kFalse,
    kNull,
    kEnd,  // of the text
  };
  Kind kind = Kind::kEnd;
  size_t offset = 0;  // of its first byte
  std::string text;   // kString: decoded; kNumber: as written
};

// "\"[\"", "a string", "the end of the file"…: for messages.
absl::string_view Describe(JsonToken::Kind kind);

class JsonLexer {
 public:
  // `text` must outlive the lexer and be UTF-8.
  explicit JsonLexer(absl::string_view text);

  // Reads the next token into `token`; behind the last one, kEnd.
  // Errors: JobFileSyntax.
  absl::Status Next(JsonToken& token);

 private:
  absl::Status Word(JsonToken& token);
  absl::Status Number(JsonToken& token);
  absl::Status String(JsonToken& token);
  absl::Status Escape(std::string& out);
  absl::Status UnicodeEscape(std::string& out);
  absl::StatusOr<uint32_t> HexDigits();
  absl::Status ErrorAt(size_t offset, absl::string_view what) const;

  const absl::string_view text_;
  size_t at_ = 0;
};

}  // namespace weft::ir
