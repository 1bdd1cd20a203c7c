// Philox4x32-10 against the vectors that its authors publish (kat_vectors of Random123).
#include "kernels/builtin/philox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "kernels/registry.h"
#include "tests/kernels/device.h"
#include "tests/testing/status_matchers.h"

namespace weft::kernels::testing {
namespace {

using ::testing::ElementsAre;

std::vector<uint32_t> Words(const PhiloxBlock& counter, uint32_t key0, uint32_t key1) {
  const PhiloxBlock block = Philox4x32(counter, key0, key1);
  return {block.words, block.words + 4};
}

TEST(PhiloxTest, GivesThePublishedAnswers) {
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_THAT(Words({{0, 0, 0, 0}}, 0, 0),
              ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  EXPECT_THAT(Words({{kOnes, kOnes, kOnes, kOnes}}, kOnes, kOnes),
              ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(Words({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0),
              ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

std::vector<uint32_t> UniformWords(int64_t offset, uint64_t count) {
  Problem problem(*Registry::Builtin().Find("random_uniform"), {DType::kU32}, {});
  problem.Scalar("offset", offset);
  problem.Output("dst", DType::kU32, {count});
  problem.Expect({}, [](uint64_t) { return Expected{}; });
  const absl::StatusOr<Device*> device = DeviceUnderTest();
  if (!device.ok()) return {};
  const absl::StatusOr<Outcome> outcome = (*device)->Run(problem, {});
  if (!outcome.ok()) return {};
  std::vector<uint32_t> words(count);
  std::memcpy(words.data(), outcome->buffers[0].data(), 4 * count);
  return words;
}

TEST(RandomUniformTest, StartsWithThePublishedAnswer) {
  EXPECT_THAT(UniformWords(0, 4), ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
}

TEST(RandomUniformTest, AnElementDependsOnItsPositionInTheSequenceAlone) {
  constexpr uint64_t kCount = 5000;
  const std::vector<uint32_t> all = UniformWords(0, kCount);
  ASSERT_EQ(all.size(), kCount);
  for (const uint64_t offset : {1u, 2u, 3u, 4u, 1023u}) {
    const std::vector<uint32_t> part = UniformWords(static_cast<int64_t>(offset), 1500);
    ASSERT_EQ(part.size(), 1500u);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + static_cast<int64_t>(offset)))
        << offset;
  }
}

}  // namespace
}  // namespace weft::kernels::testing
