// Launches that wait for semaphores: they go on when the value is there, and hold up nobody meanwhile.
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "cuda/memory.h"
#include "server/executor/device_region.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/executor/test_device.h"
#include "tests/unit/executor/test_loop.h"

namespace weft::executor {
namespace {

using weft::testing::IsOkAndHolds;

absl::Status NoWork(const cuda::StreamRef&) { return absl::OkStatus(); }

class WaitingLaunchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(DeviceRegion words, DeviceRegion::Create(context_, 4096));
    words_.emplace(std::move(words));
    ASSERT_OK_AND_ASSIGN(cuda::Stream stream, cuda::Stream::Create(context_, {}));
    stream_.emplace(std::move(stream));
    for (int i = 0; i < kWords; ++i) Write(i, 0);
  }

  CUdeviceptr Word(int i) const { return words_->address() + 8 * i; }
  // As another process does it: nobody tells the loop.
  void Write(int word, uint64_t value) {
    ASSERT_OK(stream_->ref().WriteValue64(Word(word), value));
    ASSERT_OK(stream_->ref().Synchronize());
  }
  // What a job that signals puts into its stream.
  LaunchFunction Signal(int word, uint64_t value) const {
    return [address = Word(word), value](const cuda::StreamRef& stream) {
      return stream.WriteValue64(address, value);
    };
  }
  // A graph that signals, run to its end.
  void RunSignal(TestLoop& loop, uint64_t id, int word, uint64_t value) {
    loop.Add(id, Signal(word, value), {.has_signals = true});
    const uint64_t sequence = loop.Submit(id);
    EXPECT_EQ(loop.Next().sequence, sequence);
  }

  static constexpr int kWords = 8;
  const cuda::Context context_ = MakeContext();
  std::optional<DeviceRegion> words_;
  std::optional<cuda::Stream> stream_;
};

TEST_F(WaitingLaunchTest, GoesOnWhenAnotherLaunchSignals) {
  TestLoop loop(context_);
  const auto graph =
      loop.AddCut(1, TableOf().Wait(Word(0), 3).Nodes({0}).Make(), {nullptr, Signal(1, 7)});
  const uint64_t waiting = loop.Submit(1);
  RunSignal(loop, 2, 0, 2);  // too little
  loop.Add(3, Signal(0, 5), {.has_signals = true});
  const uint64_t signalling = loop.Submit(3);
  const std::set<uint64_t> ended = {loop.Next().sequence, loop.Next().sequence};
  EXPECT_EQ(ended, (std::set<uint64_t>{waiting, signalling}));
  EXPECT_OK(graph->Report()->status);
  uint64_t seen = 0;
  ASSERT_OK(cuda::CopyToHost(context_, &seen, Word(1), sizeof(seen)));
  EXPECT_EQ(seen, 7u);
}

TEST_F(WaitingLaunchTest, ASleepingLoopSeesValuesThatNobodyTellsItOf) {
  LaunchLoopOptions options{.spin = absl::ZeroDuration()};
  options.idle_sleep = absl::InfiniteDuration();
  options.in_flight_sleep = absl::InfiniteDuration();
  TestLoop loop(context_, options);
  loop.AddCut(1, TableOf().Wait(Word(0), 1).Nodes({0}).Make(), {nullptr, NoWork});
  for (uint64_t run = 1; run <= 3; ++run) {
    loop.Submit(1);
    Write(0, 1);
    EXPECT_EQ(loop.Next().code, absl::StatusCode::kOk);
    Write(0, 0);
  }
}

TEST_F(WaitingLaunchTest, TheDeviceIsIdleMeanwhile) {
  TestLoop loop(context_);
  absl::Notification started;
  loop.AddCut(1, TableOf().Nodes().Wait(Word(0), 1, {0}).Make(),
              {[&started](const cuda::StreamRef& stream) {
                 return stream.LaunchHostFunc(
                     [](void* told) { static_cast<absl::Notification*>(told)->Notify(); },
                     &started);
               },
               nullptr});
  loop.Submit(1);
  started.WaitForNotification();
  // Loading a module does the same, and would not come back while a wait is pending.
  EXPECT_OK(context_.Synchronize());
  Write(0, 1);
  EXPECT_EQ(loop.Next().code, absl::StatusCode::kOk);
}

TEST_F(WaitingLaunchTest, WaitsOfOneLaunchAreOverInAnyOrder) {
  TestLoop loop(context_);
  const auto cut = [&] {
    return TableOf().Wait(Word(0), 1).Wait(Word(1), 1).Nodes({0}).Nodes({1}).Make();
  };
  // The first run's second wait is over first, and the other way round.
  loop.AddCut(1, cut(), {nullptr, nullptr, Signal(2, 1), Signal(3, 1)}, {.has_signals = true});
  loop.AddCut(2, TableOf().Wait(Word(3), 1).Nodes({0}).Make(), {nullptr, NoWork});
  const uint64_t first = loop.Submit(1);
  const uint64_t second = loop.Submit(2);
  Write(1, 1);
  EXPECT_EQ(loop.Next().sequence, second);  // what comes behind the second wait has run
  Write(0, 1);
  EXPECT_EQ(loop.Next().sequence, first);
}

