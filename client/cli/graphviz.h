// Draws DOT with graphviz, when that is installed.
//
// Thread safety: starts a program and waits for it; from any thread.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace weft::cli {

// The SVG that `dot -Tsvg` makes of `dot_text`. INVALID_ARGUMENT when there is no program `dot`.
// Cost: seconds for a thousand nodes.
absl::StatusOr<std::string> DrawSvg(absl::string_view dot_text);

}  // namespace weft::cli
