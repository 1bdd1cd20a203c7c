#include "client/random_bits.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <set>

namespace weft::client {
namespace {

ssize_t Denied(void*, size_t, unsigned int) {
  errno = ENOSYS;
  return -1;
}

ssize_t InterruptedOnce(void* buffer, size_t size, unsigned int) {
  static bool interrupted = false;
  interrupted = !interrupted;
  if (interrupted) {
    errno = EINTR;
    return -1;
  }
  std::memset(buffer, 0x5a, size);
  return static_cast<ssize_t>(size);
}

TEST(RandomBitsTest, AreTheSourcesOnesAlsoAfterAnInterruption) {
  EXPECT_EQ(RandomBits(&InterruptedOnce), 0x5a5a5a5a5a5a5a5a);
}

TEST(RandomBitsTest, AreUniqueWithoutTheKernelsGenerator) {
  std::set<uint64_t> bits;
  for (int i = 0; i < 10'000; ++i) bits.insert(RandomBits(&Denied));
  EXPECT_EQ(bits.size(), 10'000u);
}

}  // namespace
}  // namespace weft::client
