// The bytes of a launch ring, version 1. docs/ring-layout.md has the same as tables; the
// static_asserts below hold both to it. One memfd, made by the client (the producer of launches),
// mapped by client and server:
//
//   page 0      RingHeader
//   page 1 …    SubmitSlot[capacity]        written by the client, read by the server
//   next page … CompletionEntry[capacity]   written by the server, read by the client
//
// Invariants (c: client, s: server; positions count from 0 and are never stored in the ring)
//   R1  Submission p lies in slot p mod capacity. Its `sequence` is p + 1 and is stored last
//       (release): a server that loads p + 1 (acquire) sees the other fields of submission p. Any
//       other value means "not yet".
//   R2  Completion q lies in entry q mod capacity, with stamp q + 1, published in the same way.
//       Completions come in the order of ending, not of submission: `sequence` says which launch
//       has ended.
//   R3  c keeps submitted − completions read ≤ capacity. Hence slot p mod capacity is free when c
//       writes submission p: submission p − capacity was taken, since at least p − capacity + 1
//       launches were completed and s takes in order; and s had copied it before it published any
//       later completion (release), which c has read (acquire).
//   R4  s keeps taken − completed ≤ capacity. With R3, entry q mod capacity was read by c before s
//       writes completion q. A client that breaks R3 loses completions of its own; s reads and
//       writes nothing outside of the ring.
//   R5  No index, offset or length is read from the ring after it was mapped: each side counts for
//       itself. A peer that scribbles over every byte can make the other side see launches or
//       completions that nobody sent, or miss some; it cannot move an access.
//   R6  s loads each field of a slot once, into memory of its own, checks the copy and uses the
//       copy.
//   R7  Stores of `sequence` and `stamp` and the loads that decide to sleep are sequentially
//       consistent, as the doorbells' protocol (wait_strategy.h, W1 and S2) asks for. Everything
//       else is relaxed: R1 and R2 order it.
//   R8  `notices` counts what s has told c beside completions: that a launch in flight has put
//       something where both look (an output that is delivered while the job runs). s stores that
//       first (release), then adds 1 (sequentially consistent, W1), then rings: a c that reads
//       another count than last time (S2) sees what was stored before. c only compares counts: it
//       bounds nothing, and a hostile one costs c a look for each change.
//
// Room for later versions: argument bytes of a launch (an area behind the completions, a range of
// it named by the slot's reserved words, announced by a slot flag) and completions written by the
// device itself (a word per launch in another area, likewise). Version 1 refuses every flag, so
// that neither can be mistaken.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::transport {

inline constexpr uint64_t kRingMagic = 0x474e495254464557;  // "WEFTRING" in memory order
inline constexpr uint32_t kRingVersion = 1;
inline constexpr uint32_t kMinRingCapacity = 2;
// 6 MiB of ring; far more launches than a device has in flight.
inline constexpr uint32_t kMaxRingCapacity = 65536;
inline constexpr uint64_t kRingPageBytes = 4096;
// A cache line of x86-64 and of most Arm servers; 128-byte ones share lines between neighbours,
// which costs time only.
inline constexpr uint64_t kRingLineBytes = 64;

// Page 0. Written once by the client before the descriptor is sent, except for the doorbells.
struct RingHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t capacity;           // slots and entries; a power of two
  uint64_t total_bytes;        // size of the memfd
  uint64_t submit_offset;      // bytes from the start of the memfd
  uint64_t completion_offset;  // bytes from the start of the memfd
  uint8_t reserved0[24];       // 0
  // Doorbells on lines of their own: each is polled by one side while the other works.
  alignas(kRingLineBytes) std::atomic<uint32_t> server_doorbell;  // rung by the client
  uint8_t reserved1[60];
  alignas(kRingLineBytes) std::atomic<uint32_t> client_doorbell;  // rung by the server
  std::atomic<uint32_t> notices;                                  // R8; wraps around
  uint8_t reserved2[56];
};

// One launch.
struct alignas(kRingLineBytes) SubmitSlot {
  std::atomic<uint64_t> sequence;     // R1; stored last
  std::atomic<uint64_t> graph_id;     // id of a prepared graph
  std::atomic<uint32_t> flags;        // 0 in version 1
  std::atomic<uint32_t> reserved0;    // not read in version 1
  std::atomic<uint64_t> reserved[5];  // not read in version 1
};

// Flags of a CompletionEntry.
inline constexpr uint32_t kCompletionContextLost =
    1;  // the server is about to end: its device context is dead

// The end of one launch.
struct CompletionEntry {
  std::atomic<uint64_t> stamp;     // R2; stored last
  std::atomic<uint64_t> sequence;  // of the launch that ended
  std::atomic<uint32_t> code;      // absl::StatusCode; 0: succeeded
  std::atomic<uint32_t> flags;     // kCompletion…
  std::atomic<uint64_t> reserved;  // 0
};

constexpr uint64_t SubmitOffset() { return kRingPageBytes; }
constexpr uint64_t CompletionOffset(uint32_t capacity) {
  const uint64_t end = SubmitOffset() + uint64_t{capacity} * sizeof(SubmitSlot);
  return (end + kRingPageBytes - 1) / kRingPageBytes * kRingPageBytes;
}
constexpr uint64_t RingBytes(uint32_t capacity) {
  const uint64_t end = CompletionOffset(capacity) + uint64_t{capacity} * sizeof(CompletionEntry);
  return (end + kRingPageBytes - 1) / kRingPageBytes * kRingPageBytes;
}
constexpr bool IsRingCapacity(uint32_t capacity) {
  return capacity >= kMinRingCapacity && capacity <= kMaxRingCapacity &&
         (capacity & (capacity - 1)) == 0;
}

// Shared memory needs atomics that are the bare integer, without a lock.
static_assert(std::atomic<uint64_t>::is_always_lock_free && sizeof(std::atomic<uint64_t>) == 8);
static_assert(std::atomic<uint32_t>::is_always_lock_free && sizeof(std::atomic<uint32_t>) == 4);

static_assert(sizeof(RingHeader) == 192 && sizeof(RingHeader) <= kRingPageBytes);
static_assert(offsetof(RingHeader, magic) == 0);
static_assert(offsetof(RingHeader, version) == 8);
static_assert(offsetof(RingHeader, capacity) == 12);
static_assert(offsetof(RingHeader, total_bytes) == 16);
static_assert(offsetof(RingHeader, submit_offset) == 24);
static_assert(offsetof(RingHeader, completion_offset) == 32);
static_assert(offsetof(RingHeader, server_doorbell) == 64);
static_assert(offsetof(RingHeader, client_doorbell) == 128);
static_assert(offsetof(RingHeader, notices) == 132);

static_assert(sizeof(SubmitSlot) == 64);
static_assert(offsetof(SubmitSlot, sequence) == 0);
static_assert(offsetof(SubmitSlot, graph_id) == 8);
static_assert(offsetof(SubmitSlot, flags) == 16);
static_assert(offsetof(SubmitSlot, reserved) == 24);

static_assert(sizeof(CompletionEntry) == 32);
static_assert(offsetof(CompletionEntry, stamp) == 0);
static_assert(offsetof(CompletionEntry, sequence) == 8);
static_assert(offsetof(CompletionEntry, code) == 16);
static_assert(offsetof(CompletionEntry, flags) == 20);

static_assert(RingBytes(kMaxRingCapacity) == 4096 + 65536 * 96);

}  // namespace weft::transport