// Job 1: wait(a), and wait(b) → signal(c). Job 2: wait(c) → signal(a).
TEST_F(WaitingLaunchTest, TwoLaunchesWaitForEachOther) {
  constexpr int kA = 0;
  constexpr int kB = 1;
  constexpr int kC = 2;
  TestLoop loop(context_);
  loop.AddCut(1, TableOf().Wait(Word(kA), 1).Wait(Word(kB), 1).Nodes({0}).Nodes({1}).Make(),
              {nullptr, nullptr, NoWork, Signal(kC, 1)}, {.has_signals = true});
  loop.AddCut(2, TableOf().Wait(Word(kC), 1).Nodes({0}).Make(), {nullptr, Signal(kA, 1)},
              {.has_signals = true});
  std::set<uint64_t> submitted = {loop.Submit(1), loop.Submit(2)};
  Write(kB, 1);
  const std::set<uint64_t> ended = {loop.Next().sequence, loop.Next().sequence};
  EXPECT_EQ(ended, submitted);
}

// Larger numbers than one read takes, and more than may be in flight.
TEST_F(WaitingLaunchTest, ManyWaitingLaunchesHoldNobodyUp) {
  LaunchLoopOptions options;
  options.max_in_flight = 1;
  TestLoop loop(context_, options);
  constexpr uint64_t kLaunches = 100;
  for (uint64_t id = 1; id <= kLaunches; ++id) {
    TableOf table;
    for (int wait = 0; wait < 8; ++wait) table.Wait(Word(0), 1);
    loop.AddCut(id, table.Make(), std::vector<LaunchFunction>(8));
    loop.Submit(id);
  }
  RunSignal(loop, 1000, 1, 1);
  loop.Add(1001, Signal(0, 1), {.has_signals = true});
  loop.Submit(1001);
  for (uint64_t i = 0; i <= kLaunches; ++i) EXPECT_EQ(loop.Next().code, absl::StatusCode::kOk);
}

TEST_F(WaitingLaunchTest, WhatNobodyWillSignalEndsWhenTheLoopStops) {
  TestLoop loop(context_);
  const auto graph =
      loop.AddCut(1, TableOf().Wait(Word(0), 1).Nodes({0}).Make(), {nullptr, NoWork});
  loop.Submit(1);
  RunSignal(loop, 2, 1, 1);
  loop.loop().Stop();
  EXPECT_EQ(loop.Join(), LaunchLoop::Outcome::kStopped);
  EXPECT_EQ(loop.Next().code, absl::StatusCode::kAborted);
  EXPECT_EQ(graph->Report()->status.code(), absl::StatusCode::kAborted);
}

TEST_F(WaitingLaunchTest, WhatALaunchInFlightSignalsGoesOnAlsoWhenTheLoopStops) {
  TestLoop loop(context_);
  Gate gate;
  loop.AddCut(1, TableOf().Wait(Word(0), 1).Nodes({0}).Make(), {nullptr, NoWork});
  loop.Add(2,
           [&](const cuda::StreamRef& stream) {
             EXPECT_OK(gate.Launch()(stream));
             return Signal(0, 1)(stream);
           },
           {.has_signals = true});
  loop.Submit(1);
  loop.Submit(2);
  gate.WaitUntilRunning();
  loop.loop().Stop();
  gate.Open();
  EXPECT_EQ(loop.Join(), LaunchLoop::Outcome::kStopped);
  EXPECT_EQ(loop.Next().code, absl::StatusCode::kOk);
  EXPECT_EQ(loop.Next().code, absl::StatusCode::kOk);
}

TEST_F(WaitingLaunchTest, ASegmentThatCannotBeAddedEndsTheLaunch) {
  TestLoop loop(context_);
  const auto graph = loop.AddCut(
      1, TableOf().Wait(Word(0), 1).Wait(Word(1), 1).Nodes({0}).Nodes({1}).Make(),
      {nullptr, nullptr,
       [](const cuda::StreamRef&) { return absl::ResourceExhaustedError("no room"); }, NoWork});
  loop.Submit(1);
  Write(0, 1);  // the other wait is never over
  EXPECT_EQ(loop.Next().code, absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(graph->Report()->status.message(), "no room");
  // Its waits are forgotten: it can be launched again.
  Write(0, 0);
  loop.Submit(1);
  RunSignal(loop, 2, 2, 1);
  Write(0, 1);
  EXPECT_EQ(loop.Next().code, absl::StatusCode::kResourceExhausted);
}

TEST_F(WaitingLaunchTest, ItsBuffersAreInUse) {
  TestLoop loop(context_);
  loop.AddCut(1, TableOf().Wait(Word(0), 1).Make(), {nullptr}, {.buffers = {words_->range()}});
  loop.Submit(1);
  RunSignal(loop, 2, 1, 1);
  EXPECT_EQ(loop.graphs().RetireUsersOf(words_->range()).code(),
            absl::StatusCode::kFailedPrecondition);
  Write(0, 1);
  EXPECT_EQ(loop.Next().code, absl::StatusCode::kOk);
  EXPECT_OK(loop.graphs().RetireUsersOf(words_->range()));
}

TEST_F(WaitingLaunchTest, ALossEndsItAndItIsNotToBlame) {
  ContextLoss told;
  LaunchLoopOptions options;
  options.on_context_lost = [&told](const ContextLoss& loss) { told = loss; };
  TestLoop loop(context_, options);
  loop.AddCut(1, TableOf().Wait(Word(0), 1).Make(), {nullptr},
              {.job = "waits", .kernel_nodes = {"k"}, .kernel_node_count = 1});
  loop.Submit(1);
  RunSignal(loop, 2, 1, 1);
  loop.loop().ReportContextLost(absl::InternalError("seen elsewhere"));
  EXPECT_EQ(loop.Join(), LaunchLoop::Outcome::kContextLost);
  EXPECT_EQ(told.graph, GraphId(0));
  const transport::Completion completion = loop.Next();
  EXPECT_EQ(completion.code, absl::StatusCode::kAborted);
  EXPECT_TRUE(completion.context_lost);
}

}  // namespace
}  // namespace weft::executor
