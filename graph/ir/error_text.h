// Parts of the texts of errors.h. Private to its sources.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "graph/ir/errors.h"

namespace weft::ir {

// `Text. Did you mean "x"?` or, with nothing near, `Text; remedy`.
std::string WithNearest(absl::string_view text, absl::string_view nearest,
                        absl::string_view remedy);

// `node "x"`, and of which graph where it is not the job's own.
std::string NodeText(const NodePlace& node);

}  // namespace weft::ir
