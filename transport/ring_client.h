// The client's end of a launch ring: submits launches of prepared graphs, reads their completions.
//
//   auto ring = RingClient::Create({.capacity = 1024});
//   socket.Send({.kind = …}, {ring->fd()});              // the server attaches to it
//   uint64_t sequence = *ring->Submit(graph);
//   std::optional<Completion> done = ring->Wait(absl::Seconds(1));   // done->sequence == sequence
//
// Layout, invariants and memory orders: ring_layout.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/ids.h"
#include "transport/ring_layout.h"
#include "transport/shared_memory.h"
#include "transport/spin_budget.h"
#include "transport/wait_strategy.h"

namespace weft::transport {

struct RingOptions {
  uint32_t capacity = 1024;                       // launches in flight at most; IsRingCapacity
  absl::Duration spin = absl::Microseconds(500);  // Wait spins so long at most, then sleeps
};

// The end of one launch.
struct Completion {
  uint64_t sequence = 0;  // what Submit returned
  absl::StatusCode code = absl::StatusCode::kOk;
  bool context_lost = false;  // the server ends; no further launch will be run
};

// Owns the ring's memory.
// Thread safety: one thread at a time submits (Submit), one thread at a time reads completions
// (Poll, Wait, TakeNotice); they may be two threads. Interrupt from any thread. Cost: Submit is about
// ten stores and no system call while the server spins; Poll is one load when there is nothing.
class RingClient {
 public:
  // INVALID_ARGUMENT: capacity is not a power of two in [kMinRingCapacity, kMaxRingCapacity].
  static absl::StatusOr<std::unique_ptr<RingClient>> Create(const RingOptions& options);

  RingClient(const RingClient&) = delete;
  RingClient& operator=(const RingClient&) = delete;

  // Launches `graph`; returns the sequence that its completion will carry (1, 2, 3, …: the number
  // of this submission). Its completion may be read by the other thread before Submit has returned.
  // RESOURCE_EXHAUSTED: capacity launches are in flight. Does not block.
  absl::StatusOr<uint64_t> Submit(GraphId graph, uint32_t flags = 0);

  // The next completion, or none now.
  std::optional<Completion> Poll();

  // The next completion; waits for it. None after `timeout`, when interrupted, or when there is a
  // notice that TakeNotice has not taken.
  std::optional<Completion> Wait(absl::Duration timeout);

  // True when the server has given notices since the last call (RingServer::notice): the caller then
  // looks where they are about. Of the thread that reads completions.
  bool TakeNotice();

  // Makes the Wait in progress, or else the next one, return.
  void Interrupt();

  // Launches submitted whose completion was not read yet. Exact for a thread that does both.
  uint64_t in_flight() const;
  // Completions dropped because their sequence was never submitted: the server is broken.
  uint64_t impossible_completions() const { return impossible_.load(std::memory_order_relaxed); }
  int fd() const { return memory_.fd(); }  // to send to the server

 private:
  RingClient(SharedMemory memory, const RingOptions& options);
  bool HasCompletion() const;
  bool HasNotice() const;

  const SharedMemory memory_;
  const uint32_t capacity_;
  SpinBudget spin_;  // of the reading thread
  SubmitSlot* const slots_;
  CompletionEntry* const entries_;
  const Doorbell server_doorbell_;
  const Doorbell client_doorbell_;
  const std::atomic<uint32_t>* const notices_;
  uint32_t notices_taken_ = 0;  // of the reading thread
  // Written by the submitting thread; read by the other for the check of a sequence.
  std::atomic<uint64_t> submitted_{0};
  // Written by the reading thread; read by the submitting one for R3. Release/acquire carries R3's
  // "has read".
  std::atomic<uint64_t> read_{0};
  std::atomic<uint64_t> impossible_{0};
  std::atomic<bool> interrupted_{false};
};

}  // namespace weft::transport
