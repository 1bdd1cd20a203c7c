// Positions in text files, for messages.
//
// Thread safety: pure functions. Cost: linear in the bytes before the position.
#pragma once

#include <cstddef>
#include <optional>

#include "absl/strings/string_view.h"
#include "graph/ir/errors.h"

namespace weft::ir {

// The place of byte `offset` (at most text.size()).
TextPlace PlaceOf(absl::string_view text, size_t offset);

// The byte at a position of protobuf's tokenizer: line and column counted from 0, columns in bytes,
// with tabs that jump to the next multiple of 8. At most text.size().
size_t OffsetOfToken(absl::string_view text, int line, int column);

// The first byte that is no part of UTF-8 text (RFC 3629: shortest forms, no surrogates); nullopt
// when all is well.
std::optional<size_t> FindInvalidUtf8(absl::string_view text);

}  // namespace weft::ir
