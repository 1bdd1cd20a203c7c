// A stream capture: what is put into the streams that take part becomes nodes of a graph instead of
// being run.
//
//   none ──cuStreamBeginCapture──▶ active ──cuStreamEndCapture──▶ ended (the graph)
//                                    │ a call that no capture takes
//                                    └──▶ invalid ──cuStreamEndCapture──▶ ended (an error)
//
// A stream joins by waiting for an event that was recorded in a stream that takes part; all must have
// been joined back into the first one, in the same way, before the end.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "cuda/host/cuda_api.h"
#include "cuda/host/graph.h"
#include "cuda/host/mutex.h"
#include "cuda/host/stream_queue.h"

namespace weft::hostcuda {

// Thread safety: all members may be called from any thread.
class Capture : public std::enable_shared_from_this<Capture> {
 public:
  // The nodes that what comes next in a stream depends on.
  using Tail = std::vector<uint32_t>;

  // Begins a capture of `origin`. Errors: ILLEGAL_STATE when it takes part in one.
  static CUresult Begin(const std::shared_ptr<Stream>& origin, CUstreamCaptureMode mode);

  // Adds a node behind what is in `stream`, which takes part. Errors: STREAM_CAPTURE_INVALIDATED,
  // and those of Graph::Add, which invalidate the capture.
  CUresult Add(const Stream& stream, NodeSpec node);
  // What an event that is recorded in `stream` now stands for.
  Tail TailOf(const Stream& stream) const;
  // Lets `stream` wait for `tail`; takes it into the capture if it takes part in none.
  // Errors: STREAM_CAPTURE_MERGE (it takes part in another one; both are invalid then).
  CUresult Join(const std::shared_ptr<Stream>& stream, const Tail& tail);
  // For a call that no capture takes.
  void Invalidate();

  struct Result {
    std::shared_ptr<Graph> graph;
    uint32_t node_count = 0;
  };
  // Ends it, called for `stream`. Errors: STREAM_CAPTURE_UNMATCHED (not the first stream; goes on),
  // STREAM_CAPTURE_WRONG_THREAD (another thread than began it, in a mode other than relaxed; goes
  // on), STREAM_CAPTURE_INVALIDATED, STREAM_CAPTURE_UNJOINED.
  CUresult End(const Stream& stream, Result* result);
  // The first stream is destroyed.
  void Abandon(const Stream& stream);

 private:
  Capture(const Stream* origin, CUstreamCaptureMode mode)
      : origin_(origin), mode_(mode), thread_(std::this_thread::get_id()) {}
  bool IsJoined() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Release();

  const Stream* const origin_;
  const CUstreamCaptureMode mode_;
  const std::thread::id thread_;
  const std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();

  mutable Mutex mu_;
  bool invalid_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::shared_ptr<Stream>> streams_ ABSL_GUARDED_BY(mu_);  // that take part
  std::map<const Stream*, Tail> tails_ ABSL_GUARDED_BY(mu_);
  std::vector<bool> has_successor_ ABSL_GUARDED_BY(mu_);  // by node
};

// Runs the action in the stream when its turn comes; where the stream is captured, records it as a
// node of that type. `priority`: of a kernel that has one of its own.
CUresult SubmitAction(const std::shared_ptr<Stream>& stream, CUgraphNodeType type, ActionPtr action,
                      std::optional<int> priority = std::nullopt);
// For calls that no capture takes: STREAM_CAPTURE_UNSUPPORTED, and the capture is invalid, when the
// stream is captured.
CUresult RefuseCapture(const Stream& stream);

}  // namespace weft::hostcuda
