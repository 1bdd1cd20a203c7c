#include "graph/plan/node_cost.h"

#include <variant>

namespace weft::plan {
namespace {

constexpr uint64_t kNodeNs = 1000;
constexpr uint64_t kDeviceBytesPerNs = 2000;
constexpr uint64_t kBusBytesPerNs = 50;

}  // namespace

uint64_t EstimateNs(const ir::Graph& graph, const ir::Node& node) {
  bool crosses_bus =
      ir::StagedBytes(node.op) > 0 || std::holds_alternative<ir::PrefetchOp>(node.op);
  uint64_t bytes = 0;  // at most 64 uses of 2^40 bytes
  for (const ir::Use& use : graph.UsesOf(node)) {
    bytes += use.range.size;
    const ir::Buffer& buffer = graph.buffer(use.storage);
    crosses_bus =
        crosses_bus || buffer.memory == ir::MemoryKind::kPinned || graph.IsElsewhere(buffer);
  }
  return kNodeNs + bytes / (crosses_bus ? kBusBytesPerNs : kDeviceBytesPerNs);
}

}  // namespace weft::plan
