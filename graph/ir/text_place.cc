#include "graph/ir/text_place.h"

#include <cstdint>
#include <cstring>

namespace weft::ir {
namespace {

constexpr int kTokenizerTab = 8;

bool IsContinuation(char c) { return (static_cast<uint8_t>(c) & 0xc0) == 0x80; }

// Length of the well-formed sequence at the start of `text`; 0 when there is none.
size_t SequenceLength(absl::string_view text) {
  const auto byte = [&text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  // Second bytes that would make an overlong form, a surrogate, or a number beyond U+10FFFF.
  if (lead == 0xe0 && byte(1) < 0xa0) return 0;
  if (lead == 0xed && byte(1) > 0x9f) return 0;
  if (lead == 0xf0 && byte(1) < 0x90) return 0;
  if (lead == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

}  // namespace

TextPlace PlaceOf(absl::string_view text, size_t offset) {
  TextPlace place;
  for (const char c : text.substr(0, offset)) {
    if (c == '\n') {
      ++place.line;
      place.column = 1;
    } else if (!IsContinuation(c)) {
      ++place.column;
    }
  }
  return place;
}

size_t OffsetOfToken(absl::string_view text, int line, int column) {
  size_t at = 0;
  for (int i = 0; i < line; ++i) {
    const size_t newline = text.find('\n', at);
    if (newline == absl::string_view::npos) return text.size();
    at = newline + 1;
  }
  int reached = 0;
  for (; at < text.size() && reached < column && text[at] != '\n'; ++at) {
    reached += text[at] == '\t' ? kTokenizerTab - reached % kTokenizerTab : 1;
  }
  return at;
}

std::optional<size_t> FindInvalidUtf8(absl::string_view text) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  size_t at = 0;
  while (at < text.size()) {
    uint64_t word = 0;
    if (text.size() - at >= sizeof word) {
      std::memcpy(&word, text.data() + at, sizeof word);
      if ((word & kHighBits) == 0) {
        at += sizeof word;
        continue;
      }
    }
    const size_t length = SequenceLength(text.substr(at, 4));
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

}  // namespace weft::ir
