// Order of a directed graph whose vertices are nodes, or the cycle that forbids one.
//
// Thread safety: pure functions. Cost: linear in vertices and edges (n log n in vertices where an
// edge leads backwards); no recursion.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace weft::ir {

// The predecessors of each vertex, packed: those of v are
// predecessors[begin[v]] … predecessors[begin[v + 1] - 1].
struct Digraph {
  std::vector<uint32_t> begin = {0};  // vertex count + 1 entries
  std::vector<uint32_t> predecessors;

  uint32_t vertex_count() const { return static_cast<uint32_t>(begin.size() - 1); }
  absl::Span<const uint32_t> PredecessorsOf(uint32_t v) const {
    return absl::MakeConstSpan(predecessors).subspan(begin[v], begin[v + 1] - begin[v]);
  }
  // Adds the next vertex, whose predecessors were appended to `predecessors` since the last call.
  void EndVertex() { begin.push_back(static_cast<uint32_t>(predecessors.size())); }
};

struct TopologicalOrder {
  // Every vertex after its predecessors; among those that are ready, the lowest number first. Empty
  // when there is a cycle.
  std::vector<uint32_t> order;
  // A cycle v0, v1, …: each one waits for the one before it, and v0 for the last. Starts with its
  // lowest number. A vertex that is its own predecessor is a cycle of one.
  std::vector<uint32_t> cycle;
};
TopologicalOrder OrderOf(const Digraph& graph);

}  // namespace weft::ir
