#include "cuda/host/block_runtime.h"

#include <memory>

#include "cuda/host/block_runner.h"
#include "cuda/host/runtime.h"

namespace weft::hostcuda {
namespace {

// Images know a thread by its public part alone, which the driver made as a part of a ThreadFiber.
ThreadFiber& Own(const weft_host_thread* self) {
  return const_cast<ThreadFiber&>(static_cast<const ThreadFiber&>(*self));
}

int32_t RunThreads(const weft_host_launch* launch, weft_host_thread_fn body, void* argument) {
  return BlockRunner(*launch, body, argument, BlockMemory::OfThisThread()).Run();
}

int32_t SyncBlock(const weft_host_thread* self, uint32_t answer, int32_t predicate) {
  ThreadFiber& thread = Own(self);
  return thread.runner->SyncBlock(thread, answer, predicate != 0);
}

uint32_t Vote(const weft_host_thread* self, uint32_t mask, int32_t predicate) {
  ThreadFiber& thread = Own(self);
  thread.mask = mask;
  thread.value = predicate != 0 ? 1 : 0;
  return static_cast<uint32_t>(thread.runner->SyncWarp(thread, Warp::Operation::kVote));
}

uint64_t Shuffle(const weft_host_thread* self, uint32_t mask, uint64_t value, uint32_t source) {
  ThreadFiber& thread = Own(self);
  thread.mask = mask;
  thread.value = value;
  thread.source = source % kWarpSize;
  return thread.runner->SyncWarp(thread, Warp::Operation::kShuffle);
}

uint32_t ActiveMask(const weft_host_thread* self) {
  ThreadFiber& thread = Own(self);
  thread.site = __builtin_return_address(0);
  return thread.runner->ActiveMask(thread);
}

void* DynamicShared(const weft_host_thread* self) { return Own(self).runner->dynamic_shared(); }

void Fail(const weft_host_thread* self) {
  ThreadFiber& thread = Own(self);
  thread.runner->Fail(thread);
}

void SetConditional(uint64_t handle, uint32_t value) {
  Runtime* const runtime = Runtime::Current();
  if (runtime == nullptr) return;
  const std::shared_ptr<Condition> condition = Condition::Find(runtime->conditions, handle);
  if (condition != nullptr) condition->Set(value);
}

constexpr weft_host_runtime kRuntime = {RunThreads, SyncBlock,     Vote, Shuffle,
                                        ActiveMask, DynamicShared, Fail, SetConditional};

}  // namespace

const weft_host_runtime& BlockRuntime() { return kRuntime; }

}  // namespace weft::hostcuda
