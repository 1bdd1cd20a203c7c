#include "graph/ir/semaphores.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace weft::ir {
namespace {

// Semaphores are aligned to their size: two of them are the same or share no byte.
using Semaphore = std::pair<BufferIndex, uint64_t>;  // storage, offset

Semaphore SemaphoreOf(const Graph& graph, const View& view) {
  return {graph.buffer(view.buffer).storage, view.range.offset};
}

class Pairing {
 public:
  explicit Pairing(Graph& graph) : graph_(graph) {
    for (uint32_t i = 0; i < graph.node_count(); ++i) {
      const auto* signal = std::get_if<SemaphoreSignalOp>(&graph.nodes[i].op);
      if (signal == nullptr) continue;
      all_[SemaphoreOf(graph, signal->semaphore)].emplace(signal->value, i);
    }
  }

  void Run() {
    if (all_.empty()) return;
    std::vector<NodeIndex> after;
    after.reserve(graph_.after.size());
    for (uint32_t i = 0; i < graph_.node_count(); ++i) {
      Node& node = graph_.nodes[i];
      const absl::Span<const NodeIndex> named = graph_.AfterOf(node);
      const auto begin = static_cast<uint32_t>(after.size());
      after.insert(after.end(), named.begin(), named.end());
      const std::optional<NodeIndex> signal = SignalFor(i);
      if (signal.has_value() && std::find(named.begin(), named.end(), *signal) == named.end()) {
        after.push_back(*signal);
      }
      node.after = {begin, static_cast<uint32_t>(after.size()) - begin};
      if (const auto* op = std::get_if<SemaphoreSignalOp>(&node.op)) {
        before_[SemaphoreOf(graph_, op->semaphore)].emplace(op->value, i);
      }
    }
    graph_.after = std::move(after);
  }

 private:
  // REQUIRES: before_ has the signals before `node`.
  std::optional<NodeIndex> SignalFor(uint32_t node) const {
    const auto* wait = std::get_if<SemaphoreWaitOp>(&graph_.nodes[node].op);
    if (wait == nullptr) return std::nullopt;
    const std::pair<uint64_t, uint32_t> least = {wait->value, 0};
    const Semaphore semaphore = SemaphoreOf(graph_, wait->semaphore);
    if (const auto known = all_.find(semaphore); known != all_.end()) {
      const auto it = known->second.lower_bound(least);
      if (it != known->second.end() && it->first == wait->value) return NodeIndex(it->second);
    }
    if (const auto known = before_.find(semaphore); known != before_.end()) {
      const auto it = known->second.lower_bound(least);
      if (it != known->second.end()) return NodeIndex(it->second);
    }
    return std::nullopt;
  }

  using Signals = std::map<Semaphore, std::set<std::pair<uint64_t, uint32_t>>>;  // value, node

  Graph& graph_;
  Signals all_;
  Signals before_;  // those of the nodes that Run has passed
};

}  // namespace

void PairSemaphores(Graph& graph) { Pairing(graph).Run(); }

bool IsSemaphorePair(const Graph& graph, NodeIndex signal, NodeIndex wait) {
  const auto* waits = std::get_if<SemaphoreWaitOp>(&graph.node(wait).op);
  const auto* signals = std::get_if<SemaphoreSignalOp>(&graph.node(signal).op);
  return waits != nullptr && signals != nullptr && signals->value >= waits->value &&
         SemaphoreOf(graph, signals->semaphore) == SemaphoreOf(graph, waits->semaphore);
}

}  // namespace weft::ir
