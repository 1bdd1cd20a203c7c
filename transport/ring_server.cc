#include "transport/ring_server.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace weft::transport {
namespace {

absl::Status BadRing(absl::string_view field, uint64_t value, uint64_t expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("launch ring: ", field, " is ", value, ", expected ", expected));
}

// The checked capacity. Each field is read once.
absl::StatusOr<uint32_t> CheckHeader(const SharedMemory& memory) {
  const auto* header = reinterpret_cast<const volatile RingHeader*>(memory.data());
  const uint64_t magic = header->magic;
  const uint32_t version = header->version;
  const uint32_t capacity = header->capacity;
  const uint64_t total_bytes = header->total_bytes;
  const uint64_t submit_offset = header->submit_offset;
  const uint64_t completion_offset = header->completion_offset;
  if (magic != kRingMagic) return BadRing("magic", magic, kRingMagic);
  if (version != kRingVersion) return BadRing("version", version, kRingVersion);
  if (!IsRingCapacity(capacity)) {
    return absl::InvalidArgumentError(absl::StrCat("launch ring: capacity is ", capacity,
                                                   ", expected a power of two from ",
                                                   kMinRingCapacity, " to ", kMaxRingCapacity));
  }
  if (memory.size() != RingBytes(capacity)) {
    return BadRing("size of the memory", memory.size(), RingBytes(capacity));
  }
  if (total_bytes != memory.size()) return BadRing("total_bytes", total_bytes, memory.size());
  if (submit_offset != SubmitOffset()) {
    return BadRing("submit_offset", submit_offset, SubmitOffset());
  }
  if (completion_offset != CompletionOffset(capacity)) {
    return BadRing("completion_offset", completion_offset, CompletionOffset(capacity));
  }
  return capacity;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RingServer>> RingServer::Attach(UniqueFd fd) {
  WEFT_ASSIGN_OR_RETURN(
      SharedMemory memory,
      SharedMemory::Map(std::move(fd), RingBytes(kMinRingCapacity), RingBytes(kMaxRingCapacity)));
  WEFT_ASSIGN_OR_RETURN(const uint32_t capacity, CheckHeader(memory));
  return std::unique_ptr<RingServer>(new RingServer(std::move(memory), capacity));
}

RingServer::RingServer(SharedMemory memory, uint32_t capacity)
    : memory_(std::move(memory)),
      capacity_(capacity),
      slots_(reinterpret_cast<SubmitSlot*>(memory_.data() + SubmitOffset())),
      entries_(reinterpret_cast<CompletionEntry*>(memory_.data() + CompletionOffset(capacity))),
      server_doorbell_(&reinterpret_cast<RingHeader*>(memory_.data())->server_doorbell),
      client_doorbell_(&reinterpret_cast<RingHeader*>(memory_.data())->client_doorbell),
      notices_(&reinterpret_cast<RingHeader*>(memory_.data())->notices) {}

void RingNotice::Give() const {
  count_->fetch_add(1, std::memory_order_seq_cst);  // R8
  doorbell_.Ring();
}

bool RingServer::HasSubmission() const {
  if (taken_ - completed_ >= capacity_) return false;  // R4
  const SubmitSlot& slot = slots_[taken_ & (capacity_ - 1)];
  return slot.sequence.load(std::memory_order_seq_cst) == taken_ + 1;
}

std::optional<Submission> RingServer::Take() {
  // A hostile client can refill the ring as fast as slots are refused: one round of it at most.
  for (uint32_t looked_at = 0; looked_at < capacity_ && HasSubmission(); ++looked_at) {
    const SubmitSlot& slot = slots_[taken_ & (capacity_ - 1)];
    const uint64_t graph_id = slot.graph_id.load(std::memory_order_relaxed);
    const uint32_t flags = slot.flags.load(std::memory_order_relaxed);
    const uint64_t sequence = ++taken_;
    if (flags == 0) return Submission{sequence, GraphId(graph_id)};
    ++refused_;
    Complete(sequence, absl::StatusCode::kInvalidArgument);
  }
  return std::nullopt;
}

void RingServer::Complete(uint64_t sequence, absl::StatusCode code, uint32_t flags) {
  CompletionEntry& entry = entries_[completed_ & (capacity_ - 1)];
  entry.sequence.store(sequence, std::memory_order_relaxed);
  entry.code.store(static_cast<uint32_t>(code), std::memory_order_relaxed);
  entry.flags.store(flags, std::memory_order_relaxed);
  ++completed_;
  entry.stamp.store(completed_, std::memory_order_seq_cst);  // R2, R7
  client_doorbell_.Ring();
}

}  // namespace weft::transport
