#include "client/cli/buffer_name.h"

#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace weft::cli {

absl::StatusOr<v1::BufferRef> ParseBufferRef(const std::string& text) {
  v1::BufferRef ref;
  if (text.empty() || text.front() != '#') {
    ref.set_name(text);
    return ref;
  }
  uint64_t id = 0;
  if (!absl::SimpleAtoi(text.substr(1), &id)) {
    return absl::InvalidArgumentError(
        absl::StrCat(text, " is no id of a buffer: write #7, as `weft buffers` prints it"));
  }
  ref.set_id(id);
  return ref;
}

}  // namespace weft::cli
