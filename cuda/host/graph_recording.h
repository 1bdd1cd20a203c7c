// Adding nodes to graphs that are recorded, whatever the node's kind.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/host/cuda_api.h"
#include "cuda/host/runtime.h"

namespace weft::hostcuda {

// Where a node is to be added, as every cuGraphAdd… function gives it.
struct NodePlace {
  CUgraphNode* node;
  CUgraph graph;
  const CUgraphNode* dependencies;
  size_t dependency_count;
};

// Errors: INVALID_VALUE (no such graph, a dependency of another graph or named twice, a kind of node
// that bodies of conditional nodes do not take), NOT_SUPPORTED (beyond the bounds of graph.h).
CUresult AddNode(Runtime& runtime, const NodePlace& place, NodeSpec spec);

// Ends the handles of a graph, of its nodes and conditions, and of the bodies of its conditional
// nodes. What was instantiated from it stays.
void ForgetGraph(Runtime& runtime, uint64_t handle);

// True when a handle that was made for the graph is no conditional node's.
bool HasUnusedCondition(RecordedGraph& graph);

}  // namespace weft::hostcuda
