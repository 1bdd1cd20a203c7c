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

// Of a storage with more, nobody looks which bytes they write.
constexpr size_t kMaxWritesLookedAt = 64;

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

// Nodes that write bytes of a storage otherwise than by signals.
struct Write {
  ByteRange range;
  uint32_t node = 0;
};
using Writes = std::map<BufferIndex, std::vector<Write>>;

Writes OtherWrites(const Graph& graph) {
  Writes writes;
  for (const Use& use : graph.uses) {
    if (use.kind == UseKind::kSemaphore || !kernels::Writes(use.access)) continue;
    writes[use.storage].push_back({use.range, use.node.value()});
  }
  return writes;
}

// Whether the value of `signal` may be overwritten before `wait`. By data, what stands before or
// behind both in the program runs before or behind both.
bool MayBeOverwritten(const Graph& graph, const Writes& writes, NodeIndex signal, NodeIndex wait) {
  const View& view = std::get<SemaphoreWaitOp>(graph.node(wait).op).semaphore;
  const auto known = writes.find(graph.buffer(view.buffer).storage);
  if (known == writes.end()) return false;
  if (known->second.size() > kMaxWritesLookedAt) return true;
  const uint32_t first = std::min(signal.value(), wait.value());
  const uint32_t last = std::max(signal.value(), wait.value());
  return std::any_of(known->second.begin(), known->second.end(),
                     [&graph, &view, first, last](const Write& write) {
                       if (!write.range.overlaps(view.range)) return false;
                       return graph.options.ordering == Ordering::kExplicit ||
                              (write.node > first && write.node < last);
                     });
}

}  // namespace

std::vector<bool> WaitsForOwnSignals(const Graph& graph) {
  std::vector<bool> own;
  std::optional<Writes> writes;
  for (uint32_t i = 0; i < graph.node_count(); ++i) {
    if (!std::holds_alternative<SemaphoreWaitOp>(graph.nodes[i].op)) continue;
    for (const NodeIndex before : graph.AfterOf(graph.nodes[i])) {
      if (!IsSemaphorePair(graph, before, NodeIndex(i))) continue;
      if (!writes.has_value()) writes = OtherWrites(graph);
      if (MayBeOverwritten(graph, *writes, before, NodeIndex(i))) continue;
      own.resize(graph.node_count(), false);
      own[i] = true;
      break;
    }
  }
  return own;
}

void PairSemaphores(Graph& graph) { Pairing(graph).Run(); }

bool IsSemaphorePair(const Graph& graph, NodeIndex signal, NodeIndex wait) {
  const auto* waits = std::get_if<SemaphoreWaitOp>(&graph.node(wait).op);
  const auto* signals = std::get_if<SemaphoreSignalOp>(&graph.node(signal).op);
  return waits != nullptr && signals != nullptr && signals->value >= waits->value &&
         SemaphoreOf(graph, signals->semaphore) == SemaphoreOf(graph, waits->semaphore);
}

}  // namespace weft::ir
