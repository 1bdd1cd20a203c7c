// What the passes work on: the graph and device they read, the plan they write, and what they leave
// for each other. Private to graph/plan.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "cuda/device_info.h"
#include "graph/ir/graph.h"
#include "graph/ir/topological_order.h"
#include "graph/plan/plan.h"
#include "graph/plan/planner.h"

namespace weft::plan {

// For each vertex and lane, how many nodes of that lane have ended once the vertex has. A node's own
// lane counts the node itself. Whether u comes before v is then one comparison:
//   clocks.Row(v)[lane of u] > position of u
struct LaneClocks {
  uint32_t lanes = 0;
  std::vector<uint32_t> counts;  // vertex × lane

  absl::Span<uint32_t> Row(uint32_t vertex) {
    return absl::MakeSpan(counts).subspan(size_t{vertex} * lanes, lanes);
  }
  absl::Span<const uint32_t> Row(uint32_t vertex) const {
    return absl::MakeConstSpan(counts).subspan(size_t{vertex} * lanes, lanes);
  }
};

struct PlanState {
  const ir::Graph& graph;
  const cuda::DeviceInfo& device;
  const PlanOptions& options;
  // The plans of the job's graphs; of a graph of the job: of those before it, which it may run.
  absl::Span<const Plan> graphs = {};

  // Who waits for whom. Vertices are the nodes by index, then joins: vertices without work that
  // stand for "all of these", made where the edges between two sets of nodes would be too many.
  ir::Digraph dependencies = {};
  std::vector<uint32_t> order = {};     // of all vertices: each behind those it waits for
  std::vector<uint32_t> position = {};  // by vertex, in `order`
  LaneClocks clocks = {};
  // Every dependency between lanes becomes an event edge, also where others imply it.
  bool keeps_all_edges = false;
  Plan plan = {};

  bool IsJoin(uint32_t vertex) const { return vertex >= graph.node_count(); }
};

}  // namespace weft::plan
