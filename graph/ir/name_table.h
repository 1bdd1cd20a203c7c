// Names of one kind (nodes, buffers, outputs) of one job, each at its place: finds them, and finds
// those that are given twice or badly spelled.
//
// Thread safety: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace weft::ir {

class NameTable {
 public:
  explicit NameTable(size_t count) { by_name_.reserve(count); }

  // Adds `name` at `index`; nullopt when it is new, else the index that has it already. The text of
  // `name` must outlive the table.
  std::optional<uint32_t> Add(absl::string_view name, uint32_t index);
  std::optional<uint32_t> Find(absl::string_view name) const;
  // The nearest of the names (of the first kMaxNearestCandidates added); empty when none is near.
  absl::string_view Nearest(absl::string_view name) const;

 private:
  absl::flat_hash_map<absl::string_view, uint32_t> by_name_;
  std::vector<absl::string_view> candidates_;
};

// True for 1 to 128 characters of [A-Za-z0-9_.-].
bool IsGoodName(absl::string_view name);

}  // namespace weft::ir
