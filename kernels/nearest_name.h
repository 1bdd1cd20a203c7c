// The candidate a misspelled name most likely meant.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace weft::kernels {

// The candidate with the fewest edits (insert, delete, replace, swap neighbours; letter case is
// free), the first of equals; empty when none is within a third of the longer length, rounded up.
// Cost: O(length²) a candidate; names longer than 64 bytes are never near.
absl::string_view NearestName(absl::string_view name,
                              absl::Span<const absl::string_view> candidates);

// ` Did you mean "axpy"?` for a non-empty nearest name, else "".
std::string DidYouMean(absl::string_view nearest);

}  // namespace weft::kernels
