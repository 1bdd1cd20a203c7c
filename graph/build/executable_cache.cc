#include "graph/build/executable_cache.h"

#include <algorithm>
#include <utility>

namespace weft::build {

std::unique_ptr<Executable> ExecutableCache::Take(uint64_t structure_hash) {
  const auto found = by_structure_.find(structure_hash);
  if (found == by_structure_.end()) return nullptr;
  const Entries::iterator entry = found->second.back();
  std::unique_ptr<Executable> executable = std::move(entry->executable);
  Remove(entry);
  return executable;
}

void ExecutableCache::Put(std::unique_ptr<Executable> executable) {
  const uint64_t structure_hash = executable->structure_hash();
  const size_t cost_bytes = executable->cost_bytes();
  entries_.push_back(Entry{structure_hash, cost_bytes, std::move(executable)});
  by_structure_[structure_hash].push_back(std::prev(entries_.end()));
  bytes_ += cost_bytes;
  while (bytes_ > max_bytes_) Remove(entries_.begin());
}

void ExecutableCache::Remove(Entries::iterator entry) {
  const auto found = by_structure_.find(entry->structure_hash);
  std::vector<Entries::iterator>& same = found->second;
  same.erase(std::find(same.begin(), same.end(), entry));
  if (same.empty()) by_structure_.erase(found);
  bytes_ -= entry->cost_bytes;
  entries_.erase(entry);
}

}  // namespace weft::build
