// A buffer of the server as a person names it: by name, or as "#7" by id.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "client/connection.h"

namespace weft::cli {

absl::StatusOr<v1::BufferRef> ParseBufferRef(const std::string& text);

}  // namespace weft::cli
