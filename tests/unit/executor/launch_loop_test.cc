#include "server/executor/launch_loop.h"

#include <pthread.h>

#include <atomic>
#include <ctime>
#include <memory>
#include <set>
#include <vector>

#include "tests/testing/status_matchers.h"
#include "tests/unit/executor/test_device.h"
#include "tests/unit/executor/test_loop.h"

namespace weft::executor {
namespace {

using weft::testing::StatusIs;

absl::Status Nothing(const cuda::StreamRef&) { return absl::OkStatus(); }

LaunchLoopOptions NoSpin() { return {.spin = absl::ZeroDuration()}; }

class LaunchLoopTest : public ::testing::Test {
 protected:
  const cuda::Context context_ = MakeContext();
};

TEST_F(LaunchLoopTest, LaunchRunsAndCompletes) {
  TestLoop loop(context_);
  std::atomic<int> runs{0};
  const auto graph = loop.Add(1, [&runs](const cuda::StreamRef& stream) {
    return stream.LaunchHostFunc([](void* count) { ++*static_cast<std::atomic<int>*>(count); },
                                 &runs);
  });
  for (int i = 1; i <= 3; ++i) {
    const uint64_t sequence = loop.Submit(1);
    const transport::Completion completion = loop.Next();
    EXPECT_EQ(completion.sequence, sequence);
    EXPECT_EQ(completion.code, absl::StatusCode::kOk);
    EXPECT_FALSE(completion.context_lost);
    EXPECT_EQ(runs.load(), i);
  }
  EXPECT_OK(graph->Report()->status);
}

// With no spinning at all every launch wakes the loop, and the loop sleeps while it runs.
TEST_F(LaunchLoopTest, SleepingLoopIsWokenBySubmissionAndByTheDevice) {
  LaunchLoopOptions options = NoSpin();
  options.idle_sleep = absl::InfiniteDuration();
  options.in_flight_sleep = absl::InfiniteDuration();
  TestLoop loop(context_, options);
  for (uint64_t id = 1; id <= 50; ++id) {
    Gate gate;
    loop.Add(id, gate.Launch());
    loop.Submit(id);
    gate.WaitUntilRunning();
    gate.Open();
    EXPECT_EQ(loop.Next().code, absl::StatusCode::kOk);
    ASSERT_OK(loop.graphs().Remove(GraphId(id)));
  }
}

TEST_F(LaunchLoopTest, SeveralGraphsAreInFlightAndEndInAnyOrder) {
  TestLoop loop(context_);
  Gate slow;
  loop.Add(1, slow.Launch());
  loop.Add(2, Nothing);
  const uint64_t first = loop.Submit(1);
  slow.WaitUntilRunning();
  for (int i = 0; i < 20; ++i) {
    const uint64_t sequence = loop.Submit(2);
    EXPECT_EQ(loop.Next().sequence, sequence);
  }
  slow.Open();
  EXPECT_EQ(loop.Next().sequence, first);
}

TEST_F(LaunchLoopTest, MoreLaunchesThanLanesWaitInTheRing) {
  LaunchLoopOptions options;
  options.max_in_flight = 2;
  TestLoop loop(context_, options);
  Gate gates[2];
  loop.Add(1, gates[0].Launch());
  loop.Add(2, gates[1].Launch());
  loop.Add(3, Nothing);
  loop.Submit(1);
  loop.Submit(2);
  const uint64_t third = loop.Submit(3);
  gates[0].WaitUntilRunning();
  gates[1].WaitUntilRunning();
  EXPECT_FALSE(loop.client().Wait(absl::Milliseconds(5)).has_value());
  gates[0].Open();
  std::set<uint64_t> ended = {loop.Next().sequence, loop.Next().sequence};
  EXPECT_TRUE(ended.contains(third));
  gates[1].Open();
  loop.Next();
}

TEST_F(LaunchLoopTest, UnknownGraphAndOneInFlightAreRefused) {
  TestLoop loop(context_);
  loop.Submit(99);
  EXPECT_EQ(loop.Next().code, absl::StatusCode::kNotFound);
  Gate gate;
  const auto graph = loop.Add(1, gate.Launch());
  loop.Submit(1);
  gate.WaitUntilRunning();
  loop.Submit(1);
  EXPECT_EQ(loop.Next().code, absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(graph->Report(), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(loop.graphs().Remove(GraphId(1)), StatusIs(absl::StatusCode::kFailedPrecondition));
  gate.Open();
  EXPECT_EQ(loop.Next().code, absl::StatusCode::kOk);
  EXPECT_OK(loop.graphs().Remove(GraphId(1)));
}

TEST_F(LaunchLoopTest, GraphOfFreedMemoryIsNotLaunched) {
  TestLoop loop(context_);
  loop.Add(1, Nothing, {.buffers = {{1000, 100}}});
  loop.Add(2, Nothing, {.buffers = {{2000, 100}}});
  ASSERT_OK(loop.graphs().RetireUsersOf({1099, 10}));
  loop.Submit(1);
  EXPECT_EQ(loop.Next().code, absl::StatusCode::kFailedPrecondition);
  loop.Submit(2);
  EXPECT_EQ(loop.Next().code, absl::StatusCode::kOk);
}

// What could be added before the error still runs, and the launch ends behind it.
TEST_F(LaunchLoopTest, FailedLaunchEndsWithItsErrorWhenItsPartHasEnded) {
  TestLoop loop(context_);
  Gate gate;
  const auto graph = loop.Add(1, [&gate](const cuda::StreamRef& stream) {
    EXPECT_OK(gate.Launch()(stream));
    return absl::ResourceExhaustedError("no room for node \"b\"");
  });
  loop.Submit(1);
  gate.WaitUntilRunning();
  EXPECT_FALSE(loop.client().Wait(absl::Milliseconds(5)).has_value());
  gate.Open();
  EXPECT_EQ(loop.Next().code, absl::StatusCode::kResourceExhausted);
  ASSERT_OK_AND_ASSIGN(const LaunchReport report, graph->Report());
  EXPECT_EQ(report.status.message(), "no room for node \"b\"");
}

TEST_F(LaunchLoopTest, StopWaitsForLaunchesInFlight) {
  TestLoop loop(context_, NoSpin());
  Gate gate;
  loop.Add(1, gate.Launch());
  loop.Submit(1);
  gate.WaitUntilRunning();
  loop.loop().Stop();
  loop.Submit(1);  // not taken any more
  gate.Open();
  EXPECT_EQ(loop.Join(), LaunchLoop::Outcome::kStopped);
  EXPECT_EQ(loop.Next().code, absl::StatusCode::kOk);
  EXPECT_FALSE(loop.client().Poll().has_value());
}

// The time that the loop's thread has computed.
absl::Duration CpuTimeOf(std::thread& thread) {
  clockid_t clock{};
  timespec time{};
  EXPECT_EQ(::pthread_getcpuclockid(thread.native_handle(), &clock), 0);
  EXPECT_EQ(::clock_gettime(clock, &time), 0);
  return absl::DurationFromTimespec(time);
}

TEST_F(LaunchLoopTest, WaitingLoopUsesNoProcessor) {
  TestLoop loop(context_);
  Gate gate;
  loop.Add(1, gate.Launch());
  EXPECT_FALSE(loop.client().Wait(absl::Milliseconds(20)).has_value());  // it falls asleep
  const absl::Duration idle_start = CpuTimeOf(loop.thread());
  EXPECT_FALSE(loop.client().Wait(absl::Milliseconds(200)).has_value());
  EXPECT_LE(CpuTimeOf(loop.thread()) - idle_start, absl::Milliseconds(4));
  loop.Submit(1);  // and with an endless launch in flight
  gate.WaitUntilRunning();
  EXPECT_FALSE(loop.client().Wait(absl::Milliseconds(20)).has_value());
  const absl::Duration busy_start = CpuTimeOf(loop.thread());
  EXPECT_FALSE(loop.client().Wait(absl::Milliseconds(200)).has_value());
  EXPECT_LE(CpuTimeOf(loop.thread()) - busy_start, absl::Milliseconds(4));
  gate.Open();
  loop.Next();
}

}  // namespace
}  // namespace weft::executor
