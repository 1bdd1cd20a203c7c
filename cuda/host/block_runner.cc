#include "cuda/host/block_runner.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "cuda/host/block_runtime.h"
#include "cuda/host/device_attributes.h"

namespace weft::hostcuda {
namespace {

// Counts x, y and z as an odometer does; false when it starts again at zero.
bool Advance(uint32_t (&at)[3], const uint32_t (&size)[3]) {
  for (int i = 0; i < 3; ++i) {
    if (++at[i] < size[i]) return true;
    at[i] = 0;
  }
  return false;
}

}  // namespace

// Launches do not know on which thread of the pool they run, and must find its fibers quickly.
BlockMemory& BlockMemory::OfThisThread() {
  thread_local BlockMemory memory;
  return memory;
}

BlockMemory::~BlockMemory() {
  if (dynamic_shared_ != nullptr) ::munmap(dynamic_shared_, kSharedBytesOptin);
}

ThreadFiber* BlockMemory::Take() {
  if (idle_.empty()) {
    auto made = std::make_unique<ThreadFiber>();
    made->fiber = Fiber::Create([thread = made.get()](Fiber& fiber) {
      for (;; fiber.Suspend()) thread->runner->Serve(*thread);
    });
    if (made->fiber == nullptr) return nullptr;
    idle_.push_back(made.get());
    fibers_.push_back(std::move(made));
  }
  ThreadFiber* taken = idle_.back();
  idle_.pop_back();
  return taken;
}

void BlockMemory::GiveBack(ThreadFiber& fiber) {
  fiber.runner = nullptr;
  idle_.push_back(&fiber);
}

void BlockMemory::DropTaken() {
  std::erase_if(fibers_, [](const auto& fiber) { return fiber->runner != nullptr; });
}

void* BlockMemory::dynamic_shared() {
  if (dynamic_shared_ == nullptr) {
    void* mapping = ::mmap(nullptr, kSharedBytesOptin, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping != MAP_FAILED) dynamic_shared_ = mapping;
  }
  return dynamic_shared_;
}

BlockRunner::BlockRunner(const weft_host_launch& launch, weft_host_thread_fn body, void* argument,
                         BlockMemory& memory)
    : launch_(launch),
      body_(body),
      argument_(argument),
      memory_(memory),
      threads_(launch.block_x * launch.block_y * launch.block_z),
      next_{0, 0, 0, 0, 0, 0, 0, &launch, &BlockRuntime()},
      warps_((threads_ + kWarpSize - 1) / kWarpSize) {}

int32_t BlockRunner::Run() {
  if (launch_.shared_bytes > 0 && memory_.dynamic_shared() == nullptr)
    return WEFT_HOST_OUT_OF_MEMORY;
  started_ = threads_;  // of the block before the first
  next_.block_x = ~uint32_t{0};
  bool going = BeginNextBlock();
  std::vector<ThreadFiber*> running;
  while (going && end_ == WEFT_HOST_OK) {
    running.swap(ready_);
    for (size_t i = 0; i < running.size() && end_ == WEFT_HOST_OK; ++i) running[i]->fiber->Resume();
    running.clear();
    if (!ready_.empty() || end_ != WEFT_HOST_OK) continue;
    if (started_ < threads_) {
      going = StartFiber();
    } else if (live_ > 0) {
      if (!ReleaseActiveMasks()) end_ = WEFT_HOST_LAUNCH_FAILED;
    } else {
      going = false;
    }
  }
  if (end_ != WEFT_HOST_OK) memory_.DropTaken();
  return end_;
}

bool BlockRunner::StartFiber() {
  ThreadFiber* fiber = memory_.Take();
  if (fiber == nullptr) {
    end_ = WEFT_HOST_OUT_OF_MEMORY;
    return false;
  }
  fiber->runner = this;
  fiber->fiber->Resume();
  return true;
}

void BlockRunner::Serve(ThreadFiber& self) {
  try {
    do {
      while (started_ < threads_) {
        BeginThread(self);
        body_(&self, argument_);
        EndThread(self);
      }
    } while (live_ == 0 && BeginNextBlock());
  } catch (const Fiber::Abandoned&) {
    throw;
  } catch (...) {
    end_ = WEFT_HOST_LAUNCH_FAILED;
  }
  memory_.GiveBack(self);
}

bool BlockRunner::BeginNextBlock() {
  if (last_block_over_) return false;
  const uint32_t grid[3] = {launch_.grid_x, launch_.grid_y, launch_.grid_z};
  uint32_t block[3] = {next_.block_x, next_.block_y, next_.block_z};
  // The block before the first one has the number -1 in x.
  if (!Advance(block, grid)) {
    last_block_over_ = true;
    return false;
  }
  next_.block_x = block[0];
  next_.block_y = block[1];
  next_.block_z = block[2];
  next_.thread_x = next_.thread_y = next_.thread_z = 0;
  started_ = 0;
  live_ = threads_;
  for (size_t i = 0; i < warps_.size(); ++i)
    warps_[i].Reset(threads_ - static_cast<uint32_t>(i) * kWarpSize);
  return true;
}

void BlockRunner::BeginThread(ThreadFiber& thread) {
  static_cast<weft_host_thread&>(thread) = next_;
  thread.lane = started_ % kWarpSize;
  thread.warp = &warps_[started_ / kWarpSize];
  ++started_;
  const uint32_t block[3] = {launch_.block_x, launch_.block_y, launch_.block_z};
  uint32_t at[3] = {next_.thread_x, next_.thread_y, next_.thread_z};
  Advance(at, block);
  next_.thread_x = at[0];
  next_.thread_y = at[1];
  next_.thread_z = at[2];
}

void BlockRunner::EndThread(ThreadFiber& thread) {
  --live_;
  MakeReady(*thread.warp, thread.warp->Return(thread), nullptr);
  if (!at_barrier_.empty() && at_barrier_.size() == live_) ReleaseBlock();
}

void BlockRunner::MakeReady(Warp& warp, uint32_t lanes, const ThreadFiber* except) {
  for (; lanes != 0; lanes &= lanes - 1) {
    ThreadFiber& thread = warp.lane(std::countr_zero(lanes));
    if (&thread != except) ready_.push_back(&thread);
  }
}

void BlockRunner::ReleaseBlock() {
  const auto count = static_cast<uint32_t>(at_barrier_.size());
  for (ThreadFiber* thread : at_barrier_) {
    switch (thread->answer) {
      case WEFT_HOST_AND:
        thread->result = true_predicates_ == count;
        break;
      case WEFT_HOST_OR:
        thread->result = true_predicates_ > 0;
        break;
      default:
        thread->result = true_predicates_;
    }
    ready_.push_back(thread);
  }
  at_barrier_.clear();
  true_predicates_ = 0;
}

int32_t BlockRunner::SyncBlock(ThreadFiber& self, uint32_t answer, bool predicate) {
  self.answer = answer;
  at_barrier_.push_back(&self);
  true_predicates_ += predicate ? 1 : 0;
  if (at_barrier_.size() == live_) {
    ReleaseBlock();
    ready_.pop_back();  // this thread, which came last, goes on at once
  } else {
    self.fiber->Suspend();
  }
  return static_cast<int32_t>(self.result);
}

uint64_t BlockRunner::SyncWarp(ThreadFiber& self, Warp::Operation operation) {
  if ((self.mask & self.bit()) == 0) Fail(self);  // undefined on a GPU: the caller must be named
  const uint32_t released = self.warp->Arrive(self, operation);
  MakeReady(*self.warp, released, &self);
  if ((released & self.bit()) == 0) self.fiber->Suspend();
  return self.result;
}

uint32_t BlockRunner::ActiveMask(ThreadFiber& self) {
  self.warp->ArriveAtActiveMask(self);
  self.fiber->Suspend();
  return static_cast<uint32_t>(self.result);
}

bool BlockRunner::ReleaseActiveMasks() {
  for (Warp& warp : warps_) MakeReady(warp, warp.ReleaseActiveMask(), nullptr);
  return !ready_.empty();
}

void BlockRunner::Fail(ThreadFiber& self) {
  end_ = WEFT_HOST_LAUNCH_FAILED;
  for (;;) self.fiber->Suspend();  // throws, when Run drops the fiber
}

}  // namespace weft::hostcuda
