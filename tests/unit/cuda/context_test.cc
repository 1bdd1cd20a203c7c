#include "cuda/context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda/status.h"
#include "cuda/stream.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/cuda/fake_driver.h"

namespace weft::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOkAndHolds;
using testing::StatusIs;

TEST(ScopedContextTest, MakesTheContextCurrentAndTakesItAway) {
  FakeDriver fake;
  const Context context = fake.MakeContext();
  {
    const ScopedContext current(context);
    EXPECT_OK(current.status());
    EXPECT_THAT(fake.context_stack, ElementsAre(context.handle()));
  }
  EXPECT_THAT(fake.context_stack, IsEmpty());
}

TEST(ScopedContextTest, InnerGuardOfTheSameContextDoesNotPush) {
  FakeDriver fake;
  const Context context = fake.MakeContext();
  const ScopedContext outer(context);
  {
    const ScopedContext inner(context);
    EXPECT_THAT(fake.context_stack, ElementsAre(context.handle()));
  }
  EXPECT_THAT(fake.context_stack, ElementsAre(context.handle()));
  EXPECT_EQ(fake.calls("cuCtxPushCurrent"), 1);
}

TEST(ScopedContextTest, AnotherContextIsRestored) {
  FakeDriver fake;
  const Context first = fake.MakeContext();
  const Context second = fake.MakeContext();
  const ScopedContext outer(first);
  {
    const ScopedContext inner(second);
    EXPECT_THAT(fake.context_stack, ElementsAre(first.handle(), second.handle()));
  }
  EXPECT_THAT(fake.context_stack, ElementsAre(first.handle()));
}

TEST(ScopedContextTest, FailedPushPopsNothing) {
  FakeDriver fake;
  const Context context = fake.MakeContext();
  fake.Fail("cuCtxPushCurrent", CUDA_ERROR_INVALID_CONTEXT);
  {
    const ScopedContext current(context);
    EXPECT_EQ(ResultOf(current.status()), CUDA_ERROR_INVALID_CONTEXT);
  }
  EXPECT_EQ(fake.calls("cuCtxPopCurrent"), 0);
}

TEST(ScopedContextTest, MovingTheContextLeavesItsHandlesUsable) {
  FakeDriver fake;
  Context context = fake.MakeContext();
  ASSERT_OK_AND_ASSIGN(const Stream stream, Stream::Create(context, {}));
  const Context moved = std::move(context);
  EXPECT_OK(stream.ref().Query());
  EXPECT_TRUE(moved.valid());
}

TEST(StreamTest, QueryTellsIdleBusyAndBroken) {
  FakeDriver fake;
  const Context context = fake.MakeContext();
  ASSERT_OK_AND_ASSIGN(const Stream stream, Stream::Create(context, {}));
  EXPECT_THAT(stream.ref().Query(), IsOkAndHolds(true));
  fake.Fail("cuStreamQuery", CUDA_ERROR_NOT_READY);
  EXPECT_THAT(stream.ref().Query(), IsOkAndHolds(false));
  fake.Fail("cuStreamQuery", CUDA_ERROR_ILLEGAL_ADDRESS);
  const auto broken = stream.ref().Query();
  EXPECT_TRUE(IsContextFatal(broken.status()));
}

TEST(EventTest, QueryTellsDoneAndPending) {
  FakeDriver fake;
  const Context context = fake.MakeContext();
  ASSERT_OK_AND_ASSIGN(const Event event, Event::Create(context, EventTiming::kDisabled));
  EXPECT_THAT(event.ref().Query(), IsOkAndHolds(true));
  fake.Fail("cuEventQuery", CUDA_ERROR_NOT_READY);
  EXPECT_THAT(event.ref().Query(), IsOkAndHolds(false));
}

TEST(EventTest, ElapsedTimeIsInNanoseconds) {
  FakeDriver fake;
  const Context context = fake.MakeContext();
  ASSERT_OK_AND_ASSIGN(const Event start, Event::Create(context, EventTiming::kEnabled));
  ASSERT_OK_AND_ASSIGN(const Event end, Event::Create(context, EventTiming::kEnabled));
  fake.table().cuEventElapsedTime = [](float* milliseconds, CUevent, CUevent) {
    *milliseconds = 1.5F;
    return CUDA_SUCCESS;
  };
  EXPECT_THAT(ElapsedNs(start.ref(), end.ref()), IsOkAndHolds(1500000));
}

}  // namespace
}  // namespace weft::cuda
