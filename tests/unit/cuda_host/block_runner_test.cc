#include "cuda/host/block_runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "cuda/host/block_runtime.h"

namespace weft::hostcuda {
namespace {

constexpr uint32_t kAll = ~uint32_t{0};

// body(thread) for each thread of the launch.
template <typename Body>
int32_t RunThreads(const weft_host_launch& launch, Body body) {
  return BlockRuntime().run_threads(
      &launch,
      [](const weft_host_thread* self, void* argument) { (*static_cast<Body*>(argument))(self); },
      &body);
}

int32_t Sync(const weft_host_thread* self, uint32_t answer = WEFT_HOST_COUNT, int predicate = 0) {
  return self->runtime->sync_block(self, answer, predicate);
}

uint32_t Vote(const weft_host_thread* self, uint32_t mask, bool predicate) {
  return self->runtime->vote(self, mask, predicate ? 1 : 0);
}

uint64_t Shuffle(const weft_host_thread* self, uint32_t mask, uint64_t value, uint32_t source) {
  return self->runtime->shuffle(self, mask, value, source);
}

TEST(BlockRunnerTest, EveryThreadOfEveryBlockRunsOnceInOrder) {
  std::vector<std::vector<uint32_t>> seen;
  ASSERT_EQ(RunThreads({2, 1, 2, 3, 2, 1, 0},
                       [&](const weft_host_thread* t) {
                         seen.push_back({t->block_z, t->block_y, t->block_x, t->thread_z,
                                         t->thread_y, t->thread_x});
                       }),
            WEFT_HOST_OK);
  EXPECT_EQ(seen.size(), 24u);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
  EXPECT_EQ(seen.back(), (std::vector<uint32_t>{1, 0, 1, 0, 1, 2}));
}

TEST(BlockRunnerTest, NobodyPassesABarrierBeforeAllCame) {
  for (const uint32_t threads : {1u, 2u, 31u, 33u, 256u}) {
    uint32_t came = 0, wrong = 0;
    ASSERT_EQ(RunThreads({5, 1, 1, threads, 1, 1, 0},
                         [&](const weft_host_thread* t) {
                           for (uint32_t round = 1; round <= 3; ++round) {
                             ++came;
                             Sync(t);
                             if (came != (t->block_x * 3 + round) * threads) ++wrong;
                             Sync(t);
                           }
                         }),
              WEFT_HOST_OK);
    EXPECT_EQ(wrong, 0u) << threads;
  }
}

TEST(BlockRunnerTest, BarriersAnswerOfAllPredicates) {
  std::vector<int32_t> count(40), all(40), any(40), none(40);
  ASSERT_EQ(RunThreads({1, 1, 1, 40, 1, 1, 0},
                       [&](const weft_host_thread* t) {
                         const uint32_t i = t->thread_x;
                         count[i] = Sync(t, WEFT_HOST_COUNT, i % 4 == 0);
                         all[i] = Sync(t, WEFT_HOST_AND, i != 7);
                         any[i] = Sync(t, WEFT_HOST_OR, i == 7);
                         none[i] = Sync(t, WEFT_HOST_OR, 0);
                       }),
            WEFT_HOST_OK);
  EXPECT_EQ(count, std::vector<int32_t>(40, 10));
  EXPECT_EQ(all, std::vector<int32_t>(40, 0));
  EXPECT_EQ(any, std::vector<int32_t>(40, 1));
  EXPECT_EQ(none, std::vector<int32_t>(40, 0));
}

TEST(BlockRunnerTest, ThreadsThatReturnedAreNotWaitedFor) {
  uint32_t passed = 0;
  ASSERT_EQ(RunThreads({3, 1, 1, 64, 1, 1, 0},
                       [&](const weft_host_thread* t) {
                         if (t->thread_x >= 10) return;
                         Sync(t);
                         if (t->thread_x >= 5) return;
                         Sync(t);
                         ++passed;
                       }),
            WEFT_HOST_OK);
  EXPECT_EQ(passed, 15u);
}

TEST(BlockRunnerTest, WaitingForDifferentThingsIsAnError) {
  // One half waits in the block, the other in its warp for the first half.
  EXPECT_EQ(RunThreads({1, 1, 1, 32, 1, 1, 0},
                       [](const weft_host_thread* t) {
                         if (t->lane < 16) {
                           Sync(t);
                         } else {
                           Vote(t, kAll, true);
                         }
                       }),
            WEFT_HOST_LAUNCH_FAILED);
  EXPECT_EQ(RunThreads({1, 1, 1, 32, 1, 1, 0},
                       [](const weft_host_thread* t) {
                         Vote(t, t->lane < 16 ? 0x0003ffffu : 0xffff8000u, true);
                       }),
            WEFT_HOST_LAUNCH_FAILED);
  // The thread goes on to run launches.
  EXPECT_EQ(RunThreads({1, 1, 1, 32, 1, 1, 0}, [](const weft_host_thread* t) { Sync(t); }),
            WEFT_HOST_OK);
}

TEST(BlockRunnerTest, CallerMissingInItsMaskIsAnError) {
  EXPECT_EQ(RunThreads({1, 1, 1, 2, 1, 1, 0}, [](const weft_host_thread* t) { Vote(t, 1, true); }),
            WEFT_HOST_LAUNCH_FAILED);
}

TEST(BlockRunnerTest, FailEndsTheLaunchAndUnwindsItsThreads) {
  int alive = 0, after = 0;
  struct Counted {
    explicit Counted(int& count) : count_(count) { ++count_; }
    ~Counted() { --count_; }
    int& count_;
  };
  EXPECT_EQ(RunThreads({4, 1, 1, 8, 1, 1, 0},
                       [&](const weft_host_thread* t) {
                         const Counted counted(alive);
                         if (t->thread_x == 6) t->runtime->fail(t);
                         Sync(t);
                         ++after;
                       }),
            WEFT_HOST_LAUNCH_FAILED);
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(after, 0);
}

TEST(BlockRunnerTest, AnExceptionOfAThreadEndsTheLaunch) {
  EXPECT_EQ(RunThreads({1, 1, 1, 8, 1, 1, 0},
                       [](const weft_host_thread* t) {
                         if (t->thread_x == 3) throw std::runtime_error("out of range");
                         Sync(t);
                       }),
            WEFT_HOST_LAUNCH_FAILED);
}

TEST(BlockRunnerTest, VotesOfAPartialWarpCountTheThreadsThereAre) {
  std::vector<uint32_t> votes(40);
  ASSERT_EQ(RunThreads({1, 1, 1, 40, 1, 1, 0},
                       [&](const weft_host_thread* t) {
                         votes[t->thread_x] = Vote(t, kAll, t->lane % 2 == 0);
                       }),
            WEFT_HOST_OK);
  EXPECT_EQ(votes[0], 0x55555555u);
  EXPECT_EQ(votes[39], 0x55u);
}

TEST(BlockRunnerTest, ShufflesTakeTheValueOfTheLaneAskedFor) {
  std::vector<uint64_t> got(48);
  ASSERT_EQ(RunThreads({1, 1, 1, 48, 1, 1, 0},
                       [&](const weft_host_thread* t) {
                         uint64_t value = uint64_t{100} << 32 | t->thread_x;
                         value = Shuffle(t, kAll, value, t->lane ^ 1);
                         got[t->thread_x] = Shuffle(t, kAll, value, t->lane == 15 ? 20 : t->lane);
                       }),
            WEFT_HOST_OK);
  EXPECT_EQ(got[6], uint64_t{100} << 32 | 7);
  EXPECT_EQ(got[15], uint64_t{100} << 32 | 21);
  EXPECT_EQ(got[47], uint64_t{100} << 32 | 46);  // lane 20 of this warp is not there
}

TEST(BlockRunnerTest, GroupsOfOneWarpWaitApart) {
  std::vector<uint32_t> rounds(32);
  ASSERT_EQ(RunThreads({1, 1, 1, 32, 1, 1, 0},
                       [&](const weft_host_thread* t) {
                         const bool low = t->lane < 8;
                         for (int i = 0; i < (low ? 5 : 2); ++i) {
                           rounds[t->lane] +=
                               Vote(t, low ? 0xffu : ~0xffu, true) == (low ? 0xffu : ~0xffu);
                         }
                       }),
            WEFT_HOST_OK);
  EXPECT_EQ(rounds[7], 5u);
  EXPECT_EQ(rounds[8], 2u);
}

TEST(BlockRunnerTest, LanesThatReturnedAreNotWaitedFor) {
  uint32_t votes = 0;
  ASSERT_EQ(RunThreads({1, 1, 1, 32, 1, 1, 0},
                       [&](const weft_host_thread* t) {
                         if (t->lane >= 4) return;
                         votes = Vote(t, kAll, true);
                       }),
            WEFT_HOST_OK);
  EXPECT_EQ(votes, 0xfu);
}

TEST(BlockRunnerTest, ActiveMaskIsThoseOfTheBranch) {
  std::vector<uint32_t> masks(32);
  ASSERT_EQ(RunThreads({1, 1, 1, 32, 1, 1, 0},
                       [&](const weft_host_thread* t) {
                         if (t->lane % 3 == 0) masks[t->lane] = t->runtime->active_mask(t);
                         Sync(t);
                       }),
            WEFT_HOST_OK);
  EXPECT_EQ(masks[3], 0x49249249u);
  EXPECT_EQ(masks[1], 0u);
}

TEST(BlockRunnerTest, DynamicSharedMemoryStaysWhereItIs) {
  void* first = nullptr;
  const auto find = [&](void** address) {
    return RunThreads({1, 1, 1, 2, 1, 1, 1024}, [&, address](const weft_host_thread* t) {
      *address = t->runtime->dynamic_shared(t);
      std::memset(*address, 1, 1024);
    });
  };
  void* second = nullptr;
  ASSERT_EQ(find(&first), WEFT_HOST_OK);
  ASSERT_EQ(find(&second), WEFT_HOST_OK);
  EXPECT_EQ(first, second);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 128, 0u);
}

TEST(BlockRunnerTest, LaunchesOnTwoThreadsDoNotMeet) {
  const auto sum = [](uint64_t* total) {
    std::vector<uint64_t> values(128);
    EXPECT_EQ(RunThreads({50, 1, 1, 128, 1, 1, 0},
                         [&](const weft_host_thread* t) {
                           values[t->thread_x] = t->thread_x + t->block_x;
                           Sync(t);
                           if (t->thread_x == 0)
                             *total = std::accumulate(values.begin(), values.end(), *total);
                           Sync(t);
                         }),
              WEFT_HOST_OK);
  };
  uint64_t first = 0, second = 0;
  std::thread other([&] { sum(&first); });
  sum(&second);
  other.join();
  EXPECT_EQ(first, 50u * 8128 + 128u * 1225);
  EXPECT_EQ(first, second);
}

}  // namespace
}  // namespace weft::hostcuda
