#include "server/daemon/host_outputs.h"

#include <atomic>
#include <utility>

#include "transport/ready_word.h"

namespace weft::daemon {

JobOutputPtr CopyOutput(const OutputSlot& slot, const transport::SharedMemory& staging) {
  JobOutput output{slot.name, slot.dtype, slot.shape, slot.file, {}};
  if (slot.staging.size > 0) {
    output.data.assign(reinterpret_cast<const char*>(staging.data() + slot.staging.offset),
                       slot.staging.size);
  }
  return std::make_shared<const JobOutput>(std::move(output));
}

HostOutputs::HostOutputs(std::shared_ptr<const CompiledJob> compiled,
                         std::shared_ptr<OutputLog> log)
    : compiled_(std::move(compiled)), log_(std::move(log)), delivered_(compiled_->outputs.size()) {
  for (uint32_t slot = 0; slot < compiled_->outputs.size(); ++slot) {
    if (!compiled_->outputs[slot].ready.empty()) missing_.push_back(slot);
  }
}

void HostOutputs::Begin(const transport::SharedMemory& staging) {
  absl::MutexLock lock(&mutex_);
  for (const uint32_t slot : missing_) {
    // Relaxed: the submission of the launch, which comes behind, publishes it.
    transport::ReadyWord(staging.data(), compiled_->outputs[slot].ready.offset)
        ->store(transport::kOutputPending, std::memory_order_relaxed);
  }
  staging_ = &staging;
}

bool HostOutputs::Take() {
  absl::MutexLock lock(&mutex_);
  return TakeLocked(Rest::kReady);
}

void HostOutputs::End(Rest rest) {
  absl::MutexLock lock(&mutex_);
  TakeLocked(rest);
  staging_ = nullptr;
}

bool HostOutputs::TakeLocked(Rest rest) {
  if (staging_ == nullptr) return false;
  std::vector<uint32_t> still_missing;
  for (const uint32_t index : missing_) {
    const OutputSlot& slot = compiled_->outputs[index];
    const uint32_t word =
        transport::ReadyWord(staging_->data(), slot.ready.offset)->load(std::memory_order_acquire);
    if (word != transport::kOutputReady && rest == Rest::kReady) {
      still_missing.push_back(index);
      continue;
    }
    delivered_[index] = CopyOutput(slot, *staging_);
    log_->Append(delivered_[index]);
  }
  const bool any = still_missing.size() != missing_.size();
  missing_ = std::move(still_missing);
  return any;
}

JobOutputPtr HostOutputs::Delivered(size_t slot) const {
  absl::MutexLock lock(&mutex_);
  return delivered_[slot];
}

}  // namespace weft::daemon
