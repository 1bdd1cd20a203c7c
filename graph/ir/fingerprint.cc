#include "graph/ir/fingerprint.h"

#include <sys/random.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_format.h"
#include "base/error_context.h"
#include "graph/ir/limits.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

// SipHash-2-4 as its authors' reference implementation has it (github.com/veorq/SipHash).
class SipState {
 public:
  explicit SipState(Fingerprinter::Key key)
      : v0_(0x736f6d6570736575 ^ key[0]),
        v1_(0x646f72616e646f6d ^ key[1] ^ 0xee),  // 0xee: the variant with 128 bits of output
        v2_(0x6c7967656e657261 ^ key[0]),
        v3_(0x7465646279746573 ^ key[1]) {}

  void Absorb(uint64_t word) {
    v3_ ^= word;
    Rounds(2);
    v0_ ^= word;
  }

  Fingerprint Finish() {
    Fingerprint result;
    v2_ ^= 0xee;
    Rounds(4);
    result.high = v0_ ^ v1_ ^ v2_ ^ v3_;
    v1_ ^= 0xdd;
    Rounds(4);
    result.low = v0_ ^ v1_ ^ v2_ ^ v3_;
    return result;
  }

 private:
  void Rounds(int count) {
    for (int i = 0; i < count; ++i) {
      v0_ += v1_;
      v1_ = std::rotl(v1_, 13) ^ v0_;
      v0_ = std::rotl(v0_, 32);
      v2_ += v3_;
      v3_ = std::rotl(v3_, 16) ^ v2_;
      v0_ += v3_;
      v3_ = std::rotl(v3_, 21) ^ v0_;
      v2_ += v1_;
      v1_ = std::rotl(v1_, 17) ^ v2_;
      v2_ = std::rotl(v2_, 32);
    }
  }

  uint64_t v0_, v1_, v2_, v3_;
};

void AppendNumber(std::string& out, uint64_t number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// Each part with its length before it, so that no two sequences of parts read the same.
void AppendMessage(std::string& out, const google::protobuf::MessageLite& message) {
  AppendNumber(out, message.ByteSizeLong());
  message.AppendPartialToString(&out);
}

void AppendBinding(std::string& out, const SharedBuffer& binding) {
  AppendNumber(out, binding.id.value());
  AppendNumber(out, static_cast<uint64_t>(binding.dtype));
  AppendNumber(out, binding.size_bytes);
  AppendNumber(out, binding.device);
  AppendNumber(out, binding.shape.size());
  for (const uint64_t extent : binding.shape) AppendNumber(out, extent);
}

}  // namespace

std::string Fingerprint::ToHex() const { return absl::StrFormat("%016x%016x", high, low); }

absl::StatusOr<Fingerprinter> Fingerprinter::Create() {
  Key key = {};
  // Up to 256 bytes come whole, and uninterrupted once the system's generator is seeded.
  ssize_t got = 0;
  do {
    got = getrandom(key.data(), sizeof key, 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof key)) return ErrnoError(errno, "getrandom", "16 bytes");
  return Fingerprinter(key);
}

Fingerprint SipHash128(Fingerprinter::Key key, const void* data, size_t size) {
  SipState state(key);
  const auto* bytes = static_cast<const uint8_t*>(data);
  const size_t whole = size & ~size_t{7};
  uint64_t word = 0;
  for (size_t at = 0; at < whole; at += sizeof word) {
    std::memcpy(&word, bytes + at, sizeof word);
    state.Absorb(word);
  }
  word = 0;
  if (size != whole) std::memcpy(&word, bytes + whole, size - whole);
  state.Absorb(word | uint64_t{size} << 56);
  return state.Finish();
}

Fingerprint Fingerprinter::Of(const v1::Job& job, absl::Span<const uint64_t> upload_sizes,
                              absl::Span<const SharedBuffer> bindings) const {
  std::string bytes;
  // The name is left out, but one that ValidateJob refuses must not be let in by an earlier job.
  AppendNumber(bytes, job.name().size() > kMaxTextBytes ? 1 : 0);
  AppendNumber(bytes, static_cast<uint64_t>(job.buffers_size()));
  for (const v1::BufferDecl& buffer : job.buffers()) AppendMessage(bytes, buffer);
  AppendNumber(bytes, static_cast<uint64_t>(job.nodes_size()));
  for (const v1::Node& node : job.nodes()) AppendMessage(bytes, node);
  AppendNumber(bytes, static_cast<uint64_t>(job.modules_size()));
  for (const v1::Module& module : job.modules()) AppendMessage(bytes, module);
  AppendNumber(bytes, static_cast<uint64_t>(job.graphs_size()));
  for (const v1::SubGraph& graph : job.graphs()) AppendMessage(bytes, graph);
  v1::JobOptions options = job.options();
  options.clear_deadline_ms();
  AppendMessage(bytes, options);
  AppendNumber(bytes, upload_sizes.size());
  for (const uint64_t size : upload_sizes) AppendNumber(bytes, size);
  for (const SharedBuffer& binding : bindings) AppendBinding(bytes, binding);
  return SipHash128(key_, bytes.data(), bytes.size());
}

}  // namespace weft::ir
