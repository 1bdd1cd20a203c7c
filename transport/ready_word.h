// The words in a graph's staging area by which an executor tells that an output is there before its
// launch ends. The client of the ring stores kOutputPending before each launch, the server
// kOutputReady behind the bytes of the output (release), and gives a notice (ring_layout.h, R8).
// Every other value means "not yet": the memory may be written by anybody who has it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::transport {

inline constexpr uint32_t kOutputPending = 0;
inline constexpr uint32_t kOutputReady = 1;

// The word at `offset` of an area. REQUIRES: the offset is a multiple of 4, in the area.
inline std::atomic<uint32_t>* ReadyWord(std::byte* area, uint64_t offset) {
  return reinterpret_cast<std::atomic<uint32_t>*>(area + offset);
}

}  // namespace weft::transport
