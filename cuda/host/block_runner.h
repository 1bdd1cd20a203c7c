// Runs the threads of a launch as fibers of the calling thread, block after block.
//
// A thread runs until it waits for others. One that never waits costs no switch: when it returns, its
// fiber takes the next thread, and the next block. So a kernel without barriers needs one fiber, and
// one with barriers as many as a block has threads.
//
// Threads cannot be interrupted: one that spins until another thread of its block has done something
// spins for ever. A lock that its holder gives back without waiting works.
//
// Thread safety: none; launches on different threads have nothing in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/host/fiber.h"
#include "cuda/host/image_abi.h"
#include "cuda/host/warp.h"

namespace weft::hostcuda {

// What launches on one of the system's threads use again: fibers with their stacks, and the dynamic
// shared memory.
class BlockMemory {
 public:
  BlockMemory() = default;
  ~BlockMemory();
  BlockMemory(const BlockMemory&) = delete;
  BlockMemory& operator=(const BlockMemory&) = delete;

  // The calling thread's own.
  static BlockMemory& OfThisThread();

  // An idle fiber, made when there is none; null without memory.
  ThreadFiber* Take();
  void GiveBack(ThreadFiber& fiber);
  // Unwinds and destroys the fibers that were taken and not given back.
  void DropTaken();
  // kSharedBytesOptin bytes at one address for ever; null without memory.
  void* dynamic_shared();

 private:
  std::vector<std::unique_ptr<ThreadFiber>> fibers_;
  std::vector<ThreadFiber*> idle_;
  void* dynamic_shared_ = nullptr;
};

class BlockRunner {
 public:
  BlockRunner(const weft_host_launch& launch, weft_host_thread_fn body, void* argument,
              BlockMemory& memory);

  // WEFT_HOST_OK; WEFT_HOST_LAUNCH_FAILED when a thread failed or threw, or when all that is left
  // waits for what cannot come; WEFT_HOST_OUT_OF_MEMORY.
  int32_t Run();

  // Called by the threads. Those that wait may throw Fiber::Abandoned.
  int32_t SyncBlock(ThreadFiber& self, uint32_t answer, bool predicate);
  uint64_t SyncWarp(ThreadFiber& self, Warp::Operation operation);
  uint32_t ActiveMask(ThreadFiber& self);
  void* dynamic_shared() { return memory_.dynamic_shared(); }
  [[noreturn]] void Fail(ThreadFiber& self);

  // Runs threads, beginning with the next, until none is left to start. Called on the fiber.
  void Serve(ThreadFiber& self);

 private:
  bool BeginNextBlock();
  void BeginThread(ThreadFiber& thread);
  void EndThread(ThreadFiber& thread);
  bool StartFiber();
  // What can be done when every thread of the block waits: false when nothing.
  bool ReleaseActiveMasks();
  void ReleaseBlock();
  void MakeReady(Warp& warp, uint32_t lanes, const ThreadFiber* except);

  const weft_host_launch& launch_;
  const weft_host_thread_fn body_;
  void* const argument_;
  BlockMemory& memory_;
  const uint32_t threads_;  // of a block
  weft_host_thread next_;   // the next thread to start; its block is the one that runs
  uint32_t started_ = 0;    // of this block
  uint32_t live_ = 0;       // of this block: have not returned
  bool last_block_over_ = false;
  std::vector<Warp> warps_;
  std::vector<ThreadFiber*> at_barrier_;
  uint32_t true_predicates_ = 0;  // of those at the barrier
  std::vector<ThreadFiber*> ready_;
  int32_t end_ = WEFT_HOST_OK;
};

}  // namespace weft::hostcuda
