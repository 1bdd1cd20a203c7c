// A call of a library of the CUDA Toolkit with all its arguments: made ready once, put into a stream
// any number of times.
#pragma once

#include "absl/status/status.h"
#include "cuda/stream.h"

namespace weft::cuda {

// Thread safety: all members may be called from any thread. What its work uses on the device belongs
// to it: it must live until all that was put into streams, or captured into graphs that may still be
// launched, is over.
class LibraryCall {
 public:
  virtual ~LibraryCall() = default;
  // Puts the work into the stream. Where the call's schema says kCaptured the stream may be captured,
  // and it does not block. Where it says kStreams it is called at every run by the thread that launches
  // jobs, and may block that thread until all work in the stream before it, and its own, is done.
  // Errors: INTERNAL (the library refuses, with its own words).
  virtual absl::Status Enqueue(const StreamRef& stream) const = 0;
};

}  // namespace weft::cuda
