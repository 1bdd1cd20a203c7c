// The outputs of one run that are delivered while it runs: looks at the words in the staging area that
// say that one is ready, and takes its bytes from there, once.
//
//   waiting ──Begin──▶ looking ──End──▶ over     the staging area is somebody else's
//
// The staging area is hostile: a word says "ready" or not, and place and size of the bytes are those of
// weftd's own plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/daemon/compiled_job.h"
#include "server/daemon/job_output.h"
#include "transport/shared_memory.h"

namespace weft::daemon {

// The output of a slot with the bytes that now lie in the staging area.
JobOutputPtr CopyOutput(const OutputSlot& slot, const transport::SharedMemory& staging);

// Thread safety: all members may be called from any thread; they wait for each other, for as long as it
// takes to copy outputs.
class HostOutputs {
 public:
  // Delivers into `log`.
  HostOutputs(std::shared_ptr<const CompiledJob> compiled, std::shared_ptr<OutputLog> log);
  HostOutputs(const HostOutputs&) = delete;
  HostOutputs& operator=(const HostOutputs&) = delete;

  // The launch is about to be made: no output is ready. `staging`: of the graph to be launched; used
  // until End.
  void Begin(const transport::SharedMemory& staging);
  // Delivers what has become ready. True when that is anything. Linear in what is not delivered yet.
  bool Take();

  enum class Rest {
    kReady,  // of a launch that failed: what is ready
    kAll,    // of one that succeeded: every node has run, whatever the words say
  };
  // Delivers the rest. A second call does nothing.
  void End(Rest rest);

  // What was delivered of a slot; null: nothing yet.
  JobOutputPtr Delivered(size_t slot) const;

 private:
  bool TakeLocked(Rest rest) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::shared_ptr<const CompiledJob> compiled_;
  const std::shared_ptr<OutputLog> log_;
  mutable absl::Mutex mutex_;
  const transport::SharedMemory* staging_ ABSL_GUARDED_BY(mutex_) = nullptr;  // null: not looking
  std::vector<uint32_t> missing_ ABSL_GUARDED_BY(mutex_);        // slots, in program order
  std::vector<JobOutputPtr> delivered_ ABSL_GUARDED_BY(mutex_);  // by slot
};

}  // namespace weft::daemon
