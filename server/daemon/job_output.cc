#include "server/daemon/job_output.h"

#include <utility>

namespace weft::daemon {

void OutputLog::Append(JobOutputPtr output) {
  absl::MutexLock lock(&mutex_);
  bytes_ += output->data.size();
  outputs_.push_back(std::move(output));
}

JobOutputPtr OutputLog::At(size_t position) const {
  absl::MutexLock lock(&mutex_);
  return position < outputs_.size() ? outputs_[position] : nullptr;
}

uint64_t OutputLog::bytes() const {
  absl::MutexLock lock(&mutex_);
  return bytes_;
}

}  // namespace weft::daemon
