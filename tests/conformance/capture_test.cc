// Stream capture: what is put into a captured stream becomes a graph.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "cuda/graph.h"
#include "cuda/pitched.h"
#include "cuda/status.h"
#include "tests/conformance/conformance_test.h"

namespace weft::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOkAndHolds;

class CaptureConformance : public KernelTest {
 protected:
  void SetUp() override {
    KernelTest::SetUp();
    if (IsSkipped()) return;
    stream_.emplace(MakeStream());
    memory_.emplace(MakeBuffer());
  }
  void TearDown() override {
    memory_.reset();
    stream_.reset();
    KernelTest::TearDown();
  }

  CUresult Begin(const cuda::Stream& stream) {
    const cuda::ScopedContext current(context());
    return driver().cuStreamBeginCapture(stream.handle(), CU_STREAM_CAPTURE_MODE_RELAXED);
  }
  // Ends it; destroys the graph, if there is one.
  CUresult End(const cuda::Stream& stream) {
    const cuda::ScopedContext current(context());
    CUgraph graph = nullptr;
    const CUresult ended = driver().cuStreamEndCapture(stream.handle(), &graph);
    EXPECT_EQ(graph != nullptr, ended == CUDA_SUCCESS);
    if (graph != nullptr) driver().cuGraphDestroy(graph);
    return ended;
  }
  absl::Status RunGraph(const cuda::Graph& graph) const {
    WEFT_ASSIGN_OR_RETURN(cuda::GraphExec exec, graph.Instantiate());
    WEFT_RETURN_IF_ERROR(exec.Launch(stream_->ref()));
    return stream_->ref().Synchronize();
  }

  CUdeviceptr log() const { return memory_->address(1 << 20); }
  CUdeviceptr words() const { return memory_->address(); }

  std::optional<cuda::Stream> stream_;
  std::optional<DeviceBuffer> memory_;
};

TEST_F(CaptureConformance, WhatIsCapturedRunsWhenTheGraphIsLaunched) {
  ASSERT_OK_AND_ASSIGN(const cuda::Graph graph,
                       cuda::Graph::Capture(stream_->ref(), [&](const cuda::StreamRef& stream) {
                         for (uint32_t i = 1; i <= 3; ++i) {
                           WEFT_RETURN_IF_ERROR(Run(stream, "append", log(), i));
                         }
                         return absl::OkStatus();
                       }));
  ASSERT_OK(stream_->ref().Synchronize());
  EXPECT_THAT(ReadLog(log()), IsEmpty());
  ASSERT_OK(RunGraph(graph));
  EXPECT_THAT(ReadLog(log()), ElementsAre(1, 2, 3));
}

TEST_F(CaptureConformance, CopiesAndFillsAreCaptured) {
  ASSERT_OK_AND_ASSIGN(const cuda::Graph graph,
                       cuda::Graph::Capture(stream_->ref(), [&](const cuda::StreamRef& stream) {
                         WEFT_RETURN_IF_ERROR(FillAsync(stream, words(), {7, 4}, 2));
                         return CopyAsync(stream, words() + 8, words(), 4);
                       }));
  EXPECT_THAT(Read<uint32_t>(words(), 3), ElementsAre(0, 0, 0));
  ASSERT_OK(RunGraph(graph));
  EXPECT_THAT(Read<uint32_t>(words(), 3), ElementsAre(7, 7, 7));
}

TEST_F(CaptureConformance, BoxesAndRowsAreCaptured) {
  ASSERT_OK_AND_ASSIGN(
      const cuda::Graph graph,
      cuda::Graph::Capture(stream_->ref(), [&](const cuda::StreamRef& stream) {
        // The first of each two words; then these two words into the second of each.
        WEFT_RETURN_IF_ERROR(cuda::FillRowsAsync(stream, {words(), {7, 4}, 1, 2, 8}));
        return cuda::CopyBoxAsync(
            stream,
            {.destination = {words() + 4, 8}, .source = {words(), 8}, .width_bytes = 4, .rows = 2});
      }));
  EXPECT_THAT(Read<uint32_t>(words(), 5), ElementsAre(0, 0, 0, 0, 0));
  ASSERT_OK(RunGraph(graph));
  EXPECT_THAT(Read<uint32_t>(words(), 5), ElementsAre(7, 7, 7, 7, 0));
}

TEST_F(CaptureConformance, NothingCapturedIsAnEmptyGraph) {
  ASSERT_OK_AND_ASSIGN(const cuda::Graph graph,
                       cuda::Graph::Capture(stream_->ref(), [](const cuda::StreamRef&) {
                         return absl::OkStatus();
                       }));
  EXPECT_OK(RunGraph(graph));
}

