#include "server/daemon/prepared_graphs.h"

#include <utility>

#include "server/daemon/errors.h"

namespace weft::daemon {

PreparedGraphs::Id PreparedGraphs::Add(SessionId session, ClientGraph graph) {
  absl::MutexLock lock(&mutex_);
  const Id id(++last_id_);
  records_[id] = {session, std::make_shared<const ClientGraph>(std::move(graph)), 0};
  return id;
}

absl::StatusOr<std::shared_ptr<const ClientGraph>> PreparedGraphs::BeginLaunch(SessionId session,
                                                                               Id id) {
  absl::MutexLock lock(&mutex_);
  const auto it = records_.find(id);
  if (it == records_.end() || it->second.session != session) {
    return UnknownGraphError(FormatGraphId(id));
  }
  ++it->second.launches;
  return it->second.graph;
}

void PreparedGraphs::EndLaunch(Id id) {
  absl::MutexLock lock(&mutex_);
  const auto it = records_.find(id);
  if (it != records_.end()) --it->second.launches;
}

absl::Status PreparedGraphs::Release(SessionId session, Id id) {
  std::shared_ptr<const ClientGraph> graph;
  {
    absl::MutexLock lock(&mutex_);
    const auto it = records_.find(id);
    if (it == records_.end() || it->second.session != session) {
      return UnknownGraphError(FormatGraphId(id));
    }
    if (it->second.launches > 0) return GraphInUseError(FormatGraphId(id));
    graph = std::move(it->second.graph);
    records_.erase(it);
  }
  cache_.Unpin(*graph->compiled);
  return absl::OkStatus();
}

void PreparedGraphs::EndSession(SessionId session) {
  std::vector<std::shared_ptr<const ClientGraph>> ended;
  {
    absl::MutexLock lock(&mutex_);
    for (auto it = records_.begin(); it != records_.end();) {
      const auto current = it++;
      if (current->second.session != session) continue;
      ended.push_back(std::move(current->second.graph));
      records_.erase(current);
    }
  }
  for (const auto& graph : ended) cache_.Unpin(*graph->compiled);
}

}  // namespace weft::daemon
