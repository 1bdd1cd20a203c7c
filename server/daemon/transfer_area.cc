#include "server/daemon/transfer_area.h"

namespace weft::daemon {

TransferArea::TransferArea(transport::SharedMemory memory) : memory_(std::move(memory)) {
  for (uint32_t slot = 0; slot < kSlots; ++slot) free_.push_back(slot);
}

void TransferArea::Acquire(Acquired acquired) {
  uint32_t slot = 0;
  {
    absl::MutexLock lock(&mutex_);
    if (free_.empty()) {
      waiting_.push_back(std::move(acquired));
      return;
    }
    slot = free_.back();
    free_.pop_back();
  }
  std::move(acquired)(slot);
}

void TransferArea::Release(uint32_t slot) {
  Acquired next;
  {
    absl::MutexLock lock(&mutex_);
    if (waiting_.empty()) {
      free_.push_back(slot);
      return;
    }
    next = std::move(waiting_.front());
    waiting_.pop_front();
  }
  std::move(next)(slot);
}

}  // namespace weft::daemon
