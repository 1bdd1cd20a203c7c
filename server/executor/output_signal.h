// What tells weftd that an output is ready while the job runs: the call of the host that a plan has
// behind the output's copy (build::Bindings::output_ready).
#pragma once

#include <atomic>
#include <cstdint>

#include "cuda/graph.h"
#include "transport/ring_server.h"

namespace weft::executor {

// Thread safety: Node from any thread; the call is the driver's to make, one at a time.
class OutputSignal {
 public:
  // `word`: in the staging area, as plan::PlannedNode::ready has it. It must outlive every launch of
  // what the node is built into, as this must, and the ring of `notice`.
  OutputSignal(std::atomic<uint32_t>* word, transport::RingNotice notice)
      : word_(word), notice_(notice) {}

  // Sets the word, then gives the notice. Points to this.
  cuda::HostNode Node();

 private:
  std::atomic<uint32_t>* word_;
  transport::RingNotice notice_;
};

}  // namespace weft::executor
