#include "graph/build/kernel_priorities.h"

#include <variant>

#include "base/status_macros.h"
#include "cuda/stream.h"

namespace weft::build {

absl::StatusOr<KernelPriorities> KernelPriorities::Of(const BuildInput& job) {
  KernelPriorities priorities;
  std::map<int32_t, int>& levels = priorities.levels_;
  const auto add = [&levels](const ir::Graph& part) {
    for (const ir::Node& node : part.nodes) {
      if (std::holds_alternative<ir::KernelOp>(node.op)) levels[0] = 0;
      if (const auto* op = std::get_if<ir::UserKernelOp>(&node.op)) levels[op->priority] = 0;
    }
  };
  add(job.graph);
  for (const ir::Graph& part : job.graph.graphs) add(part);
  if (levels.size() < 2) return KernelPriorities();
  WEFT_ASSIGN_OR_RETURN(const cuda::PriorityRange range, cuda::StreamPriorityRange(job.context));
  // Numbered downwards: 0 is the least urgent, -5 the most.
  const int steps = range.least - range.greatest;
  const int most = static_cast<int>(levels.size()) - 1;
  int rank = 0;
  for (auto& [priority, level] : levels) {
    level = range.least - (most <= steps ? rank : rank * steps / most);
    ++rank;
  }
  return priorities;
}

std::optional<int> KernelPriorities::Find(int32_t priority) const {
  const auto it = levels_.find(priority);
  if (it == levels_.end()) return std::nullopt;
  return it->second;
}

}  // namespace weft::build
