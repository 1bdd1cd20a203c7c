// The threads of a block as they wait for each other, and the warps they are in.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "cuda/host/device_attributes.h"
#include "cuda/host/fiber.h"
#include "cuda/host/image_abi.h"

namespace weft::hostcuda {

class BlockRunner;
class Warp;

// A fiber and the thread that it runs at the time: a thread stays on one fiber from its start to its
// end, then the fiber takes another one.
struct ThreadFiber : weft_host_thread {
  std::unique_ptr<Fiber> fiber;
  BlockRunner* runner = nullptr;  // null while idle
  Warp* warp = nullptr;

  // What it waits with, and what it was given when the wait was over.
  uint32_t answer = 0;         // at the block's barrier: WEFT_HOST_COUNT, …
  uint32_t mask = 0;           // in its warp
  uint32_t source = 0;         // in its warp: whose value it wants
  uint64_t value = 0;          // in its warp
  const void* site = nullptr;  // at active_mask: the call's return address
  uint64_t result = 0;

  uint32_t bit() const { return uint32_t{1} << lane; }
};

// The lanes of one warp.
//
//   start ─▶ running ─▶ returned
//              │ ▲
//       Arrive │ │ complete, or all stuck (active_mask)
//              ▼ │
//             waiting
//
// Lanes that a small block does not have count as returned. Thread safety: none.
class Warp {
 public:
  using Lanes = std::array<ThreadFiber*, kWarpSize>;
  enum class Operation { kVote, kShuffle };

  // `lanes`: how many threads the block has for it, 1 to 32.
  void Reset(uint32_t lanes);
  uint32_t returned() const { return returned_; }

  // The thread waits for the others of its mask (thread.mask). Returns the lanes whose wait is over
  // now, `thread` among them when it was the last, with their results set; or 0.
  uint32_t Arrive(ThreadFiber& thread, Operation operation);
  // The lane has returned. As Arrive: the lanes that waited for it alone.
  uint32_t Return(const ThreadFiber& thread);
  // The thread waits to learn who is with it.
  void ArriveAtActiveMask(ThreadFiber& thread);
  // Nobody else can go on: ends all waits for the active mask. The lanes whose wait is over, or 0.
  uint32_t ReleaseActiveMask();

  ThreadFiber& lane(int index) { return *lanes_[index]; }

 private:
  uint32_t CompleteIfAllCame(uint32_t mask);

  Lanes lanes_ = {};  // those that wait
  std::array<Operation, kWarpSize> operations_ = {};
  uint32_t waiting_ = 0;  // for the lanes of a mask
  uint32_t at_active_mask_ = 0;
  uint32_t returned_ = 0;
};

}  // namespace weft::hostcuda
