#include "graph/plan/access_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/ids.h"

namespace weft::plan {
namespace {

using kernels::Access;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class AccessHistoryTest : public ::testing::Test {
 protected:
  std::set<int> Record(ByteRange range, Access access, int token) {
    std::set<int> found;
    history_.Record(range, access, token, [&](int earlier, Hazard) { found.insert(earlier); });
    return found;
  }
  std::set<int> Read(ByteRange range, int token) { return Record(range, Access::kRead, token); }
  std::set<int> Write(ByteRange range, int token) { return Record(range, Access::kWrite, token); }

  AccessHistory<int> history_;
};

TEST_F(AccessHistoryTest, FirstAccessWaitsForNobody) {
  EXPECT_THAT(Write({0, 8}, 1), IsEmpty());
  EXPECT_THAT(Read({8, 8}, 2), IsEmpty());
}

TEST_F(AccessHistoryTest, ReadersWaitForTheWriterAndNotForEachOther) {
  Write({0, 8}, 1);
  EXPECT_THAT(Read({0, 8}, 2), ElementsAre(1));
  EXPECT_THAT(Read({4, 1}, 3), ElementsAre(1));
}

TEST_F(AccessHistoryTest, WriterWaitsForReadersWhoWaitedForTheWriterBefore) {
  Write({0, 8}, 1);
  Read({0, 4}, 2);
  Read({0, 8}, 3);
  EXPECT_THAT(Write({0, 8}, 4), ElementsAre(2, 3));
  EXPECT_THAT(Read({0, 8}, 5), ElementsAre(4));
}

TEST_F(AccessHistoryTest, WriterWaitsForTheWriterWhereNobodyRead) {
  Write({0, 8}, 1);
  Read({0, 4}, 2);
  EXPECT_THAT(Write({2, 4}, 3), ElementsAre(1, 2));
  EXPECT_THAT(Write({0, 8}, 4), ElementsAre(1, 2, 3));
}

TEST_F(AccessHistoryTest, HazardsAreNamed) {
  std::vector<Hazard> hazards;
  const auto note = [&hazards](int, Hazard hazard) { hazards.push_back(hazard); };
  history_.Record({0, 8}, Access::kWrite, 1, note);
  history_.Record({0, 8}, Access::kWrite, 2, note);
  history_.Record({0, 8}, Access::kRead, 3, note);
  history_.Record({0, 8}, Access::kWrite, 4, note);
  EXPECT_THAT(hazards, ElementsAre(Hazard::kWriteAfterWrite, Hazard::kReadAfterWrite,
                                   Hazard::kWriteAfterRead));
}

TEST_F(AccessHistoryTest, DisjointRangesAreIndependent) {
  Write({0, 8}, 1);
  EXPECT_THAT(Write({8, 8}, 2), IsEmpty());
  EXPECT_THAT(Read({7, 2}, 3), ElementsAre(1, 2));
}

TEST_F(AccessHistoryTest, EmptyRangeTouchesNothing) {
  Write({0, 8}, 1);
  EXPECT_THAT(Write({4, 0}, 2), IsEmpty());
  EXPECT_THAT(Read({0, 8}, 3), ElementsAre(1));
}

TEST_F(AccessHistoryTest, TokenNeverWaitsForItself) {
  Write({0, 8}, 1);
  EXPECT_THAT(Read({0, 8}, 2), ElementsAre(1));
  EXPECT_THAT(Write({0, 8}, 2), IsEmpty());
  EXPECT_THAT(Read({0, 8}, 2), IsEmpty());
  EXPECT_THAT(Write({0, 8}, 3), ElementsAre(2));
}

TEST_F(AccessHistoryTest, ReadWriteWaitsForReadersAndWriter) {
  Write({0, 8}, 1);
  Read({0, 4}, 2);
  EXPECT_THAT(Record({0, 8}, Access::kReadWrite, 3), ElementsAre(1, 2));
}

TEST_F(AccessHistoryTest, ReadersOfManySegmentsAreReportedOnce) {
  for (int i = 0; i < 100; ++i) Read({0, 100}, i);
  for (int i = 0; i < 100; ++i) Read({static_cast<uint64_t>(i), 1}, 100 + i);
  EXPECT_TRUE(history_.StepsExceed({0, 100}, Access::kWrite, 299));
  EXPECT_FALSE(history_.StepsExceed({0, 100}, Access::kWrite, 300));  // 100 segments, 200 readers
  std::vector<int> reported;
  const auto note = [&reported](int earlier, Hazard) { reported.push_back(earlier); };
  history_.Query({0, 100}, Access::kWrite, 200, note);
  EXPECT_EQ(reported.size(), 200);
  EXPECT_EQ(std::set<int>(reported.begin(), reported.end()).size(), 200);
  const uint64_t steps_before = history_.steps();
  history_.Record({0, 100}, Access::kWrite, 200, note);
  EXPECT_EQ(reported.size(), 400);
  EXPECT_EQ(history_.steps() - steps_before, 300);
}

TEST_F(AccessHistoryTest, QueryNotesNothing) {
  Write({0, 8}, 1);
  std::vector<int> found;
  history_.Query({4, 8}, Access::kWrite, 2, [&found](int t, Hazard) { found.push_back(t); });
  EXPECT_THAT(found, ElementsAre(1));
  EXPECT_THAT(Read({8, 8}, 3), IsEmpty());
}

TEST_F(AccessHistoryTest, RemovedTokensAreForgotten) {
  Write({0, 8}, 1);
  Read({0, 4}, 2);
  Read({0, 8}, 3);
  history_.RemoveIf([](int token) { return token <= 2; });
  EXPECT_THAT(Write({0, 8}, 4), ElementsAre(3));
  history_.RemoveIf([](int) { return true; });
  EXPECT_TRUE(history_.empty());
}

TEST_F(AccessHistoryTest, SizeCountsReadersAndRemovingGivesTheirMemoryBack) {
  for (int i = 0; i < 1000; ++i) Read({0, 8}, i);
  EXPECT_EQ(history_.size(), 1001);
  Write({0, 8}, 1000);
  EXPECT_EQ(history_.size(), 1001);
  history_.RemoveIf([](int token) { return token < 1000; });
  EXPECT_EQ(history_.size(), 1);
}

TEST_F(AccessHistoryTest, RemovingMergesWhatHasBecomeEqual) {
  Write({0, 100}, 1);
  for (uint64_t i = 0; i < 100; ++i) Read({i, 1}, 2 + static_cast<int>(i));
  EXPECT_EQ(history_.segment_count(), 100);
  history_.RemoveIf([](int token) { return token > 1; });
  EXPECT_EQ(history_.segment_count(), 1);
}

TEST_F(AccessHistoryTest, CollapsedHistoryIsWaitedForAsOne) {
  for (int i = 0; i < 10; ++i) Write({static_cast<uint64_t>(i) * 8, 8}, i);
  for (int i = 10; i < 20; ++i) Read({0, 80}, i);
  EXPECT_TRUE(history_.StepsExceed({0, 80}, Access::kRead, 9));
  EXPECT_FALSE(history_.StepsExceed({0, 80}, Access::kRead, 10));
  EXPECT_TRUE(history_.StepsExceed({0, 8}, Access::kWrite, 10));
  EXPECT_FALSE(history_.StepsExceed({0, 8}, Access::kWrite, 11));
  std::vector<std::set<int>> joined;
  history_.Collapse([&joined](absl::Span<const int> tokens) {
    joined.emplace_back(tokens.begin(), tokens.end());
    return 99 + static_cast<int>(joined.size());
  });
  ASSERT_EQ(joined.size(), 2);
  EXPECT_EQ(joined[0].size(), 20);
  EXPECT_EQ(joined[1].size(), 10);
  EXPECT_THAT(Read({8, 1}, 20), UnorderedElementsAre(101));
  EXPECT_THAT(Write({40, 1}, 21), UnorderedElementsAre(100));
}

TEST(AccessHistoryOfJobsTest, WorksWithStrongIds) {
  AccessHistory<JobId> history;
  std::vector<JobId> found;
  const auto note = [&found](JobId earlier, Hazard) { found.push_back(earlier); };
  history.Record({0, 8}, Access::kWrite, JobId(1), note);
  history.Record({0, 8}, Access::kRead, JobId(2), note);
  EXPECT_THAT(found, ElementsAre(JobId(1)));
}

}  // namespace
}  // namespace weft::plan
