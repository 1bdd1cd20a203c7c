#include "transport/ring_client.h"

#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/status_macros.h"

namespace weft::transport {
namespace {

RingHeader* WriteHeader(const SharedMemory& memory, uint32_t capacity) {
  auto* header = new (memory.data()) RingHeader{};
  header->magic = kRingMagic;
  header->version = kRingVersion;
  header->capacity = capacity;
  header->total_bytes = RingBytes(capacity);
  header->submit_offset = SubmitOffset();
  header->completion_offset = CompletionOffset(capacity);
  return header;
}

absl::StatusCode CodeFromWord(uint32_t word) {
  constexpr auto kLast = static_cast<uint32_t>(absl::StatusCode::kUnauthenticated);
  return word <= kLast ? static_cast<absl::StatusCode>(word) : absl::StatusCode::kUnknown;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RingClient>> RingClient::Create(const RingOptions& options) {
  if (!IsRingCapacity(options.capacity)) {
    return absl::InvalidArgumentError(absl::StrCat("ring of ", options.capacity,
                                                   " slots; a power of two from ", kMinRingCapacity,
                                                   " to ", kMaxRingCapacity));
  }
  WEFT_ASSIGN_OR_RETURN(SharedMemory memory,
                        SharedMemory::Create("weft-ring", RingBytes(options.capacity)));
  WriteHeader(memory, options.capacity);
  return std::unique_ptr<RingClient>(new RingClient(std::move(memory), options));
}

RingClient::RingClient(SharedMemory memory, const RingOptions& options)
    : memory_(std::move(memory)),
      capacity_(options.capacity),
      spin_(options.spin),
      slots_(reinterpret_cast<SubmitSlot*>(memory_.data() + SubmitOffset())),
      entries_(reinterpret_cast<CompletionEntry*>(memory_.data() + CompletionOffset(capacity_))),
      server_doorbell_(&reinterpret_cast<RingHeader*>(memory_.data())->server_doorbell),
      client_doorbell_(&reinterpret_cast<RingHeader*>(memory_.data())->client_doorbell),
      notices_(&reinterpret_cast<RingHeader*>(memory_.data())->notices) {}

absl::StatusOr<uint64_t> RingClient::Submit(GraphId graph, uint32_t flags) {
  const uint64_t position = submitted_.load(std::memory_order_relaxed);
  // Acquire: completions that the reading thread counted happened before this slot is written again
  // (R3).
  if (position - read_.load(std::memory_order_acquire) >= capacity_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the launch ring is full: ", capacity_, " launches are in flight"));
  }
  SubmitSlot& slot = slots_[position & (capacity_ - 1)];
  const uint64_t sequence = position + 1;
  slot.graph_id.store(graph.value(), std::memory_order_relaxed);
  slot.flags.store(flags, std::memory_order_relaxed);
  // Before the slot is published: whoever reads this launch's completion then finds it counted.
  submitted_.store(sequence, std::memory_order_release);
  slot.sequence.store(sequence, std::memory_order_seq_cst);  // R1, R7
  server_doorbell_.Ring();
  return sequence;
}

bool RingClient::HasCompletion() const {
  const uint64_t position = read_.load(std::memory_order_relaxed);
  const CompletionEntry& entry = entries_[position & (capacity_ - 1)];
  return entry.stamp.load(std::memory_order_seq_cst) == position + 1;
}

std::optional<Completion> RingClient::Poll() {
  // A broken server can go on for ever: one round of the ring at most.
  for (uint32_t looked_at = 0; looked_at < capacity_ && HasCompletion(); ++looked_at) {
    const uint64_t position = read_.load(std::memory_order_relaxed);
    const CompletionEntry& entry = entries_[position & (capacity_ - 1)];
    const uint64_t sequence = entry.sequence.load(std::memory_order_relaxed);
    const uint32_t code = entry.code.load(std::memory_order_relaxed);
    const uint32_t flags = entry.flags.load(std::memory_order_relaxed);
    read_.store(position + 1, std::memory_order_release);
    if (sequence == 0 || sequence > submitted_.load(std::memory_order_acquire)) {
      impossible_.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    return Completion{sequence, CodeFromWord(code), (flags & kCompletionContextLost) != 0};
  }
  return std::nullopt;
}

std::optional<Completion> RingClient::Wait(absl::Duration timeout) {
  const auto ready = [this] {
    return HasCompletion() || HasNotice() || interrupted_.load(std::memory_order_seq_cst);
  };
  if (!ready()) {
    const absl::Duration start = Clock::Real().Now();
    WaitStrategy(spin_.current()).Wait(client_doorbell_, timeout, ready);
    spin_.Record(Clock::Real().Now() - start);
  }
  std::optional<Completion> completion = Poll();
  if (!completion.has_value()) interrupted_.store(false, std::memory_order_seq_cst);
  return completion;
}

bool RingClient::HasNotice() const {
  return notices_->load(std::memory_order_seq_cst) != notices_taken_;
}

bool RingClient::TakeNotice() {
  const uint32_t count = notices_->load(std::memory_order_seq_cst);
  return std::exchange(notices_taken_, count) != count;
}

void RingClient::Interrupt() {
  interrupted_.store(true, std::memory_order_seq_cst);
  client_doorbell_.Ring();
}

uint64_t RingClient::in_flight() const {
  // In this order: a completion read in between makes the figure too large, never negative.
  const uint64_t read = read_.load(std::memory_order_acquire);
  return submitted_.load(std::memory_order_acquire) - read;
}

}  // namespace weft::transport
