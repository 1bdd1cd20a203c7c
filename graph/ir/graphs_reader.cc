#include "graph/ir/graphs_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/ir/buffer_reader.h"
#include "graph/ir/errors.h"
#include "graph/ir/node_reader.h"
#include "graph/ir/parameter_effects.h"
#include "graph/ir/topological_order.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

std::string GraphField(uint32_t index, absl::string_view member) {
  return absl::StrCat("graphs[", index, "]", member.empty() ? "" : ".", member);
}

// visit(name) for each graph that a node runs.
template <typename Visit>
void ForEachCallee(const v1::Node& node, Visit&& visit) {
  if (node.has_graph()) visit(node.graph().graph());
  if (!node.has_conditional()) return;
  for (const v1::GraphNode& body : node.conditional().bodies()) visit(body.graph());
}

class GraphsReader {
 public:
  GraphsReader(const v1::Job& job, const JobContext& context, const kernels::LaunchLimits& limits,
               Graph& graph, Violations& violations)
      : job_(job), context_(context), limits_(limits), graph_(graph), violations_(violations) {}

  void Run(JobNames& names) {
    ReadNames(names.graphs);
    if (!CheckCounts()) return;
    const TopologicalOrder order = OrderOf(Calls(names.graphs));
    if (!order.cycle.empty()) return ReportCycle(order.cycle);
    graph_.graphs.reserve(order.order.size());
    for (const uint32_t i : order.order) ReadGraph(i, names);
  }

 private:
  // Of all graphs together, so that a job of many graphs is no larger than one of many nodes.
  bool CheckCounts() {
    const auto count = static_cast<uint64_t>(job_.graphs_size());
    uint64_t nodes = static_cast<uint64_t>(job_.nodes_size());
    uint64_t buffers = static_cast<uint64_t>(job_.buffers_size());
    for (const v1::SubGraph& graph : job_.graphs()) {
      nodes += static_cast<uint64_t>(graph.nodes_size());
      buffers += static_cast<uint64_t>(graph.buffers_size());
    }
    const Limits& limits = context_.limits;
    const uint64_t before = violations_.count();
    if (count > kMaxGraphs) violations_.Add(TooMany("graphs", "graphs", count, kMaxGraphs));
    if (nodes > limits.max_nodes) {
      violations_.Add(TooMany("graphs", "nodes", nodes, limits.max_nodes));
    }
    if (buffers > limits.max_buffers) {
      violations_.Add(TooMany("graphs", "buffers", buffers, limits.max_buffers));
    }
    return violations_.count() == before;
  }

  void ReadNames(NameTable& names) {
    for (uint32_t i = 0; i < static_cast<uint32_t>(job_.graphs_size()); ++i) {
      const std::string& name = job_.graphs(static_cast<int>(i)).name();
      if (!IsGoodName(name)) violations_.Add(BadName(GraphField(i, "name"), "graph", name));
      const std::optional<uint32_t> first = names.Add(name, i);
      if (first.has_value() && !name.empty()) {
        violations_.Add(RepeatedName(GraphField(i, "name"), "graph", name, GraphField(*first, "")));
      }
    }
  }

  // Each graph's predecessors are those that it runs. Unknown ones are reported with their node.
  Digraph Calls(const NameTable& names) const {
    Digraph calls;
    for (const v1::SubGraph& graph : job_.graphs()) {
      for (const v1::Node& node : graph.nodes()) {
        ForEachCallee(node, [&](const std::string& name) {
          const std::optional<uint32_t> callee = names.Find(name);
          if (callee.has_value()) calls.predecessors.push_back(*callee);
        });
      }
      calls.EndVertex();
    }
    return calls;
  }

  void ReportCycle(std::vector<uint32_t> cycle) {
    std::vector<std::string> names;  // each runs the one behind it
    names.reserve(cycle.size());
    std::reverse(cycle.begin() + 1, cycle.end());
    for (const uint32_t i : cycle) names.push_back(job_.graphs(static_cast<int>(i)).name());
    violations_.Add(GraphCycle(GraphField(cycle.front(), "nodes"), names));
  }

  void ReadGraph(uint32_t i, JobNames& names) {
    const v1::SubGraph& in = job_.graphs(static_cast<int>(i));
    const uint64_t before = violations_.count();
    Graph& graph = graph_.graphs.emplace_back();  // room was reserved: references stay
    graph.name = in.name();
    graph.scope = absl::StrCat(GraphField(i, ""), ".");
    graph.options = graph_.options;
    graph.options.timeline = Timeline::kOff;  // it is one node of it
    if (in.nodes_size() == 0) {
      violations_.Add(GraphWithoutNodes(GraphField(i, "nodes"), graph.name));
    }
    const ReadBuffers buffers = ReadBufferDecls(in.buffers(), context_, graph, violations_);
    NodeReader(context_, limits_, buffers, names, graph, violations_).Run(in.nodes());
    CountExpanded(graph_.graphs, graph);
    if (graph.depth + 1 > kMaxGraphDepth) {
      violations_.Add(
          GraphsTooDeep(GraphField(i, "nodes"), graph.name, graph.depth + 1, kMaxGraphDepth));
    }
    // Here as well as for the whole job: what follows grows with it.
    if (graph.expanded_nodes > context_.limits.max_nodes) {
      violations_.Add(
          TooManyExpanded(GraphField(i, "nodes"), graph.expanded_nodes, context_.limits.max_nodes));
    }
    if (violations_.count() != before) return;
    graph.effects = EffectsOf(graph);
    graph.kernel_modules = KernelModulesOf(graph, graph_.graphs);
    names.graph_places[i] = static_cast<uint32_t>(graph_.graphs.size() - 1);
  }

  const v1::Job& job_;
  const JobContext& context_;
  const kernels::LaunchLimits& limits_;
  Graph& graph_;
  Violations& violations_;
};

}  // namespace

JobNames ReadGraphs(const v1::Job& job, const JobContext& context,
                    const kernels::LaunchLimits& limits, JobCode& code, Graph& graph,
                    Violations& violations) {
  const auto count = static_cast<size_t>(job.graphs_size());
  JobNames names = {code.modules, code.expressions, NameTable(count), {}, &graph.graphs};
  names.graph_places.resize(count);
  GraphsReader(job, context, limits, graph, violations).Run(names);
  return names;
}

void CountExpanded(const std::vector<Graph>& graphs, Graph& graph) {
  graph.expanded_nodes = graph.node_count();
  // No overflow: each graph has at most 2^32 expanded nodes, or no place to be called by.
  for (const GraphCall& call : graph.calls) {
    const Graph& callee = graphs[call.graph];
    graph.expanded_nodes += callee.expanded_nodes;
    graph.depth = std::max(graph.depth, callee.depth + 1);
    graph.has_conditional = graph.has_conditional || callee.has_conditional;
    graph.has_textures = graph.has_textures || callee.has_textures;
  }
  for (const Node& node : graph.nodes) {
    if (std::holds_alternative<ConditionalOp>(node.op)) graph.has_conditional = true;
    const auto* const kernel = std::get_if<UserKernelOp>(&node.op);
    if (kernel != nullptr && HasTextures(*kernel)) graph.has_textures = true;
  }
}

}  // namespace weft::ir