TEST_F(CaptureConformance, ACapturedGraphIsAChildOfAnother) {
  ASSERT_OK_AND_ASSIGN(const cuda::Graph child,
                       cuda::Graph::Capture(stream_->ref(), [&](const cuda::StreamRef& stream) {
                         return Run(stream, "append", log(), uint32_t{2});
                       }));
  ASSERT_OK_AND_ASSIGN(cuda::Graph parent, cuda::Graph::Create(context()));
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef first, AddRun(parent, {}, "append", log(), uint32_t{1}));
  ASSERT_OK_AND_ASSIGN(const cuda::NodeRef second,
                       parent.AddChild(child, absl::MakeConstSpan(&first, 1)));
  ASSERT_OK(AddRun(parent, absl::MakeConstSpan(&second, 1), "append", log(), uint32_t{3}));
  ASSERT_OK(RunGraph(parent));
  EXPECT_THAT(ReadLog(log()), ElementsAre(1, 2, 3));
}

TEST_F(CaptureConformance, AForkedStreamIsJoinedBack) {
  const cuda::Stream other = MakeStream();
  const cuda::Event fork = cuda::Event::Create(context(), cuda::EventTiming::kDisabled).value();
  const cuda::Event join = cuda::Event::Create(context(), cuda::EventTiming::kDisabled).value();
  ASSERT_OK_AND_ASSIGN(const cuda::Graph graph,
                       cuda::Graph::Capture(stream_->ref(), [&](const cuda::StreamRef& stream) {
                         WEFT_RETURN_IF_ERROR(FillAsync(stream, words(), {5, 4}, 1));
                         WEFT_RETURN_IF_ERROR(stream.Record(fork.ref()));
                         WEFT_RETURN_IF_ERROR(other.ref().Wait(fork.ref()));
                         WEFT_RETURN_IF_ERROR(CopyAsync(other.ref(), words() + 4, words(), 4));
                         WEFT_RETURN_IF_ERROR(other.ref().Record(join.ref()));
                         WEFT_RETURN_IF_ERROR(stream.Wait(join.ref()));
                         return CopyAsync(stream, words() + 8, words() + 4, 4);
                       }));
  ASSERT_OK(RunGraph(graph));
  EXPECT_THAT(Read<uint32_t>(words(), 3), ElementsAre(5, 5, 5));
  // Both streams run what they are given again.
  ASSERT_OK(FillAsync(other.ref(), words(), {9, 4}, 1));
  ASSERT_OK(other.ref().Synchronize());
  EXPECT_EQ(ReadOne<uint32_t>(words()), 9u);
}

TEST_F(CaptureConformance, AForkThatIsNotJoinedIsAnError) {
  const cuda::Stream other = MakeStream();
  const cuda::Event fork = cuda::Event::Create(context(), cuda::EventTiming::kDisabled).value();
  ASSERT_EQ(Begin(*stream_), CUDA_SUCCESS);
  EXPECT_OK(FillAsync(stream_->ref(), words(), {5, 4}, 1));
  EXPECT_OK(stream_->ref().Record(fork.ref()));
  EXPECT_OK(other.ref().Wait(fork.ref()));
  EXPECT_OK(FillAsync(other.ref(), words(), {6, 4}, 1));
  EXPECT_EQ(End(*stream_), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_OK(stream_->ref().Synchronize());
  EXPECT_OK(other.ref().Synchronize());
}

TEST_F(CaptureConformance, WaitingForACapturedStreamSpoilsTheCapture) {
  ASSERT_EQ(Begin(*stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuda::ResultOf(stream_->ref().Synchronize()), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(End(*stream_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_OK(stream_->ref().Synchronize());
}

TEST_F(CaptureConformance, AnEventOfAnotherStreamIsNotWaitedForInACapture) {
  const cuda::Stream other = MakeStream();
  const cuda::Event event = cuda::Event::Create(context(), cuda::EventTiming::kDisabled).value();
  ASSERT_OK(other.ref().Record(event.ref()));
  ASSERT_EQ(Begin(*stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuda::ResultOf(stream_->ref().Wait(event.ref())), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  EXPECT_EQ(End(*stream_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(CaptureConformance, ACapturedEventCannotBeWaitedForByTheHost) {
  const cuda::Event event = cuda::Event::Create(context(), cuda::EventTiming::kDisabled).value();
  ASSERT_EQ(Begin(*stream_), CUDA_SUCCESS);
  EXPECT_OK(stream_->ref().Record(event.ref()));
  EXPECT_EQ(cuda::ResultOf(event.ref().Query().status()), CUDA_ERROR_CAPTURED_EVENT);
  End(*stream_);
}

TEST_F(CaptureConformance, ACaptureBeginsAndEndsOnce) {
  EXPECT_EQ(End(*stream_), CUDA_ERROR_ILLEGAL_STATE);
  ASSERT_EQ(Begin(*stream_), CUDA_SUCCESS);
  EXPECT_EQ(Begin(*stream_), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(End(*stream_), CUDA_SUCCESS);
}

TEST_F(CaptureConformance, TheRecordersErrorEndsTheCapture) {
  const absl::StatusOr<cuda::Graph> graph = cuda::Graph::Capture(
      stream_->ref(),
      [](const cuda::StreamRef&) { return absl::InternalError("the recorder's own"); });
  EXPECT_EQ(graph.status().message(), "the recorder's own");
  EXPECT_OK(stream_->ref().Synchronize());
}

}  // namespace
}  // namespace weft::conformance
