// Streams, events, waits on values, host functions.

#include "cuda/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "cuda/status.h"
#include "tests/conformance/conformance_test.h"

namespace weft::conformance {
namespace {

using ::testing::ElementsAre;
using testing::IsOk;
using testing::IsOkAndHolds;
using ::testing::Not;

class StreamConformance : public ConformanceTest {
 protected:
  cuda::Event MakeEvent(cuda::EventTiming timing = cuda::EventTiming::kDisabled) const {
    return cuda::Event::Create(context(), timing).value();
  }
  // Writes `value` to the word at `address`, in stream order.
  static absl::Status Set(const cuda::Stream& stream, CUdeviceptr address, uint32_t value) {
    return FillAsync(stream.ref(), address, {.value = value, .element_size = 4}, 1);
  }
  // Copies the word at `from` to `to`, in stream order.
  static absl::Status Copy(const cuda::Stream& stream, CUdeviceptr to, CUdeviceptr from) {
    return CopyAsync(stream.ref(), to, from, sizeof(uint32_t));
  }
};

TEST_F(StreamConformance, IdleStreamAnswersIdle) {
  const cuda::Stream stream = MakeStream();
  EXPECT_THAT(stream.ref().Query(), IsOkAndHolds(true));
  EXPECT_OK(stream.ref().Synchronize());
}

TEST_F(StreamConformance, QueryTellsBusyUntilTheWorkIsDone) {
  const cuda::Stream stream = MakeStream();
  Gate gate(context());
  ASSERT_OK(gate.Hold(stream.ref()));
  EXPECT_THAT(stream.ref().Query(), IsOkAndHolds(false));
  gate.Open();
  EXPECT_OK(stream.ref().Synchronize());
  EXPECT_THAT(stream.ref().Query(), IsOkAndHolds(true));
}

TEST_F(StreamConformance, WorkOfAStreamRunsInOrder) {
  const DeviceBuffer words = MakeBuffer();
  const cuda::Stream stream = MakeStream();
  constexpr uint32_t kSteps = 500;
  for (uint32_t i = 0; i < kSteps; ++i) {
    ASSERT_OK(Set(stream, words.address(), i));
    ASSERT_OK(Copy(stream, words.address(4 + i * 4), words.address()));
  }
  ASSERT_OK(stream.ref().Synchronize());
  const auto copied = Read<uint32_t>(words.address(4), kSteps);
  for (uint32_t i = 0; i < kSteps; ++i) ASSERT_EQ(copied[i], i);
}

TEST_F(StreamConformance, WaitOrdersAcrossStreams) {
  const DeviceBuffer words = MakeBuffer();
  const cuda::Stream first = MakeStream();
  const cuda::Stream second = MakeStream();
  const cuda::Event event = MakeEvent();
  Gate gate(context());
  ASSERT_OK(gate.Hold(first.ref()));
  ASSERT_OK(Set(first, words.address(), 7));
  ASSERT_OK(first.ref().Record(event.ref()));
  ASSERT_OK(second.ref().Wait(event.ref()));
  ASSERT_OK(Copy(second, words.address(4), words.address()));
  EXPECT_THAT(second.ref().Query(), IsOkAndHolds(false));
  gate.Open();
  ASSERT_OK(second.ref().Synchronize());
  EXPECT_EQ(ReadOne<uint32_t>(words.address(4)), 7u);
}

TEST_F(StreamConformance, WaitForAnUnrecordedEventPasses) {
  const cuda::Stream stream = MakeStream();
  const cuda::Event event = MakeEvent();
  ASSERT_OK(stream.ref().Wait(event.ref()));
  EXPECT_OK(stream.ref().Synchronize());
}

TEST_F(StreamConformance, WaitTakesTheMarkOfItsOwnTime) {
  const cuda::Stream held = MakeStream();
  const cuda::Stream waiting = MakeStream();
  const cuda::Event event = MakeEvent();
  ASSERT_OK(held.ref().Record(event.ref()));
  ASSERT_OK(held.ref().Synchronize());
  ASSERT_OK(waiting.ref().Wait(event.ref()));  // the mark that is already passed
  Gate gate(context());
  ASSERT_OK(gate.Hold(held.ref()));
  ASSERT_OK(held.ref().Record(event.ref()));
  EXPECT_OK(waiting.ref().Synchronize());  // not held back by the newer mark
  EXPECT_THAT(event.ref().Query(), IsOkAndHolds(false));
}

TEST_F(StreamConformance, EventTellsUnrecordedPendingAndDone) {
  const cuda::Stream stream = MakeStream();
  const cuda::Event event = MakeEvent();
  EXPECT_THAT(event.ref().Query(), IsOkAndHolds(true));
  EXPECT_OK(event.ref().Synchronize());
  Gate gate(context());
  ASSERT_OK(gate.Hold(stream.ref()));
  ASSERT_OK(stream.ref().Record(event.ref()));
  EXPECT_THAT(event.ref().Query(), IsOkAndHolds(false));
  gate.Open();
  EXPECT_OK(event.ref().Synchronize());
  EXPECT_THAT(event.ref().Query(), IsOkAndHolds(true));
}

TEST_F(StreamConformance, EventMayEndBeforeItsMarkIsPassed) {
  const DeviceBuffer words = MakeBuffer();
  const cuda::Stream first = MakeStream();
  const cuda::Stream second = MakeStream();
  Gate gate(context());
  ASSERT_OK(gate.Hold(first.ref()));
  ASSERT_OK(Set(first, words.address(), 5));
  {
    const cuda::Event event = MakeEvent();
    ASSERT_OK(first.ref().Record(event.ref()));
    ASSERT_OK(second.ref().Wait(event.ref()));
  }
  ASSERT_OK(Copy(second, words.address(4), words.address()));
  gate.Open();
  ASSERT_OK(second.ref().Synchronize());
  EXPECT_EQ(ReadOne<uint32_t>(words.address(4)), 5u);
}

TEST_F(StreamConformance, SynchronizeBlocksAnotherThread) {
  const cuda::Stream stream = MakeStream();
  PinnedPage page(context());
  Gate gate(context());
  ASSERT_OK(gate.Hold(stream.ref()));
  ASSERT_OK(stream.ref().WriteValue64(page.address(), 9));
  uint64_t seen = 0;
  absl::Status status;
  std::thread waiter([&] {
    status = stream.ref().Synchronize();
    seen = page.words()[0];
  });
  gate.Open();
  waiter.join();
  EXPECT_OK(status);
  EXPECT_EQ(seen, 9u);
}

TEST_F(StreamConformance, WrittenValueIsSeenByTheHost) {
  const cuda::Stream stream = MakeStream();
  PinnedPage page(context());
  const std::atomic_ref<uint64_t> word(page.words()[1]);
  ASSERT_OK(stream.ref().WriteValue64(page.address() + 8, 0x1122334455667788));
  while (word.load(std::memory_order_acquire) == 0) std::this_thread::yield();
  EXPECT_EQ(word.load(), 0x1122334455667788u);
}

TEST_F(StreamConformance, ValueInDeviceMemoryOrdersStreams) {
  const DeviceBuffer words = MakeBuffer();
  const cuda::Stream waiting = MakeStream();
  const cuda::Stream writing = MakeStream();
  ASSERT_OK(waiting.ref().WaitValue64(words.address(), 3, cuda::WaitCondition::kGreaterOrEqual));
  ASSERT_OK(Copy(waiting, words.address(16), words.address(8)));
  ASSERT_OK(writing.ref().WriteValue64(words.address(), 2));
  ASSERT_OK(Set(writing, words.address(8), 77));
  ASSERT_OK(writing.ref().Synchronize());
  EXPECT_THAT(waiting.ref().Query(), IsOkAndHolds(false));
  ASSERT_OK(writing.ref().WriteValue64(words.address(), 5));
  ASSERT_OK(waiting.ref().Synchronize());
  EXPECT_EQ(ReadOne<uint32_t>(words.address(16)), 77u);
}

TEST_F(StreamConformance, WaitForAnEqualValueIgnoresOthers) {
  const DeviceBuffer words = MakeBuffer();
  const cuda::Stream waiting = MakeStream();
  const cuda::Stream writing = MakeStream();
  ASSERT_OK(waiting.ref().WaitValue64(words.address(), 3, cuda::WaitCondition::kEqual));
  ASSERT_OK(writing.ref().WriteValue64(words.address(), 5));
  ASSERT_OK(writing.ref().Synchronize());
  EXPECT_THAT(waiting.ref().Query(), IsOkAndHolds(false));
  ASSERT_OK(writing.ref().WriteValue64(words.address(), 3));
  EXPECT_OK(waiting.ref().Synchronize());
}

TEST_F(StreamConformance, ComparisonOfValuesIsCyclic) {
  const DeviceBuffer words = MakeBuffer();
  const cuda::Stream stream = MakeStream();
  ASSERT_OK(Write(words.address(), std::vector<uint64_t>{1}));
  // 1 lies behind 2^64 - 1 on the circle, so the wait passes.
  ASSERT_OK(stream.ref().WaitValue64(words.address(), ~uint64_t{0},
                                     cuda::WaitCondition::kGreaterOrEqual));
  EXPECT_OK(stream.ref().Synchronize());
}

TEST_F(StreamConformance, MisalignedValueIsRefused) {
  const DeviceBuffer words = MakeBuffer();
  const cuda::Stream stream = MakeStream();
  EXPECT_THAT(stream.ref().WriteValue64(words.address(4), 1), Not(IsOk()));
}

TEST_F(StreamConformance, HostFunctionRunsBetweenItsNeighbours) {
  const cuda::Stream stream = MakeStream();
  const DeviceBuffer words = MakeBuffer();
  PinnedPage page(context());
  ASSERT_OK(stream.ref().WriteValue64(page.address(), 20));
  ASSERT_OK(stream.ref().LaunchHostFunc([](void* word) { *static_cast<uint64_t*>(word) += 1; },
                                        page.words()));
  ASSERT_OK(CopyAsync(stream.ref(), words.address(), page.address(), sizeof(uint64_t)));
  ASSERT_OK(stream.ref().Synchronize());
  EXPECT_EQ(ReadOne<uint64_t>(words.address()), 21u);
}

TEST_F(StreamConformance, PrioritiesAreARangeAndAreTaken) {
  ASSERT_OK_AND_ASSIGN(const cuda::PriorityRange range, cuda::StreamPriorityRange(context()));
  EXPECT_LE(range.greatest, range.least);
  for (const int priority : {range.least, range.greatest, range.greatest - 100}) {
    ASSERT_OK_AND_ASSIGN(const cuda::Stream stream,
                         cuda::Stream::Create(context(), {.priority = priority}));
    EXPECT_OK(stream.ref().Synchronize());
  }
}

TEST_F(StreamConformance, ManyStreamsWorkSideBySide) {
  constexpr uint32_t kStreams = 64;
  const DeviceBuffer words = MakeBuffer();
  std::vector<cuda::Stream> streams;
  for (uint32_t i = 0; i < kStreams; ++i) streams.push_back(MakeStream());
  for (uint32_t i = 0; i < kStreams; ++i) ASSERT_OK(Set(streams[i], words.address(i * 4), i + 1));
  ASSERT_OK(context().Synchronize());
  const auto seen = Read<uint32_t>(words.address(), kStreams);
  for (uint32_t i = 0; i < kStreams; ++i) EXPECT_EQ(seen[i], i + 1);
}

TEST_F(StreamConformance, EventWithoutTimingTellsNoTime) {
  const cuda::Stream stream = MakeStream();
  const cuda::Event start = MakeEvent();
  const cuda::Event end = MakeEvent();
  ASSERT_OK(stream.ref().Record(start.ref()));
  ASSERT_OK(stream.ref().Record(end.ref()));
  ASSERT_OK(stream.ref().Synchronize());
  EXPECT_THAT(cuda::ElapsedNs(start.ref(), end.ref()), Not(IsOk()));
}

TEST_F(StreamConformance, TimeNeedsRecordedAndPassedEvents) {
  const cuda::Stream stream = MakeStream();
  const cuda::Event start = MakeEvent(cuda::EventTiming::kEnabled);
  const cuda::Event end = MakeEvent(cuda::EventTiming::kEnabled);
  EXPECT_THAT(cuda::ElapsedNs(start.ref(), end.ref()), Not(IsOk()));
  Gate gate(context());
  ASSERT_OK(stream.ref().Record(start.ref()));
  ASSERT_OK(gate.Hold(stream.ref()));
  ASSERT_OK(stream.ref().Record(end.ref()));
  const auto pending = cuda::ElapsedNs(start.ref(), end.ref());
  EXPECT_EQ(cuda::ResultOf(pending.status()), CUDA_ERROR_NOT_READY);
}

class StreamKernelConformance : public KernelTest {};

TEST_F(StreamKernelConformance, ElapsedTimeCoversTheWork) {
  constexpr uint64_t kBusyNs = 5'000'000;
  const cuda::Stream stream = MakeStream();
  ASSERT_OK_AND_ASSIGN(const cuda::Event start,
                       cuda::Event::Create(context(), cuda::EventTiming::kEnabled));
  ASSERT_OK_AND_ASSIGN(const cuda::Event end,
                       cuda::Event::Create(context(), cuda::EventTiming::kEnabled));
  ASSERT_OK(stream.ref().Record(start.ref()));
  ASSERT_OK(Run(stream.ref(), "spin", kBusyNs));
  ASSERT_OK(stream.ref().Record(end.ref()));
  ASSERT_OK(stream.ref().Synchronize());
  ASSERT_OK_AND_ASSIGN(const int64_t elapsed_ns, cuda::ElapsedNs(start.ref(), end.ref()));
  EXPECT_GE(elapsed_ns, static_cast<int64_t>(kBusyNs * 9 / 10));
}

// Each kernel waits until it sees the other one running.
TEST_F(StreamKernelConformance, TwoStreamsRunAtTheSameTime) {
  const DeviceBuffer here = MakeBuffer();
  const DeviceBuffer met = MakeBuffer();
  const cuda::Stream first = MakeStream();
  const cuda::Stream second = MakeStream();
  ASSERT_OK(Run(first.ref(), "rendezvous", here.address(), uint32_t{0}, uint32_t{1}, kMeetTimeoutNs,
                met.address()));
  ASSERT_OK(Run(second.ref(), "rendezvous", here.address(), uint32_t{1}, uint32_t{0},
                kMeetTimeoutNs, met.address()));
  ASSERT_OK(context().Synchronize());
  EXPECT_THAT(Read<uint32_t>(met.address(), 2), ElementsAre(1, 1));
}

TEST_F(StreamKernelConformance, DestroyedStreamFinishesItsWork) {
  const DeviceBuffer log = MakeBuffer();
  {
    const cuda::Stream stream = MakeStream();
    ASSERT_OK(Run(stream.ref(), "spin", uint64_t{5'000'000}));
    ASSERT_OK(Run(stream.ref(), "append", log.address(), uint32_t{4}));
  }
  ASSERT_OK(context().Synchronize());
  EXPECT_THAT(ReadLog(log.address()), ElementsAre(4));
}

}  // namespace
}  // namespace weft::conformance
