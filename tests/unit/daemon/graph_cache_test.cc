#include "server/daemon/graph_cache.h"

#include "tests/testing/status_matchers.h"
#include "tests/unit/daemon/fake_executor_client.h"
#include "weft/executor/v1/executor.pb.h"

namespace weft::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using weft::testing::StatusIs;

std::shared_ptr<const CompiledJob> Job(uint64_t number, uint64_t bytes = 100) {
  auto job = std::make_shared<CompiledJob>();
  job->fingerprint = {.high = 0, .low = number};
  job->prepare = std::make_unique<executor::v1::PrepareRequest>();
  job->buffers = {BufferId(number)};
  job->memory_bytes = bytes;
  return job;
}

class GraphCacheTest : public ::testing::Test {
 protected:
  // What Acquire gives: a lease that is there already, or comes with RunAll.
  std::shared_ptr<absl::StatusOr<GraphLease>> Acquire(
      const std::shared_ptr<const CompiledJob>& job) {
    auto result = std::make_shared<absl::StatusOr<GraphLease>>(absl::InternalError("waits"));
    cache_.Acquire(job, client_,
                   [result](absl::StatusOr<GraphLease> lease) { *result = std::move(lease); });
    return result;
  }
  void RunOnce(const std::shared_ptr<const CompiledJob>& job) {
    auto lease = Acquire(job);
    client_->RunAll();
    ASSERT_OK(*lease);
    (*lease)->Return();
  }

  std::shared_ptr<FakeExecutorClient> client_ = std::make_shared<FakeExecutorClient>();
  BufferRegistry buffers_{{.max_buffers = 1, .max_device_bytes = 0}};
  PeerMapper peers_{buffers_};
  GraphCache cache_{{.max_instances = 2, .max_bytes = 1000, .max_instances_per_graph = 2}, peers_};
};

TEST_F(GraphCacheTest, TheFirstUsePreparesAndTheNextReuses) {
  const auto job = Job(1);
  RunOnce(job);
  EXPECT_THAT(client_->TakeCalls(), ElementsAre("prepare g1"));
  const auto again = Acquire(job);
  ASSERT_OK(*again);
  EXPECT_EQ((*again)->get()->id, GraphId(1));
  EXPECT_THAT(client_->TakeCalls(), IsEmpty());
}

TEST_F(GraphCacheTest, BusyInstancesGetASecondOneAndThenWait) {
  const auto job = Job(1);
  auto first = Acquire(job);
  auto second = Acquire(job);
  auto third = Acquire(job);
  client_->RunAll();
  ASSERT_OK(*first);
  ASSERT_OK(*second);
  EXPECT_FALSE(third->ok());
  (*first)->Return();
  ASSERT_OK(*third);
  EXPECT_EQ((*third)->get()->id, GraphId(1));
  EXPECT_THAT(client_->TakeCalls(), ElementsAre("prepare g1", "prepare g2"));
}

TEST_F(GraphCacheTest, TheLeastRecentlyUsedGraphIsReleased) {
  const auto a = Job(1);
  const auto b = Job(2);
  RunOnce(a);
  RunOnce(b);
  RunOnce(a);
  client_->TakeCalls();
  RunOnce(Job(3));
  EXPECT_THAT(client_->TakeCalls(), ElementsAre("release g2", "prepare g3"));
  EXPECT_EQ(cache_.Find(b->fingerprint), nullptr);
  EXPECT_NE(cache_.Find(a->fingerprint), nullptr);
  EXPECT_EQ(cache_.instance_count(), 2u);
}

TEST_F(GraphCacheTest, AGraphInUseIsNotReleased) {
  const auto a = Job(1);
  auto lease = Acquire(a);
  client_->RunAll();
  RunOnce(Job(2));
  RunOnce(Job(3));
  EXPECT_NE(cache_.Find(a->fingerprint), nullptr);
  EXPECT_EQ(client_->live_graphs(), 2u);
}

TEST_F(GraphCacheTest, APinnedGraphIsNotReleased) {
  const auto a = Job(1);
  RunOnce(a);
  ASSERT_OK(cache_.Pin(a));
  RunOnce(Job(2));
  RunOnce(Job(3));
  RunOnce(Job(4));
  EXPECT_NE(cache_.Find(a->fingerprint), nullptr);
  cache_.Unpin(*a);
  RunOnce(Job(5));
  RunOnce(Job(6));
  EXPECT_EQ(cache_.Find(a->fingerprint), nullptr);
}

