#include "base/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace weft {
namespace {

bool IsOpen(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST(UniqueFdTest, ClosesAtTheEndOfItsLife) {
  int number = -1;
  {
    auto fd = UniqueFd::Eventfd();
    ASSERT_TRUE(fd.ok());
    number = fd->get();
    EXPECT_TRUE(IsOpen(number));
  }
  EXPECT_FALSE(IsOpen(number));
}

TEST(UniqueFdTest, MoveAssignmentClosesTheOldAndEmptiesTheSource) {
  auto a = UniqueFd::Eventfd();
  auto b = UniqueFd::Eventfd();
  ASSERT_TRUE(a.ok() && b.ok());
  const int old = a->get();
  const int moved = b->get();
  *a = std::move(*b);
  EXPECT_FALSE(IsOpen(old));
  EXPECT_EQ(a->get(), moved);
  EXPECT_FALSE(b->valid());
}

TEST(UniqueFdTest, SurvivesSelfMove) {
  auto fd = UniqueFd::Eventfd();
  ASSERT_TRUE(fd.ok());
  UniqueFd& alias = *fd;
  *fd = std::move(alias);
  EXPECT_TRUE(IsOpen(fd->get()));
}

TEST(UniqueFdTest, EveryMakerSetsCloseOnExec) {
  auto memory = UniqueFd::Memfd("test", 4096, UniqueFd::Seal::kSealSize);
  auto event = UniqueFd::Eventfd();
  auto process = UniqueFd::Pidfd(::getpid());
  auto pair = UniqueFd::SocketPair(SOCK_SEQPACKET);
  ASSERT_TRUE(memory.ok() && event.ok() && process.ok() && pair.ok());
  auto copy = memory->Duplicate();
  ASSERT_TRUE(copy.ok());
  for (const int fd : {memory->get(), event->get(), process->get(), pair->first.get(),
                       pair->second.get(), copy->get()}) {
    EXPECT_EQ(::fcntl(fd, F_GETFD), FD_CLOEXEC);
  }
}

TEST(UniqueFdTest, SealedMemfdKeepsItsSize) {
  auto fd = UniqueFd::Memfd("test", 4096, UniqueFd::Seal::kSealSize);
  ASSERT_TRUE(fd.ok());
  EXPECT_NE(::ftruncate(fd->get(), 0), 0);
  EXPECT_NE(::ftruncate(fd->get(), 8192), 0);
  struct stat info {};
  ASSERT_EQ(::fstat(fd->get(), &info), 0);
  EXPECT_EQ(info.st_size, 4096);
}

TEST(UniqueFdTest, PidfdOfNobodyIsAnError) { EXPECT_FALSE(UniqueFd::Pidfd(0x3fffffff).ok()); }

}  // namespace
}  // namespace weft
