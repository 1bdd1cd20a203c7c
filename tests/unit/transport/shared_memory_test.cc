#include "transport/shared_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "tests/testing/leak_baseline.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace weft::transport {
namespace {

using ::testing::IsEmpty;
using weft::testing::LeakBaseline;
using weft::testing::StatusIs;

UniqueFd CopyOf(const SharedMemory& memory) {
  return UniqueFd(::fcntl(memory.fd(), F_DUPFD_CLOEXEC, 0));
}

TEST(SharedMemoryTest, BothSidesSeeTheSameBytes) {
  ASSERT_OK_AND_ASSIGN(const SharedMemory mine, SharedMemory::Create("test", 5000));
  EXPECT_EQ(mine.size(), 5000u);
  EXPECT_EQ(mine.data()[4999], std::byte{0});
  ASSERT_OK_AND_ASSIGN(const SharedMemory theirs, SharedMemory::Map(CopyOf(mine), 5000));
  mine.data()[4999] = std::byte{7};
  EXPECT_EQ(theirs.data()[4999], std::byte{7});
}

TEST(SharedMemoryTest, SizeCannotChange) {
  ASSERT_OK_AND_ASSIGN(const SharedMemory memory, SharedMemory::Create("test", 4096));
  EXPECT_NE(::ftruncate(memory.fd(), 0), 0);
  EXPECT_NE(::ftruncate(memory.fd(), 8192), 0);
}

TEST(SharedMemoryTest, WrongSizeIsRefused) {
  ASSERT_OK_AND_ASSIGN(const SharedMemory memory, SharedMemory::Create("test", 4096));
  EXPECT_THAT(SharedMemory::Map(CopyOf(memory), 4095),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(SharedMemory::Map(CopyOf(memory), 4097, 9000),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_OK(SharedMemory::Map(CopyOf(memory), 1, 9000));
}

TEST(SharedMemoryTest, UnsealedOrOtherFilesAreRefused) {
  ASSERT_OK_AND_ASSIGN(UniqueFd unsealed, UniqueFd::Memfd("x", 4096, UniqueFd::Seal::kNone));
  EXPECT_THAT(SharedMemory::Map(std::move(unsealed), 4096),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  const weft::testing::TempDir dir;
  UniqueFd file(::open(dir.WriteFile("f", "text").c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_THAT(SharedMemory::Map(std::move(file), 4),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(SharedMemory::Map(UniqueFd(), 4), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(SharedMemoryTest, MovesAndClosesOnce) {
  const LeakBaseline before = LeakBaseline::Take();
  {
    ASSERT_OK_AND_ASSIGN(SharedMemory a, SharedMemory::Create("a", 4096));
    ASSERT_OK_AND_ASSIGN(SharedMemory b, SharedMemory::Create("b", 8192));
    a = std::move(b);
    EXPECT_EQ(a.size(), 8192u);
    EXPECT_TRUE(b.empty());  // NOLINT(bugprone-use-after-move): what a move leaves is the point
    SharedMemory& self = a;
    a = std::move(self);
    EXPECT_EQ(a.size(), 8192u);
    a.data()[8191] = std::byte{1};
  }
  EXPECT_THAT(before.Leaked(), IsEmpty());
}

}  // namespace
}  // namespace weft::transport
