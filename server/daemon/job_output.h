// Outputs of a job as clients get them, and those that they get while it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "kernels/dtype.h"

namespace weft::daemon {

struct JobOutput {
  std::string name;
  kernels::DType dtype = kernels::DType::kU8;
  std::vector<uint64_t> shape;
  std::string file;
  std::string data;
};
// Shared by the log, the result of the job and the writes to its watchers; never changed.
using JobOutputPtr = std::shared_ptr<const JobOutput>;

// What has been delivered of a running job, in the order of delivery; it only grows. Shared by the job,
// its place in the table and its watchers, each of which reads at its own pace.
// Thread safety: all members may be called from any thread. Cost: O(1).
class OutputLog {
 public:
  void Append(JobOutputPtr output);
  // Null: not so many yet.
  JobOutputPtr At(size_t position) const;
  uint64_t bytes() const;  // of the outputs

 private:
  mutable absl::Mutex mutex_;
  std::vector<JobOutputPtr> outputs_ ABSL_GUARDED_BY(mutex_);
  uint64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace weft::daemon
