#include "client/random_bits.h"

#include <sys/auxv.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "absl/hash/hash.h"
#include "absl/time/time.h"
#include "base/clock.h"

namespace weft::client {
namespace {

uint64_t GuessableBits() {
  // The count tells two calls apart that read the same time.
  static std::atomic<uint64_t> calls{0};
  // 16 random bytes that the kernel gives every program it starts; a fork shares them.
  std::array<uint64_t, 2> given = {};
  const auto* bytes = reinterpret_cast<const void*>(getauxval(AT_RANDOM));
  if (bytes != nullptr) std::memcpy(given.data(), bytes, sizeof(given));
  return absl::HashOf(given, getpid(), absl::ToInt64Nanoseconds(Clock::Real().Now()),
                      calls.fetch_add(1));
}

}  // namespace

// std::random_device takes 20 µs to make, as long as all that weftd does for a job.
uint64_t RandomBits() { return RandomBits(&::getrandom); }

uint64_t RandomBits(RandomSource source) {
  uint64_t bits = 0;
  ssize_t got = 0;
  // So few bytes come whole, and once the machine has started they come at once.
  do {
    got = source(&bits, sizeof(bits), 0);
  } while (got < 0 && errno == EINTR);
  return got == sizeof(bits) ? bits : GuessableBits();
}

}  // namespace weft::client
