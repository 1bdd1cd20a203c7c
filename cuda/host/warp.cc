#include "cuda/host/warp.h"

#include <bit>

namespace weft::hostcuda {
namespace {

// Calls visit(lane) for each bit of the mask, lowest first.
template <typename Visit>
void ForEachLane(uint32_t mask, const Visit& visit) {
  for (; mask != 0; mask &= mask - 1) visit(std::countr_zero(mask));
}

}  // namespace

void Warp::Reset(uint32_t lanes) {
  waiting_ = 0;
  at_active_mask_ = 0;
  returned_ = lanes >= kWarpSize ? 0 : ~uint32_t{0} << lanes;
}

uint32_t Warp::Arrive(ThreadFiber& thread, Operation operation) {
  lanes_[thread.lane] = &thread;
  operations_[thread.lane] = operation;
  waiting_ |= thread.bit();
  return CompleteIfAllCame(thread.mask);
}

uint32_t Warp::CompleteIfAllCame(uint32_t mask) {
  const uint32_t group = mask & ~returned_;
  if (group == 0 || (group & ~waiting_) != 0) return 0;
  bool same = true;
  uint32_t ballot = 0;
  ForEachLane(group, [&](int i) {
    same = same && lanes_[i]->mask == mask;
    if (lanes_[i]->value != 0) ballot |= lanes_[i]->bit();
  });
  if (!same) return 0;  // for ever, when nothing else ends the other wait
  ForEachLane(group, [&](int i) {
    ThreadFiber& thread = *lanes_[i];
    if (operations_[i] == Operation::kVote) {
      thread.result = ballot;
    } else {
      const bool there = ((group >> thread.source) & 1) != 0;
      thread.result = there ? lanes_[thread.source]->value : thread.value;
    }
  });
  waiting_ &= ~group;
  return group;
}

uint32_t Warp::Return(const ThreadFiber& thread) {
  returned_ |= thread.bit();
  uint32_t released = 0;
  ForEachLane(waiting_, [&](int i) {
    const uint32_t mask = lanes_[i]->mask;
    if ((waiting_ >> i & 1) != 0 && (mask & thread.bit()) != 0) released |= CompleteIfAllCame(mask);
  });
  return released;
}

void Warp::ArriveAtActiveMask(ThreadFiber& thread) {
  lanes_[thread.lane] = &thread;
  at_active_mask_ |= thread.bit();
}

uint32_t Warp::ReleaseActiveMask() {
  ForEachLane(at_active_mask_, [&](int i) {
    uint32_t together = 0;
    ForEachLane(at_active_mask_, [&](int j) {
      if (lanes_[j]->site == lanes_[i]->site) together |= lanes_[j]->bit();
    });
    lanes_[i]->result = together;
  });
  const uint32_t released = at_active_mask_;
  at_active_mask_ = 0;
  return released;
}

}  // namespace weft::hostcuda