TEST_F(GraphCacheTest, MorePinsThanInstancesAreRefused) {
  ASSERT_OK(cache_.Pin(Job(1)));
  ASSERT_OK(cache_.Pin(Job(2)));
  EXPECT_OK(cache_.Pin(Job(2)));  // the same entry
  EXPECT_THAT(cache_.Pin(Job(3)), StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(GraphCacheTest, CompiledJobsAreBoundedByBytes) {
  const auto a = Job(1, 600);
  const auto b = Job(2, 600);
  cache_.Insert(a);
  cache_.Insert(b);
  EXPECT_EQ(cache_.Find(a->fingerprint), nullptr);
  EXPECT_NE(cache_.Find(b->fingerprint), nullptr);
}

TEST_F(GraphCacheTest, AnEqualJobThatWasInsertedMeanwhileIsTheOneUsed) {
  const auto first = cache_.Insert(Job(1));
  EXPECT_EQ(cache_.Insert(Job(1)), first);
}

TEST_F(GraphCacheTest, ADeletedBufferTakesItsGraphsAlong) {
  const auto a = Job(1);
  RunOnce(a);
  RunOnce(Job(2));
  cache_.DropBuffer(BufferId(1));
  client_->RunAll();
  EXPECT_EQ(cache_.Find(a->fingerprint), nullptr);
  EXPECT_EQ(client_->live_graphs(), 1u);
}

TEST_F(GraphCacheTest, ALostExecutorsGraphsAreForgottenAndPreparedAnew) {
  const auto a = Job(1);
  RunOnce(a);
  auto busy = Acquire(a);
  client_->MarkLost("gone");
  cache_.DropExecutor(*client_);
  (*busy)->Return();
  EXPECT_EQ(cache_.instance_count(), 0u);
  client_ = std::make_shared<FakeExecutorClient>();
  RunOnce(a);
  EXPECT_THAT(client_->TakeCalls(), ElementsAre("prepare g2"));
}

TEST_F(GraphCacheTest, ShortMemoryReleasesIdleGraphsAndTriesAgain) {
  RunOnce(Job(1));
  client_->TakeCalls();
  client_->prepare_error = absl::ResourceExhaustedError("out of memory");
  auto lease = Acquire(Job(2));
  client_->RunAll();
  EXPECT_OK(*lease);
  EXPECT_THAT(client_->TakeCalls(), ElementsAre("prepare g2", "release g1", "prepare g3"));
}

TEST_F(GraphCacheTest, ShortMemoryWithNothingToReleaseIsTheAnswer) {
  client_->prepare_error = absl::ResourceExhaustedError("out of memory");
  auto lease = Acquire(Job(1));
  client_->RunAll();
  EXPECT_THAT(*lease, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(cache_.instance_count(), 0u);
}

TEST_F(GraphCacheTest, AGraphThatFindsNoMemoryWaitsForALeaseToComeBack) {
  auto busy = Acquire(Job(1));
  client_->RunAll();
  client_->prepare_error = absl::ResourceExhaustedError("out of memory");
  auto lease = Acquire(Job(2));
  client_->RunAll();
  EXPECT_THAT(*lease, StatusIs(absl::StatusCode::kInternal, ::testing::HasSubstr("waits")));
  (*busy)->Return();
  client_->RunAll();
  EXPECT_OK(*lease);
}

TEST_F(GraphCacheTest, ASecondCopyThatFindsNoMemoryTakesTheFirstOneOver) {
  const auto job = Job(1);
  auto busy = Acquire(job);
  client_->RunAll();
  client_->prepare_error = absl::ResourceExhaustedError("out of memory");
  auto lease = Acquire(job);
  client_->RunAll();
  (*busy)->Return();
  ASSERT_OK(*lease);
  EXPECT_EQ((*lease)->get()->id, GraphId(1));
}

TEST_F(GraphCacheTest, WhenMemoryStaysShortWithNoLeaseOutItIsTheAnswerAndTheNextTries) {
  auto busy = Acquire(Job(1));
  client_->RunAll();
  client_->prepare_error = absl::ResourceExhaustedError("out of memory");
  // Both wait; when the lease is back the first still finds too little.
  client_->prepare_error_count = 3;
  auto first = Acquire(Job(2));
  auto second = Acquire(Job(3));
  client_->RunAll();
  (*busy)->Return();
  client_->RunAll();
  EXPECT_THAT(*first, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_OK(*second);
}

TEST_F(GraphCacheTest, WhoWaitsForMemoryOfALostExecutorIsTold) {
  auto busy = Acquire(Job(1));
  client_->RunAll();
  client_->prepare_error = absl::ResourceExhaustedError("out of memory");
  auto lease = Acquire(Job(2));
  client_->RunAll();
  client_->MarkLost("gone");
  cache_.DropExecutor(*client_);
  EXPECT_THAT(*lease, StatusIs(absl::StatusCode::kUnavailable));
  (*busy)->Return();
  EXPECT_EQ(cache_.instance_count(), 0u);
}

TEST_F(GraphCacheTest, AStagingAreaSmallerThanThePlansIsRefusedAndReleased) {
  auto job = std::make_shared<CompiledJob>();
  job->fingerprint = {.high = 0, .low = 9};
  job->prepare = std::make_unique<executor::v1::PrepareRequest>();
  job->staging_bytes = client_->staging_bytes + 1;
  auto lease = Acquire(job);
  client_->RunAll();
  EXPECT_THAT(*lease, StatusIs(absl::StatusCode::kInternal, ::testing::HasSubstr("two versions")));
  EXPECT_EQ(client_->live_graphs(), 0u);
}

TEST_F(GraphCacheTest, WhenPreparingFailsThoseWhoWaitTryForThemselves) {
  const auto job = Job(1);
  client_->prepare_error = absl::InternalError("broken");
  auto first = Acquire(job);
  client_->prepare_error = absl::InternalError("broken");
  auto second = Acquire(job);
  auto third = Acquire(job);
  client_->RunAll();
  EXPECT_THAT(*first, StatusIs(absl::StatusCode::kInternal));
  EXPECT_THAT(*second, StatusIs(absl::StatusCode::kInternal));
  EXPECT_OK(*third);
}

}  // namespace
}  // namespace weft::daemon
