// JobOrder, Scheduler, TimerQueue and WorkerPool: when what is accepted may run.
#include <string>
#include <vector>

#include "absl/synchronization/notification.h"
#include "server/daemon/job_order.h"
#include "server/daemon/scheduler.h"
#include "server/daemon/timer_queue.h"
#include "server/daemon/worker_pool.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"

namespace weft::daemon {
namespace {

using kernels::Access;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using UnitId = JobOrder::UnitId;

class JobOrderTest : public ::testing::Test {
 protected:
  UnitId Add(const std::string& name, const std::vector<BufferUse>& uses) {
    const UnitId id = order_.Add(uses, [this, name] { started_.push_back(name); });
    order_.Open(id);
    return id;
  }
  static BufferUse Use(Access access, uint64_t offset = 0, uint64_t size = 10,
                       uint64_t buffer = 1) {
    return {BufferId(buffer), {offset, size}, access};
  }
  std::vector<std::string> TakeStarted() { return std::exchange(started_, {}); }

  JobOrder order_;
  std::vector<std::string> started_;
};

TEST_F(JobOrderTest, AReaderWaitsForTheWriterBefore) {
  const UnitId writer = Add("w", {Use(Access::kWrite)});
  Add("r", {Use(Access::kRead)});
  EXPECT_THAT(TakeStarted(), ElementsAre("w"));
  order_.End(writer);
  EXPECT_THAT(TakeStarted(), ElementsAre("r"));
}

TEST_F(JobOrderTest, ReadersRunSideBySideAndAWriterWaitsForAll) {
  const UnitId first = Add("r1", {Use(Access::kRead)});
  const UnitId second = Add("r2", {Use(Access::kRead)});
  Add("w", {Use(Access::kWrite)});
  EXPECT_THAT(TakeStarted(), ElementsAre("r1", "r2"));
  order_.End(first);
  EXPECT_THAT(TakeStarted(), IsEmpty());
  order_.End(second);
  EXPECT_THAT(TakeStarted(), ElementsAre("w"));
}

TEST_F(JobOrderTest, RangesThatDoNotMeetDoNotWait) {
  Add("a", {Use(Access::kWrite, 0, 10)});
  Add("b", {Use(Access::kWrite, 10, 10)});
  Add("c", {Use(Access::kWrite, 0, 10, 2)});
  EXPECT_THAT(TakeStarted(), ElementsAre("a", "b", "c"));
}

TEST_F(JobOrderTest, AUnitOfManyBuffersWaitsForEachOfThem) {
  const UnitId a = Add("a", {Use(Access::kWrite, 0, 10, 1)});
  const UnitId b = Add("b", {Use(Access::kWrite, 0, 10, 2)});
  Add("c", {Use(Access::kRead, 0, 10, 1), Use(Access::kRead, 0, 10, 2)});
  TakeStarted();
  order_.End(a);
  EXPECT_THAT(TakeStarted(), IsEmpty());
  order_.End(b);
  EXPECT_THAT(TakeStarted(), ElementsAre("c"));
}

TEST_F(JobOrderTest, AUnitThatIsNotOpenDoesNotStart) {
  const UnitId id = order_.Add({Use(Access::kWrite)}, [this] { started_.push_back("late"); });
  EXPECT_THAT(TakeStarted(), IsEmpty());
  order_.Open(id);
  EXPECT_THAT(TakeStarted(), ElementsAre("late"));
}

TEST_F(JobOrderTest, AUnitThatIsNotOpenWhenItsTurnComesStartsWhenOpened) {
  const UnitId writer = Add("w", {Use(Access::kWrite)});
  const UnitId id = order_.Add({Use(Access::kRead)}, [this] { started_.push_back("late"); });
  order_.End(writer);
  EXPECT_THAT(TakeStarted(), ElementsAre("w"));
  order_.Open(id);
  EXPECT_THAT(TakeStarted(), ElementsAre("late"));
}

TEST_F(JobOrderTest, ACancelledUnitKeepsTheOrderOfThoseAroundIt) {
  const UnitId a = Add("a", {Use(Access::kWrite)});
  const UnitId b = Add("b", {Use(Access::kWrite)});
  const UnitId c = Add("c", {Use(Access::kRead)});  // waits for b alone, which waits for a
  order_.End(b);
  EXPECT_THAT(TakeStarted(), ElementsAre("a"));
  order_.End(a);
  EXPECT_THAT(TakeStarted(), ElementsAre("c"));
  order_.End(c);
  EXPECT_EQ(order_.unit_count(), 0u);
}

TEST_F(JobOrderTest, ALongChainOfCancelledUnitsEndsWithoutNesting) {
  const UnitId first = Add("first", {Use(Access::kWrite)});
  for (int i = 0; i < 20'000; ++i) {
    order_.End(order_.Add({Use(Access::kWrite)}, [] {}));
  }
  order_.End(first);
  EXPECT_EQ(order_.unit_count(), 0u);
}

TEST_F(JobOrderTest, ManyUnitsOfOneBufferStayOrderedAcrossSweeps) {
  const UnitId held = Add("held", {Use(Access::kWrite, 0, 1'000'000)});
  Add("behind", {Use(Access::kRead, 999'999, 1)});
  for (int i = 0; i < 1000; ++i) {
    order_.End(order_.Add({Use(Access::kRead, static_cast<uint64_t>(i), 1)}, [] {}));
  }
  EXPECT_THAT(TakeStarted(), ElementsAre("held"));
  order_.End(held);
  EXPECT_THAT(TakeStarted(), ElementsAre("behind"));
}

class SchedulerTest : public ::testing::Test {
 protected:
  void Enqueue(uint64_t session, uint64_t job,
               Scheduler::Started result = Scheduler::Started::kRunning) {
    scheduler_.Enqueue(0, Entry(session, job, result));
  }
  Scheduler::Entry Entry(uint64_t session, uint64_t job,
                         Scheduler::Started result = Scheduler::Started::kRunning) {
    return {.job = JobId(job), .session = SessionId(session), .start = [this, job, result] {
              started_.push_back(job);
              return result;
            }};
  }
  Scheduler scheduler_{1};
  std::vector<uint64_t> started_;
};

TEST_F(SchedulerTest, WhatFindsRoomStartsAtOnce) {
  Enqueue(1, 1);
  Enqueue(1, 2);
  EXPECT_THAT(started_, ElementsAre(1));
  scheduler_.Done(0);
  EXPECT_THAT(started_, ElementsAre(1, 2));
}

TEST_F(SchedulerTest, SessionsTakeTurns) {
  for (uint64_t job = 1; job <= 3; ++job) Enqueue(1, job);
  Enqueue(2, 11);
  for (int i = 0; i < 3; ++i) scheduler_.Done(0);
  EXPECT_THAT(started_, ElementsAre(1, 2, 11, 3));
}

TEST_F(SchedulerTest, ARemovedJobDoesNotStart) {
  Enqueue(1, 1);
  Enqueue(1, 2);
  EXPECT_TRUE(scheduler_.Remove(0, SessionId(1), JobId(2)));
  EXPECT_FALSE(scheduler_.Remove(0, SessionId(1), JobId(2)));
  EXPECT_FALSE(scheduler_.Remove(0, SessionId(1), JobId(1)));
  scheduler_.Done(0);
  EXPECT_THAT(started_, ElementsAre(1));
  EXPECT_EQ(scheduler_.running(0), 0u);
}

TEST_F(SchedulerTest, AJobThatIsOverAlreadyLeavesItsPlaceToTheNext) {
  Enqueue(1, 1);
  for (uint64_t job = 2; job < 50'000; ++job) Enqueue(1, job, Scheduler::Started::kNothing);
  Enqueue(1, 50'000);
  scheduler_.Done(0);
  EXPECT_EQ(started_.size(), 50'000u);
  EXPECT_EQ(scheduler_.running(0), 1u);
}

TEST_F(SchedulerTest, APausedDeviceStartsNothingUntilResumed) {
  scheduler_.Pause(0);
  Enqueue(1, 1);
  EXPECT_THAT(started_, IsEmpty());
  scheduler_.EnqueueFirst(0, Entry(1, 2));
  scheduler_.Resume(0);
  EXPECT_THAT(started_, ElementsAre(2));
}

TEST_F(SchedulerTest, DevicesDoNotWaitForEachOther) {
  Enqueue(1, 1);
  scheduler_.Enqueue(1, Entry(1, 2));
  EXPECT_THAT(started_, ElementsAre(1, 2));
}

TEST(TimerQueueTest, TimersFireInOrderWhenTheirTimeHasCome) {
  weft::testing::FakeClock clock;
  TimerQueue timers(clock);
  std::vector<int> fired;
  timers.Add(absl::Seconds(2), [&] { fired.push_back(2); });
  timers.Add(absl::Seconds(1), [&] { fired.push_back(1); });
  timers.Add(absl::Seconds(9), [&] { fired.push_back(9); });
  timers.RunDue();
  EXPECT_THAT(fired, IsEmpty());
  clock.Advance(absl::Seconds(2));
  timers.RunDue();
  EXPECT_THAT(fired, ElementsAre(1, 2));
}

TEST(TimerQueueTest, ACancelledTimerDoesNotFire) {
  weft::testing::FakeClock clock;
  TimerQueue timers(clock);
  const TimerQueue::Timer timer = timers.Add(absl::Seconds(1), [] { FAIL(); });
  EXPECT_TRUE(timers.Cancel(timer));
  EXPECT_FALSE(timers.Cancel(timer));
  EXPECT_FALSE(timers.Cancel(TimerQueue::Timer()));
  clock.Advance(absl::Seconds(2));
  timers.RunDue();
}

TEST(TimerThreadTest, RunsATimerOfTheRealClock) {
  TimerQueue timers(Clock::Real());
  TimerThread thread(timers);
  absl::Notification fired;
  timers.Add(absl::Hours(1), [] { FAIL(); });
  timers.Add(absl::Milliseconds(1), [&] { fired.Notify(); });
  fired.WaitForNotification();
}

TEST(WorkerPoolTest, StopRunsWhatIsQueuedAndWhatThatPosts) {
  WorkerPool pool(2);
  absl::Mutex mutex;
  int runs = 0;
  for (int i = 0; i < 10; ++i) {
    pool.Post([&] {
      pool.Post([&] {
        absl::MutexLock lock(&mutex);
        ++runs;
      });
    });
  }
  pool.Stop();
  EXPECT_EQ(runs, 10);
}

TEST(WorkerPoolTest, AfterStopATaskRunsWhereItIsPosted) {
  WorkerPool pool(1);
  pool.Stop();
  bool ran = false;
  pool.Post([&] { ran = true; });
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace weft::daemon
