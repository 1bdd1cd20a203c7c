// weft_copy_bytes, which carries out copy nodes: every length of the last word, and nothing beyond.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/kernels/device.h"
#include "tests/testing/status_matchers.h"

namespace weft::kernels::testing {
namespace {

PhaseLaunch CopyLaunchFor(uint64_t bytes) {
  constexpr uint32_t kThreads = 256;
  const auto blocks = static_cast<uint32_t>((bytes / 16 + 1 + kThreads - 1) / kThreads);
  return {"weft_copy_bytes", {blocks, 1, 1}, {kThreads, 1, 1}, 0};
}

TEST(CopyBytesTest, CopiesEveryByteAndNoOther) {
  ASSERT_OK_AND_ASSIGN(Device* const device, DeviceUnderTest());
  for (const uint64_t bytes :
       {uint64_t{1}, uint64_t{15}, uint64_t{16}, uint64_t{17}, uint64_t{4080}, uint64_t{4096},
        uint64_t{4101}, (uint64_t{1} << 20) - 1, (uint64_t{3} << 20) + 9}) {
    const uint64_t destination = (bytes + 511) / 256 * 256;
    std::vector<uint8_t> memory(destination + bytes + 64);
    for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<uint8_t>(i * 7 + i / 251);
    std::vector<uint8_t> expected = memory;
    std::copy_n(memory.begin(), bytes, expected.begin() + static_cast<int64_t>(destination));
    ASSERT_OK_AND_ASSIGN(const std::vector<uint8_t> after,
                         device->RunOver(memory, CopyLaunchFor(bytes),
                                         {device->base() + destination, device->base(), bytes}));
    EXPECT_TRUE(after == expected) << bytes;
  }
}

}  // namespace
}  // namespace weft::kernels::testing
