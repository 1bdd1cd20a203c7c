#include "cuda/host/stream_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "cuda/host/value_waits.h"
#include "tests/unit/cuda_host/test_device.h"

namespace weft::hostcuda {
namespace {

TEST(StreamQueueTest, WorkRunsInOrder) {
  TestDevice device;
  const auto stream = device.NonBlockingStream();
  std::vector<int> order;  // written by one operation after the other
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(Submit(stream, Do([&order, i] { order.push_back(i); })), CUDA_SUCCESS);
  }
  stream->Synchronize();
  ASSERT_EQ(order.size(), 1000u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(StreamQueueTest, TwoStreamsRunAtTheSameTime) {
  TestDevice device(2);
  Rendezvous both(2);
  const auto first = device.NonBlockingStream();
  const auto second = device.NonBlockingStream();
  ASSERT_EQ(Submit(first, Do([&both] { both.Meet(); })), CUDA_SUCCESS);
  ASSERT_EQ(Submit(second, Do([&both] { both.Meet(); })), CUDA_SUCCESS);
  EXPECT_EQ(device.context->Synchronize(), CUDA_SUCCESS);
}

TEST(StreamQueueTest, WaitingStreamsNeedNoWorker) {
  TestDevice device(1);
  const auto last = device.NonBlockingStream();
  auto started = std::make_shared<Completion>();
  std::vector<int> order;
  // Eight streams wait in a chain, the first one for the stream that is submitted last.
  std::shared_ptr<Completion> before = started;
  for (int i = 0; i < 8; ++i) {
    const auto stream = device.NonBlockingStream();
    ASSERT_EQ(Await(stream, before), CUDA_SUCCESS);
    ASSERT_EQ(Submit(stream, Do([&order, i] { order.push_back(i); })), CUDA_SUCCESS);
    before = Record(stream);
  }
  ASSERT_EQ(device.context->Submit(last, std::make_unique<SignalOperation>(started)), CUDA_SUCCESS);
  EXPECT_EQ(device.context->Synchronize(), CUDA_SUCCESS);
  EXPECT_THAT(order, ::testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(StreamQueueTest, StreamsPingPongThroughEventsWithOneWorker) {
  TestDevice device(1);
  const auto ping = device.NonBlockingStream();
  const auto pong = device.NonBlockingStream();
  int count = 0;
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(Submit(ping, Do([&count, i] { EXPECT_EQ(count++, 2 * i); })), CUDA_SUCCESS);
    ASSERT_EQ(Await(pong, Record(ping)), CUDA_SUCCESS);
    ASSERT_EQ(Submit(pong, Do([&count, i] { EXPECT_EQ(count++, 2 * i + 1); })), CUDA_SUCCESS);
    ASSERT_EQ(Await(ping, Record(pong)), CUDA_SUCCESS);
  }
  EXPECT_EQ(device.context->Synchronize(), CUDA_SUCCESS);
  EXPECT_EQ(count, 400);
}

TEST(StreamQueueTest, UrgentStreamGoesFirst) {
  TestDevice device(1);
  Gate gate;
  const auto busy = device.NonBlockingStream();
  const auto normal = device.NonBlockingStream();
  const auto urgent = device.context->CreateStream(Stream::Kind::kNonBlocking, -5);
  std::vector<int> order;
  ASSERT_EQ(Submit(busy, Do([&gate] { gate.Pass(); })), CUDA_SUCCESS);
  ASSERT_EQ(Submit(normal, Do([&order] { order.push_back(2); })), CUDA_SUCCESS);
  ASSERT_EQ(Submit(urgent, Do([&order] { order.push_back(1); })), CUDA_SUCCESS);
  gate.Open();
  EXPECT_EQ(device.context->Synchronize(), CUDA_SUCCESS);
  EXPECT_THAT(order, ::testing::ElementsAre(1, 2));
}

TEST(StreamQueueTest, LegacyStreamWaitsForBlockingStreamsAndTheyForIt) {
  TestDevice device;
  Gate gate;
  const auto blocking = device.context->CreateStream(Stream::Kind::kBlocking, 0);
  std::vector<int> order;
  ASSERT_EQ(Submit(blocking, Do([&] {
                     gate.Pass();
                     order.push_back(1);
                   })),
            CUDA_SUCCESS);
  ASSERT_EQ(Submit(device.context->legacy_stream(), Do([&order] { order.push_back(2); })),
            CUDA_SUCCESS);
  ASSERT_EQ(Submit(blocking, Do([&order] { order.push_back(3); })), CUDA_SUCCESS);
  gate.Open();
  EXPECT_EQ(device.context->Synchronize(), CUDA_SUCCESS);
  EXPECT_THAT(order, ::testing::ElementsAre(1, 2, 3));
}

TEST(StreamQueueTest, LegacyStreamDoesNotWaitForNonBlockingStreams) {
  TestDevice device;
  Gate gate;
  const auto other = device.NonBlockingStream();
  ASSERT_EQ(Submit(other, Do([&gate] { gate.Pass(); })), CUDA_SUCCESS);
  ASSERT_EQ(Submit(device.context->legacy_stream(), Do([&gate] { gate.Open(); })), CUDA_SUCCESS);
  EXPECT_EQ(device.context->Synchronize(), CUDA_SUCCESS);
}

TEST(StreamQueueTest, RetiredStreamFinishesItsWork) {
  TestDevice device;
  Gate gate;
  std::atomic<bool> ran{false};
  auto stream = device.NonBlockingStream();
  ASSERT_EQ(Submit(stream, Do([&] {
                     gate.Pass();
                     ran = true;
                   })),
            CUDA_SUCCESS);
  device.context->Retire(stream);
  stream.reset();
  gate.Open();
  EXPECT_EQ(device.context->Synchronize(), CUDA_SUCCESS);
  EXPECT_TRUE(ran);
}

TEST(StreamQueueTest, FaultEndsAllWaitingWork) {
  TestDevice device(1);
  std::atomic<bool> ran{false};
  auto never = std::make_shared<Completion>();
  const auto waiting = device.NonBlockingStream();
  const auto failing = device.NonBlockingStream();
  ASSERT_EQ(Await(waiting, never), CUDA_SUCCESS);
  ASSERT_EQ(Submit(waiting, Do([&ran] { ran = true; })), CUDA_SUCCESS);
  const auto record = Record(waiting);
  ASSERT_EQ(Submit(failing, FailWith(CUDA_ERROR_ILLEGAL_ADDRESS)), CUDA_SUCCESS);
  ASSERT_EQ(Submit(failing, Do([&ran] { ran = true; })), CUDA_SUCCESS);
  EXPECT_EQ(device.context->Synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  record->Wait();
  EXPECT_FALSE(ran);
}

TEST(StreamQueueTest, FirstFaultStays) {
  TestDevice device;
  device.context->Fail(CUDA_ERROR_LAUNCH_FAILED);
  device.context->Fail(CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(device.context->fault(), CUDA_ERROR_LAUNCH_FAILED);
}

TEST(StreamQueueTest, EndlessWorkHoldsItsStreamOnly) {
  TestDevice device(1);
  const auto hung = device.NonBlockingStream();
  const auto other = device.NonBlockingStream();
  ASSERT_EQ(Submit(hung, NeverEnd()), CUDA_SUCCESS);
  ASSERT_EQ(Submit(other, Do([] {})), CUDA_SUCCESS);
  other->Synchronize();
  EXPECT_FALSE(hung->Idle());
  device.context->Fail(CUDA_ERROR_LAUNCH_TIMEOUT);  // else nothing would ever end it
  hung->Synchronize();
  EXPECT_TRUE(hung->Idle());
}

TEST(StreamQueueTest, NothingIsTakenAfterShutdown) {
  TestDevice device;
  const auto stream = device.NonBlockingStream();
  device.context->Shutdown();
  EXPECT_EQ(Submit(stream, Do([] {})), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

// A word of host memory that streams may wait for.
class ValueWaitTest : public ::testing::Test {
 protected:
  ValueWaitTest() {
    Region region;
    region.base = address();
    region.size = sizeof(word_);
    region.kind = RegionKind::kHostRegistered;
    device_.regions.Insert(region);
  }
  uint64_t address() const { return reinterpret_cast<uint64_t>(&word_); }
  CUresult Wait(const std::shared_ptr<Stream>& stream, uint64_t value, unsigned int flags) {
    return device_.context->Submit(
        stream, std::make_unique<ValueWaitOperation>(ValueCondition{address(), value, flags}));
  }
  void Store(uint64_t value) { __atomic_store_n(&word_, value, __ATOMIC_RELEASE); }

  alignas(8) uint64_t word_ = 0;
  TestDevice device_{1};
};

TEST_F(ValueWaitTest, EndsWhenSomeThreadWritesTheWord) {
  const auto stream = device_.NonBlockingStream();
  ASSERT_EQ(Wait(stream, 5, CU_STREAM_WAIT_VALUE_GEQ), CUDA_SUCCESS);
  std::thread writer([this] { Store(5); });
  stream->Synchronize();
  writer.join();
  EXPECT_EQ(device_.context->fault(), CUDA_SUCCESS);
}

TEST_F(ValueWaitTest, EndsWhenAnotherStreamWritesTheWordWithOneWorker) {
  const auto stream = device_.NonBlockingStream();
  const auto other = device_.NonBlockingStream();
  ASSERT_EQ(Wait(stream, 7, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
  ASSERT_EQ(Submit(other, Do([this] { Store(7); })), CUDA_SUCCESS);
  EXPECT_EQ(device_.context->Synchronize(), CUDA_SUCCESS);
}

TEST_F(ValueWaitTest, WordThatIsUnmappedIsAFault) {
  const auto stream = device_.NonBlockingStream();
  ASSERT_EQ(Wait(stream, 5, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
  ASSERT_TRUE(device_.regions.Remove(address(), RegionKind::kHostRegistered).has_value());
  EXPECT_EQ(device_.context->Synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(ValueConditionTest, ComparesAsTheApiSays) {
  const auto holds = [](unsigned int flags, uint64_t word, uint64_t value) {
    return ValueCondition{0, value, flags}.HoldsFor(word);
  };
  EXPECT_TRUE(holds(CU_STREAM_WAIT_VALUE_GEQ, 5, 5));
  EXPECT_FALSE(holds(CU_STREAM_WAIT_VALUE_GEQ, 4, 5));
  EXPECT_TRUE(holds(CU_STREAM_WAIT_VALUE_GEQ, 2, ~uint64_t{0}));  // cyclic
  EXPECT_TRUE(holds(CU_STREAM_WAIT_VALUE_EQ, 5, 5));
  EXPECT_FALSE(holds(CU_STREAM_WAIT_VALUE_EQ, 6, 5));
  EXPECT_TRUE(holds(CU_STREAM_WAIT_VALUE_AND, 6, 2));
  EXPECT_FALSE(holds(CU_STREAM_WAIT_VALUE_AND, 4, 2));
  EXPECT_TRUE(holds(CU_STREAM_WAIT_VALUE_NOR, 1, 2));
  EXPECT_FALSE(holds(CU_STREAM_WAIT_VALUE_NOR, ~uint64_t{0}, 0));
}

TEST(StreamQueueTest, ALaunchWithAPriorityKeepsItsPlaceInTheStream) {
  TestDevice device(2);
  const auto stream = device.NonBlockingStream();
  std::vector<int> order;
  for (int i = 0; i < 200; ++i) {
    auto action = Do([&order, i] { order.push_back(i); });
    ASSERT_EQ(device.context->Submit(
                  stream, std::make_unique<PrioritizedOperation>(-(i % 6), std::move(action))),
              CUDA_SUCCESS);
  }
  stream->Synchronize();
  EXPECT_EQ(order.size(), 200u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(StreamQueueTest, ALaunchWithAPriorityThatNeverEndsIsCancelledByAFault) {
  TestDevice device(2);
  const auto stream = device.NonBlockingStream();
  const auto other = device.NonBlockingStream();
  ASSERT_EQ(device.context->Submit(stream, std::make_unique<PrioritizedOperation>(-1, NeverEnd())),
            CUDA_SUCCESS);
  ASSERT_EQ(Submit(other, FailWith(CUDA_ERROR_ILLEGAL_ADDRESS)), CUDA_SUCCESS);
  EXPECT_EQ(device.context->Synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

}  // namespace
}  // namespace weft::hostcuda
