// Graphs that clients prepared: names for compiled jobs that are pinned in the graph cache until
// they are released or their connection ends.
//
// Thread safety: all members may be called from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/ids.h"
#include "server/daemon/caller.h"
#include "server/daemon/compiled_job.h"
#include "server/daemon/graph_cache.h"
#include "server/daemon/id_text.h"
#include "server/daemon/job_compiler.h"

namespace weft::daemon {

// What a launch of a prepared graph needs. Immutable.
struct ClientGraph {
  std::shared_ptr<const CompiledJob> compiled;
  std::vector<UploadBytes> uploads;  // of the job as it was prepared
  JobRequestOptions options;
};

class PreparedGraphs {
 public:
  using Id = ClientGraphId;

  // REQUIRES: `cache` outlives this.
  explicit PreparedGraphs(GraphCache& cache) : cache_(cache) {}

  // REQUIRES: graph.compiled is pinned; it is unpinned when the graph ends.
  Id Add(SessionId session, ClientGraph graph);
  // Counts a launch; EndLaunch gives it back. NOT_FOUND for another session's too.
  absl::StatusOr<std::shared_ptr<const ClientGraph>> BeginLaunch(SessionId session, Id id);
  void EndLaunch(Id id);
  // NOT_FOUND, FAILED_PRECONDITION (launches that have not ended).
  absl::Status Release(SessionId session, Id id);
  // Ends the graphs of a session. Launches that have not ended go on.
  void EndSession(SessionId session);

 private:
  struct Record {
    SessionId session;
    std::shared_ptr<const ClientGraph> graph;
    uint32_t launches = 0;  // that have not ended
  };

  GraphCache& cache_;
  absl::Mutex mutex_;
  std::map<Id, Record> records_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_id_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace weft::daemon
