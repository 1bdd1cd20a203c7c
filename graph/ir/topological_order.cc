#include "graph/ir/topological_order.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

namespace weft::ir {
namespace {

bool LeadsOnlyForward(const Digraph& graph) {
  for (uint32_t v = 0; v < graph.vertex_count(); ++v) {
    for (const uint32_t p : graph.PredecessorsOf(v)) {
      if (p >= v) return false;
    }
  }
  return true;
}

// Successors of each vertex, packed as in Digraph.
Digraph Reversed(const Digraph& graph) {
  Digraph result;
  result.begin.assign(graph.begin.size(), 0);
  for (const uint32_t p : graph.predecessors) ++result.begin[p + 1];
  std::partial_sum(result.begin.begin(), result.begin.end(), result.begin.begin());
  result.predecessors.resize(graph.predecessors.size());
  std::vector<uint32_t> next(result.begin.begin(), result.begin.end() - 1);
  for (uint32_t v = 0; v < graph.vertex_count(); ++v) {
    for (const uint32_t p : graph.PredecessorsOf(v)) result.predecessors[next[p]++] = v;
  }
  return result;
}

// Every vertex that waits has a predecessor that waits; going back along those must come round.
std::vector<uint32_t> FindCycle(const Digraph& graph, const std::vector<uint32_t>& waiting) {
  constexpr uint32_t kUnseen = UINT32_MAX;
  std::vector<uint32_t> seen_at(graph.vertex_count(), kUnseen);
  std::vector<uint32_t> path;
  uint32_t v = 0;
  while (waiting[v] == 0) ++v;
  while (seen_at[v] == kUnseen) {
    seen_at[v] = static_cast<uint32_t>(path.size());
    path.push_back(v);
    for (const uint32_t p : graph.PredecessorsOf(v)) {
      if (waiting[p] != 0) {
        v = p;
        break;
      }
    }
  }
  std::vector<uint32_t> cycle(path.begin() + seen_at[v], path.end());
  std::reverse(cycle.begin(), cycle.end());  // the path went back in time
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  return cycle;
}

}  // namespace

TopologicalOrder OrderOf(const Digraph& graph) {
  TopologicalOrder result;
  const uint32_t count = graph.vertex_count();
  if (LeadsOnlyForward(graph)) {
    result.order.resize(count);
    std::iota(result.order.begin(), result.order.end(), 0);
    return result;
  }
  const Digraph successors = Reversed(graph);
  std::vector<uint32_t> waiting(count);  // predecessors that have no place yet
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (uint32_t v = 0; v < count; ++v) {
    waiting[v] = static_cast<uint32_t>(graph.PredecessorsOf(v).size());
    if (waiting[v] == 0) ready.push(v);
  }
  result.order.reserve(count);
  while (!ready.empty()) {
    const uint32_t v = ready.top();
    ready.pop();
    result.order.push_back(v);
    for (const uint32_t s : successors.PredecessorsOf(v)) {
      if (--waiting[s] == 0) ready.push(s);
    }
  }
  if (result.order.size() < count) {
    result.order.clear();
    result.cycle = FindCycle(graph, waiting);
  }
  return result;
}

}  // namespace weft::ir
