// From a received job to a compiled one: inline bytes taken out, shared buffers looked up, then,
// unless an equal job is in the cache, every check and the plan.
//
//   ReceivedJob received = compiler.Receive(caller, std::move(job));
//   std::shared_ptr<const CompiledJob> compiled = compiler.Find(received);
//   if (compiled == nullptr) compiled = compiler.Compile(received);   // slow: off the RPC's thread
//
// Thread safety: immutable but for what it refers to; all members may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/ir/fingerprint.h"
#include "graph/ir/limits.h"
#include "server/daemon/buffer_registry.h"
#include "server/daemon/caller.h"
#include "server/daemon/compiled_job.h"
#include "server/daemon/executor_directory.h"
#include "server/daemon/graph_cache.h"

namespace weft::v1 {
class Job;
}

namespace weft::daemon {

// A job as it came, its bytes and buffers apart. Move-only.
struct ReceivedJob {
  ReceivedJob();
  ReceivedJob(ReceivedJob&&) noexcept;
  ReceivedJob& operator=(ReceivedJob&&) noexcept;
  ~ReceivedJob();

  Caller caller;
  std::unique_ptr<v1::Job> job;      // without inline bytes
  std::vector<std::string> uploads;  // those bytes
  // What each shared declaration of the job refers to, in their order.
  std::vector<absl::StatusOr<BufferSnapshot>> buffers;
  bool resolved = false;        // all of `buffers` are OK
  ir::Fingerprint fingerprint;  // when `resolved`
};

// What a job's result needs besides the compiled job, since equal jobs may differ in it.
struct JobRequestOptions {
  std::string name;
  uint64_t deadline_ms = 0;
};

// Whose jobs may bring code along.
struct UserKernelPolicy {
  enum class Who : uint8_t { kOwner, kEveryone, kNobody };
  Who who = Who::kOwner;
  uid_t owner = 0;  // the user that weftd runs as
};

class JobCompiler {
 public:
  // REQUIRES: the referenced objects outlive this.
  JobCompiler(const ir::Fingerprinter& fingerprinter, const ir::Limits& limits,
              UserKernelPolicy user_kernels, const BufferRegistry& buffers,
              const ExecutorDirectory& executors, GraphCache& cache)
      : fingerprinter_(fingerprinter),
        limits_(limits),
        user_kernels_(user_kernels),
        buffers_(buffers),
        executors_(executors),
        cache_(cache) {}

  // Takes the job apart. Cost: linear in the job's structure, whatever its bytes; no planning.
  ReceivedJob Receive(const Caller& caller, v1::Job job) const;

  // PERMISSION_DENIED for a job with code of its own from a caller who may not bring any.
  absl::Status CheckAllowed(const Caller& caller, const v1::Job& job) const;

  // The compiled form of an equal job; nullptr when none is cached.
  std::shared_ptr<const CompiledJob> Find(const ReceivedJob& received) const;

  // Checks and plans the job, and caches the result. INVALID_ARGUMENT with a violation for every
  // fault, NOT_FOUND and PERMISSION_DENIED for buffers, RESOURCE_EXHAUSTED for scratch memory.
  absl::StatusOr<std::shared_ptr<const CompiledJob>> Compile(ReceivedJob& received) const;

  // The plan as `weft plan` prints it, made anew from the compiled job for one of that name.
  absl::StatusOr<std::string> PlanText(const CompiledJob& compiled, const std::string& name) const;

  static JobRequestOptions OptionsOf(const ReceivedJob& received);

 private:
  const ir::Fingerprinter& fingerprinter_;
  const ir::Limits limits_;
  const UserKernelPolicy user_kernels_;
  const BufferRegistry& buffers_;
  const ExecutorDirectory& executors_;
  GraphCache& cache_;
};

}  // namespace weft::daemon
