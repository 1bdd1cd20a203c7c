// The graphs of a job: what they run, in which order they can be read, and each of them as an
// ir::Graph. Private to graph/ir.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/ir/expression_table.h"
#include "graph/ir/from_proto.h"
#include "graph/ir/graph.h"
#include "graph/ir/name_table.h"
#include "graph/ir/violations.h"

namespace weft::v1 {
class Job;
}  // namespace weft::v1

namespace weft::ir {

// Modules of the job, and the one made of its expressions.
struct JobCode {
  NameTable modules;
  ExpressionTable expressions;
};

// What nodes name: the modules and graphs of the job.
struct JobNames {
  const NameTable& modules;
  ExpressionTable& expressions;  // where kernels are made of the nodes' expressions
  NameTable graphs;              // to position in Job.graphs
  // By position in Job.graphs: that in Graph::graphs of the job; nullopt: it is faulty, which was or
  // will be reported.
  std::vector<std::optional<uint32_t>> graph_places;
  const std::vector<Graph>* read_graphs = nullptr;  // Graph::graphs of the job
};

// Fills graph.graphs. Everything wrong goes to `violations`.
JobNames ReadGraphs(const v1::Job& job, const JobContext& context,
                    const kernels::LaunchLimits& limits, JobCode& code, Graph& graph,
                    Violations& violations);

// Fills expanded_nodes, depth and has_conditional of a graph whose nodes are all read.
void CountExpanded(const std::vector<Graph>& graphs, Graph& graph);

}  // namespace weft::ir
