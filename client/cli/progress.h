// The live line of a job that is waited for: its state and how long it has had it.
//
// Thread safety: Update from one thread; a thread of the line's own redraws it.
#pragma once

#include <ostream>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "weft/v1/job.pb.h"

namespace weft::cli {

class ProgressLine {
 public:
  // `terminal` is written to from now to the end of the line's life by this class alone.
  ProgressLine(std::ostream& terminal, const Clock& clock);
  // Wipes the line.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Update(const v1::JobInfo& info);

  // "job 7 (edges): running for 1.2 s, 12 nodes in 3 lanes"
  static std::string Text(const v1::JobInfo& info, absl::Duration since);

 private:
  void Loop();
  void Draw() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::ostream& terminal_;
  const Clock& clock_;
  absl::Mutex mutex_;
  absl::CondVar changed_;
  v1::JobInfo info_ ABSL_GUARDED_BY(mutex_);
  absl::Duration state_since_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace weft::cli
