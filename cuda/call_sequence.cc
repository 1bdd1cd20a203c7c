#include "cuda/call_sequence.h"

#include "base/status_macros.h"

namespace weft::cuda {
namespace {

struct StepEnqueuer {
  const StreamRef& stream;

  absl::Status operator()(const std::shared_ptr<const LibraryCall>& call) const {
    return call->Enqueue(stream);
  }
  absl::Status operator()(const CallSequence::Copy& copy) const {
    return CopyAsync(stream, copy.destination, copy.source, copy.size_bytes);
  }
  absl::Status operator()(const CallSequence::Fill& fill) const {
    return FillAsync(stream, fill.destination, fill.pattern, fill.count);
  }
  absl::Status operator()(const CallSequence::Kernel& kernel) const {
    // The driver copies the values and only reads them.
    std::vector<void*> params;
    for (const uint64_t& word : kernel.words) params.push_back(const_cast<uint64_t*>(&word));
    return LaunchKernel(stream, {kernel.function, kernel.grid, kernel.block,
                                 kernel.dynamic_shared_bytes, params.data()});
  }
};

}  // namespace

absl::Status CallSequence::Enqueue(const StreamRef& stream) const {
  for (const Step& step : steps_) {
    WEFT_RETURN_IF_ERROR(std::visit(StepEnqueuer{stream}, step));
  }
  return absl::OkStatus();
}

}  // namespace weft::cuda
