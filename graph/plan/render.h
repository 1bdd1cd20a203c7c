// Plans for people: stable text (equal plans, equal text; no durations) and DOT for graphviz.
//
// Thread safety: pure functions. Cost: linear; the text has a line a node, so bound it with
// `max_nodes` where it is sent somewhere.
#pragma once

#include <cstdint>
#include <string>

#include "graph/ir/graph.h"
#include "graph/plan/plan.h"

namespace weft::plan {

struct RenderOptions {
  uint32_t max_nodes = 10'000;  // nodes beyond it are counted, not listed
};

// Lanes with their nodes and the reason of each place, event edges with what they protect, memory,
// staging, launch mode. REQUIRES: `plan` was made from `graph`.
std::string RenderText(const ir::Graph& graph, const Plan& plan, const RenderOptions& options = {});

// A digraph with one cluster a lane; order inside a lane as solid edges, event edges dashed, with
// what they protect as labels.
std::string RenderDot(const ir::Graph& graph, const Plan& plan, const RenderOptions& options = {});

// One line a pass: its name, whether it ran, and its duration.
std::string RenderPasses(const Plan& plan);

}  // namespace weft::plan
