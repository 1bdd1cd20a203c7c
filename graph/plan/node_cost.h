// How long a node takes, roughly: enough to tell a long branch from a short one. Nobody waits by it.
//
// Thread safety: pure function.
#pragma once

#include <cstdint>

#include "graph/ir/graph.h"

namespace weft::plan {

// Nanoseconds. From the design's measurements on an H200: a node of a graph costs about 1 µs
// whatever it does; device memory moves about 2,000 bytes a nanosecond (of 4,800 peak), host memory
// about 50 over PCIe 5, and so the memory of other devices where it is slowest. Kernels are taken
// to be bound by memory, so the figure is too low for those that compute much.
uint64_t EstimateNs(const ir::Graph& graph, const ir::Node& node);

}  // namespace weft::plan
