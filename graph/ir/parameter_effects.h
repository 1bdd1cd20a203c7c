// What a run of a graph does to its parameters, seen from outside; and what a node that runs graphs
// does to the views that it binds. Private to graph/ir.
//
// Thread safety: pure functions. Cost: near-linear in the uses of the graph, and in its effects.
#pragma once

#include <vector>

#include "graph/ir/graph.h"

namespace weft::ir {

// The effects of a graph whose nodes are all read.
std::vector<ParameterEffect> EffectsOf(const Graph& graph);
// Its Graph::kernel_modules. `graphs`: those of the job before it.
std::vector<uint32_t> KernelModulesOf(const Graph& graph, const std::vector<Graph>& graphs);

// Adds the uses of a node that makes `calls`, one after the other where they are several: which of
// them runs is not known. `graphs`: those of the job.
void AddUsesOfGraph(NodeIndex node, const GraphCall& call, const std::vector<Graph>& graphs,
                    Graph& graph);
void AddUsesOfBodies(NodeIndex node, ConditionalOp::Kind kind, absl::Span<const GraphCall> calls,
                     const std::vector<Graph>& graphs, Graph& graph);

}  // namespace weft::ir
