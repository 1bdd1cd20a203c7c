// Waits and signals of one job that belong together. Private to graph/ir and graph/plan.
//
// Thread safety: pure functions.
#pragma once

#include <vector>

#include "base/ids.h"
#include "graph/ir/graph.h"

namespace weft::ir {

// Orders every wait behind a signal of the same job, where there is one that it can be meant for: the
// first that signals exactly its value; else, of those before it in program order, the one that
// signals the least value above. So a wait within one job holds no lane back, and a wait that comes
// before its own signal shows as a cycle. Adds to the waits' `after`.
void PairSemaphores(Graph& graph);

// By node: true for waits that are over as soon as the nodes before them have ended, because one of
// those is their signal and nothing writes the semaphore in between. Empty when there are none.
// REQUIRES: the nodes were paired.
std::vector<bool> WaitsForOwnSignals(const Graph& graph);

// True when `wait` is a wait, and `signal` a signal of its semaphore that ends it.
bool IsSemaphorePair(const Graph& graph, NodeIndex signal, NodeIndex wait);

}  // namespace weft::ir
