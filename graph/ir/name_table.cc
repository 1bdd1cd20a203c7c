#include "graph/ir/name_table.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "graph/ir/limits.h"
#include "kernels/nearest_name.h"

namespace weft::ir {

std::optional<uint32_t> NameTable::Add(absl::string_view name, uint32_t index) {
  const auto [it, is_new] = by_name_.try_emplace(name, index);
  if (!is_new) return it->second;
  if (candidates_.size() < kMaxNearestCandidates) candidates_.push_back(name);
  return std::nullopt;
}

std::optional<uint32_t> NameTable::Find(absl::string_view name) const {
  const auto it = by_name_.find(name);
  if (it == by_name_.end()) return std::nullopt;
  return it->second;
}

absl::string_view NameTable::Nearest(absl::string_view name) const {
  return kernels::NearestName(name, candidates_);
}

bool IsGoodName(absl::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-';
         });
}

}  // namespace weft::ir
