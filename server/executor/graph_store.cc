#include "server/executor/graph_store.h"

#include <utility>

#include "base/status_macros.h"
#include "server/executor/errors.h"
#include "server/executor/prepared_graph.h"

namespace weft::executor {

absl::Status GraphStore::Add(const std::shared_ptr<PreparedGraph>& graph) {
  const GraphId id = graph->id();
  const absl::MutexLock lock(&mutex_);
  if (!graphs_.try_emplace(id, graph).second) return GraphExistsError(id);
  return absl::OkStatus();
}

std::shared_ptr<PreparedGraph> GraphStore::Find(GraphId id) const {
  const absl::MutexLock lock(&mutex_);
  const auto it = graphs_.find(id);
  return it == graphs_.end() ? nullptr : it->second;
}

absl::StatusOr<std::shared_ptr<PreparedGraph>> GraphStore::Remove(GraphId id) {
  const absl::MutexLock lock(&mutex_);
  const auto it = graphs_.find(id);
  if (it == graphs_.end()) return UnknownGraphError(id);
  WEFT_RETURN_IF_ERROR(it->second->Retire());
  std::shared_ptr<PreparedGraph> graph = std::move(it->second);
  graphs_.erase(it);
  return graph;
}

absl::Status GraphStore::RetireUsersOf(const ByteRange& range) {
  const absl::MutexLock lock(&mutex_);
  for (const auto& [id, graph] : graphs_) {
    if (!graph->Uses(range)) continue;
    WEFT_RETURN_IF_ERROR(graph->Retire());
  }
  return absl::OkStatus();
}

}  // namespace weft::executor
