// Equal fingerprints mean equal prepared graphs: the same nodes, buffers and options on the same
// shared memory, whatever bytes are uploaded. What does not change a prepared graph is left out:
// the job's name, its deadline, and the inline bytes (their sizes count).
//
// The hash is SipHash-2-4 with 128 bits of output (Aumasson and Bernstein, 2012), keyed: whoever
// does not know the key cannot make a job that is taken for another user's. It is deterministic for
// one key, over the deterministic serialisation of one build; never store it.
//
// Thread safety: immutable. Cost: below 1 µs for a job of one node, then about 1 GB/s.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/ir/from_proto.h"

namespace weft::v1 {
class Job;
}  // namespace weft::v1

namespace weft::ir {

struct Fingerprint {
  uint64_t high = 0;
  uint64_t low = 0;
  std::string ToHex() const;  // 32 digits
  friend auto operator<=>(const Fingerprint&, const Fingerprint&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Fingerprint& f) {
    return H::combine(std::move(h), f.high, f.low);
  }
};

class Fingerprinter {
 public:
  using Key = std::array<uint64_t, 2>;
  // With a random key of the system.
  static absl::StatusOr<Fingerprinter> Create();
  explicit Fingerprinter(Key key) : key_(key) {}

  // `upload_sizes`: the sizes of the bytes that TakeUploadBytes took from `job`. `bindings`: what
  // the shared buffers of the job resolved to, in the order of their declarations. A job that
  // passed ValidateJob and was prepared vouches for every job with its fingerprint.
  Fingerprint Of(const v1::Job& job, absl::Span<const uint64_t> upload_sizes,
                 absl::Span<const SharedBuffer> bindings) const;

 private:
  Key key_;
};

// SipHash-2-4-128 of `size` bytes; the reference's test vectors hold.
Fingerprint SipHash128(Fingerprinter::Key key, const void* data, size_t size);

}  // namespace weft::ir
