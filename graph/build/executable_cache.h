// Executables that nobody uses now, kept by structure: taking one and updating its arguments is
// far cheaper than instantiating anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "graph/build/executable.h"

namespace weft::build {

// An executable is either in the cache (idle) or with its user, so that one in use is never evicted
// or handed out twice. Bounded by the sum of Executable::cost_bytes; the least recently put goes
// first. Thread safety: none; one caller at a time.
class ExecutableCache {
 public:
  explicit ExecutableCache(size_t max_bytes) : max_bytes_(max_bytes) {}
  ExecutableCache(const ExecutableCache&) = delete;
  ExecutableCache& operator=(const ExecutableCache&) = delete;

  // An idle executable of that structure (see StructureHash), the last one put; nullptr when there
  // is none. It still has its former arguments: Update it before launching.
  std::unique_ptr<Executable> Take(uint64_t structure_hash);

  // REQUIRES: no launch of it is running or queued. One larger than the cache is destroyed.
  void Put(std::unique_ptr<Executable> executable);

  size_t size() const { return entries_.size(); }
  size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    uint64_t structure_hash = 0;
    size_t cost_bytes = 0;
    std::unique_ptr<Executable> executable;
  };
  using Entries = std::list<Entry>;  // oldest first
  void Remove(Entries::iterator entry);

  const size_t max_bytes_;
  size_t bytes_ = 0;
  Entries entries_;
  absl::flat_hash_map<uint64_t, std::vector<Entries::iterator>> by_structure_;  // oldest first
};

}  // namespace weft::build
