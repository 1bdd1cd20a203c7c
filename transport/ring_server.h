// The server's end of a launch ring: takes launches, publishes their completions. The client is
// assumed hostile: see R4 to R6 in ring_layout.h, where layout, invariants and memory orders stand.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "base/unique_fd.h"
#include "transport/ring_layout.h"
#include "transport/shared_memory.h"
#include "transport/wait_strategy.h"

namespace weft::transport {

// One launch asked for. Copied and checked; whether `graph` exists is the caller's to look up.
struct Submission {
  uint64_t sequence = 0;  // to be given to Complete; unique in this ring
  GraphId graph;
};

// Tells the client that a launch in flight has something for it, which is no completion (R8). A
// value; does not own the ring, which must outlive every Give.
// Thread safety: Give from any thread, a host function's included: it makes no call but, for a
// client that sleeps, the one that wakes it.
class RingNotice {
 public:
  RingNotice(std::atomic<uint32_t>* count, Doorbell doorbell)
      : count_(count), doorbell_(doorbell) {}

  // REQUIRES: what the notice is about was stored before, with release order.
  void Give() const;

 private:
  std::atomic<uint32_t>* count_;
  Doorbell doorbell_;
};

// Owns the ring's mapping.
// Thread safety: one thread at a time, except doorbell().Ring() and notice().Give().
// Cost: Take is one load when there is nothing; Complete is five stores, and a system call when the
// client sleeps.
class RingServer {
 public:
  // Maps the ring that a client made. INVALID_ARGUMENT or FAILED_PRECONDITION: not a sealed memfd,
  // or wrong magic, version, capacity, size or offsets.
  static absl::StatusOr<std::unique_ptr<RingServer>> Attach(UniqueFd fd);

  RingServer(const RingServer&) = delete;
  RingServer& operator=(const RingServer&) = delete;

  // The next launch, or none now. A slot with flags that this version does not know is completed
  // here with INVALID_ARGUMENT and skipped. None also while capacity launches are taken and not
  // completed (an honest client never gets there).
  std::optional<Submission> Take();

  // True when Take would look at a slot; for the second look between Arm and Sleep.
  bool HasSubmission() const;

  // Publishes the end of a launch and wakes the client when it sleeps. REQUIRES: `sequence` came
  // from Take and is completed once.
  void Complete(uint64_t sequence, absl::StatusCode code, uint32_t flags = 0);

  // What the client rings after it submitted; whoever serves the ring sleeps on it.
  const Doorbell& doorbell() const { return server_doorbell_; }
  RingNotice notice() const { return RingNotice(notices_, client_doorbell_); }

  uint64_t in_flight() const { return taken_ - completed_; }
  uint64_t refused() const { return refused_; }  // slots completed by Take itself

 private:
  RingServer(SharedMemory memory, uint32_t capacity);

  const SharedMemory memory_;
  const uint32_t capacity_;  // as checked once by Attach; the header is not read again (R5)
  SubmitSlot* const slots_;
  CompletionEntry* const entries_;
  const Doorbell server_doorbell_;
  const Doorbell client_doorbell_;
  std::atomic<uint32_t>* const notices_;
  uint64_t taken_ = 0;
  uint64_t completed_ = 0;
  uint64_t refused_ = 0;
};

}  // namespace weft::transport
