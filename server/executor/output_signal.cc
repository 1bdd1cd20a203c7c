#include "server/executor/output_signal.h"

#include "transport/ready_word.h"

namespace weft::executor {

cuda::HostNode OutputSignal::Node() {
  // On a thread of the driver; may not call the driver.
  const auto tell = [](void* signal) {
    const auto* const self = static_cast<const OutputSignal*>(signal);
    // Release: the copy has ended before the driver makes this call.
    self->word_->store(transport::kOutputReady, std::memory_order_release);
    self->notice_.Give();
  };
  return {tell, this};
}

}  // namespace weft::executor
