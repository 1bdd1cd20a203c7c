// weftd as one object: owns everything, in order; starts, drains, stops.
//
//   kStarting ──all executors serve──▶ kServing ──Drain──▶ kDraining ──idle, or grace over──▶ kDrained
//       └────────an executor cannot start────────▶ kFailed
//
// Threads, and what each may do:
//   main           signals, and what stands in this header.
//   gRPC           handlers of RPCs, replies of executors. Never block: what takes long goes to the
//                  workers, what waits is a callback.
//   listener       accepts connections, sees their ends, releases what a session leaves.
//   supervisor     one a device: starts and watches its executor; answers what was in progress when
//                  it is lost.
//   completions    one a device: reads the ring, ends jobs, answers those who wait for them, and
//                  starts the next.
//   timers         deadlines.
//   workers        compiling jobs, copying large uploads and outputs.
//   drain          waits for the jobs to end, once.
// A job passes from thread to thread as job_manager.h draws it. Locks: each class has its own, holds
// it for a few instructions, and calls nothing of another class under it, with two exceptions:
// JobManager adds timers under its lock, and RingLauncher submits to the ring under its own.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/daemon/config.h"

namespace weft::daemon {

// Thread safety: the main thread's.
class Daemon {
 public:
  enum class Phase { kStarting, kServing, kFailed, kDraining, kDrained };

  // Takes the socket, starts the executors and accepts connections; RPCs that need an executor
  // answer UNAVAILABLE until it serves. REQUIRES: `config` passed FinishConfig; SIGTERM and SIGINT
  // are blocked.
  static absl::StatusOr<std::unique_ptr<Daemon>> Start(const Config& config);
  // Ends everything: jobs that have not ended are ABORTED, executors are ended, the socket is
  // removed.
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // Takes no new work; kDrained follows when no job is left or drain_grace_ms has passed.
  void Drain();

  Phase phase() const;
  // Why an executor could not start, in kFailed.
  absl::Status error() const;
  // Readable when the phase has changed since the last call of phase() (an eventfd).
  int changed_fd() const;
  const std::string& socket() const;

 private:
  struct Parts;  // keeps the parts' headers, and gRPC, out of this one
  explicit Daemon(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace weft::daemon
