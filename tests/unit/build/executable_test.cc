#include "graph/build/executable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "graph/build/executable_cache.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/build/test_device.h"
#include "tests/unit/build/test_graph.h"

namespace weft::build {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsNull;
using testing::IsOkAndHolds;
using ::testing::NotNull;
using testing::StatusIs;

class ExecutableTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(device_, TestDevice::Create()); }

  std::unique_ptr<Executable> Make(TestGraph& graph, const Bindings& bindings) {
    auto executable = Executable::Create(device_->Input(graph, bindings));
    EXPECT_OK(executable);
    return executable.ok() ? *std::move(executable) : nullptr;
  }

  void LaunchAndWait(Executable& executable) {
    ASSERT_OK(executable.Launch(device_->stream()));
    ASSERT_OK(device_->stream().Synchronize());
  }

  // Nodes that set x to `value` (and copy it to y), `extra` idle ones behind them.
  static TestGraph SetAndCopy(int32_t value, int extra = 0) {
    TestGraph graph;
    const BufferIndex x = graph.Shared(1);
    const BufferIndex y = graph.Shared(1);
    graph.Kernel("affine", x, 0, value, 0);
    graph.Copy(x, y, 0);
    graph.Fill(y, 0, 4, 0);
    graph.Copy(x, y, 0);
    for (int i = 0; i < extra; ++i) graph.Empty(0);
    return graph;
  }

  std::unique_ptr<TestDevice> device_;
};

TEST_F(ExecutableTest, LaterOnesLeaveEarlierOnesTheirSharedMemory) {
  for (const uint32_t kib : {64, 50, 96}) {
    TestGraph graph;
    graph.SetSharedBytes(graph.Kernel("affine", graph.Shared(1), 1, 1, 0), kib * 1024);
    ASSERT_THAT(Make(graph, device_->Bind(graph)), NotNull());
    ASSERT_OK_AND_ASSIGN(const cuda::Function function, device_->resolver().Resolve("affine"));
    ASSERT_OK_AND_ASSIGN(const cuda::FunctionAttributes attributes, function.Attributes());
    EXPECT_EQ(attributes.max_dynamic_shared_bytes, std::max(kib, 64u) * 1024);
  }
}

TEST_F(ExecutableTest, RunsAtEveryLaunch) {
  TestGraph graph;
  graph.Kernel("affine", graph.Shared(1), 1, 1, 0);
  const Bindings bindings = device_->Bind(graph);
  ASSERT_OK(device_->Write(bindings.buffers[0], {0}));
  const auto executable = Make(graph, bindings);
  ASSERT_OK(executable->Upload(device_->stream()));
  for (int i = 0; i < 3; ++i) LaunchAndWait(*executable);
  EXPECT_THAT(device_->Read(bindings.buffers[0], 1), testing::IsOkAndHolds(ElementsAre(3)));
}

TEST_F(ExecutableTest, UpdateToTheSameArgumentsChangesNothing) {
  TestGraph graph = SetAndCopy(1);
  const Bindings bindings = device_->Bind(graph);
  const auto executable = Make(graph, bindings);
  EXPECT_THAT(executable->Update(device_->Input(graph, bindings)), testing::IsOkAndHolds(0u));
}

TEST_F(ExecutableTest, UpdateOfOneScalarTouchesOneNode) {
  TestGraph first = SetAndCopy(1), second = SetAndCopy(2);
  const Bindings bindings = device_->Bind(first);
  const auto executable = Make(first, bindings);
  EXPECT_THAT(executable->Update(device_->Input(second, bindings)), testing::IsOkAndHolds(1u));
  LaunchAndWait(*executable);
  EXPECT_THAT(device_->Read(bindings.buffers[1], 1), testing::IsOkAndHolds(ElementsAre(2)));
}

TEST_F(ExecutableTest, UpdateTakesEffectInEveryKindOfNode) {
  TestGraph graph = SetAndCopy(5);
  const Bindings before = device_->Bind(graph), after = device_->Bind(graph);
  const auto executable = Make(graph, before);
  ASSERT_OK(device_->Write(before.buffers[1], {-1}));
  EXPECT_THAT(executable->Update(device_->Input(graph, after)), testing::IsOkAndHolds(4u));
  LaunchAndWait(*executable);
  EXPECT_THAT(device_->Read(after.buffers[1], 1), testing::IsOkAndHolds(ElementsAre(5)));
  EXPECT_THAT(device_->Read(before.buffers[1], 1), testing::IsOkAndHolds(ElementsAre(-1)));
}

TEST_F(ExecutableTest, ARefusedUpdateLeavesAnExecutableThatIsNotLaunched) {
  TestGraph graph, refused;
  const BufferIndex x = graph.Shared(1), nothing = refused.Shared(0);
  graph.Kernel("affine", x, 1, 1, 0);
  refused.Kernel("affine", nothing, 1, 1, 0);  // a grid of zero blocks
  const Bindings bindings = device_->Bind(graph);
  const auto executable = Make(graph, bindings);
  EXPECT_THAT(executable->Update(device_->Input(refused, bindings)),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("node \"kernel0\"")));
  EXPECT_THAT(executable->Launch(device_->stream()),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(ExecutableTest, UpdateToAnotherStructureIsRefusedAndChangesNothing) {
  TestGraph graph = SetAndCopy(3), longer = SetAndCopy(4, /*extra=*/1);
  const Bindings bindings = device_->Bind(graph);
  const auto executable = Make(graph, bindings);
  EXPECT_THAT(executable->Update(device_->Input(longer, bindings)),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  LaunchAndWait(*executable);
  EXPECT_THAT(device_->Read(bindings.buffers[1], 1), testing::IsOkAndHolds(ElementsAre(3)));
}

TEST(StructureHashTest, IgnoresScalarsAndSizesButNotOrderAndKernels) {
  const auto hash = [](const char* symbol, uint32_t elements, int32_t factor, uint32_t lane) {
    TestGraph graph;
    const BufferIndex x = graph.Shared(elements);
    const NodeIndex first = graph.Kernel(symbol, x, factor, 0, 0);
    graph.Fill(x, 0, 4, lane, lane == 0 ? TestGraph::Waits{} : TestGraph::Waits{first});
    return StructureHash(graph.graph(), graph.plan());
  };
  EXPECT_EQ(hash("affine", 1, 1, 0), hash("affine", 7, 2, 0));
  EXPECT_NE(hash("affine", 1, 1, 0), hash("meet", 1, 1, 0));
  EXPECT_NE(hash("affine", 1, 1, 0), hash("affine", 0, 1, 0));
}

TEST_F(ExecutableTest, WhatIsCapturedIsLaunchedAgainButNotUpdated) {
  TestGraph graph;
  const BufferIndex x = graph.Shared(1);
  graph.Library(x, 2, 1, 0);
  const Bindings bindings = device_->Bind(graph);
  ASSERT_OK(device_->Write(bindings.buffers[0], {1}));
  EXPECT_FALSE(IsUpdatable(graph.graph(), graph.plan()));
  auto executable = Make(graph, bindings);
  EXPECT_FALSE(executable->is_updatable());
  EXPECT_EQ(device_->resolver().enqueued(), 1);
  LaunchAndWait(*executable);
  LaunchAndWait(*executable);
  EXPECT_EQ(device_->resolver().enqueued(), 1);
  EXPECT_THAT(device_->Read(bindings.buffers[0], 1), testing::IsOkAndHolds(ElementsAre(7)));
  EXPECT_THAT(executable->Update(device_->Input(graph, bindings)),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(ExecutableTest, ALibraryThatFailsInTheMiddleOfItsCaptureFailsTheJobAlone) {
  TestGraph graph;
  const BufferIndex x = graph.Shared(1);
  graph.Kernel("affine", x, 1, 0, 0);
  const NodeIndex call = graph.Library(x, 2, 1, 0);
  const Bindings bindings = device_->Bind(graph);
  ASSERT_OK(device_->Write(bindings.buffers[0], {1}));
  device_->resolver().SetCallStatus(absl::InternalError("the library gives up"));
  EXPECT_THAT(Executable::Create(device_->Input(graph, bindings)).status(),
              StatusIs(absl::StatusCode::kInternal, AllOf(HasSubstr(graph.graph().node(call).name),
                                                          HasSubstr("the library gives up"))));
  EXPECT_EQ(device_->resolver().enqueued(), 1);
  // Nothing of the broken capture has run, or stays in the way of the next.
  device_->resolver().SetCallStatus(absl::OkStatus());
  LaunchAndWait(*Make(graph, bindings));
  EXPECT_THAT(device_->Read(bindings.buffers[0], 1), testing::IsOkAndHolds(ElementsAre(3)));
}

// The first call of the host returns only when the second one has come, behind the first's copy.
TEST_F(ExecutableTest, WhatComesBehindAHostOutputDoesNotWaitForItsCall) {
  TestGraph graph;
  const BufferIndex x = graph.Shared(1);
  graph.HostOutput(x, 0, 0);
  graph.Fill(x, 5, 4, 0);
  graph.HostOutput(x, 0, 1);
  Bindings bindings = device_->Bind(graph);
  absl::Notification second;
  const auto await = [](void* what) {
    static_cast<absl::Notification*>(what)->WaitForNotification();
  };
  const auto notify = [](void* what) { static_cast<absl::Notification*>(what)->Notify(); };
  bindings.output_ready = {{await, &second}, {notify, &second}};
  LaunchAndWait(*Make(graph, bindings));
  EXPECT_TRUE(second.HasBeenNotified());
}

// Its host node points into the memory of one graph.
TEST_F(ExecutableTest, OneWithAHostOutputIsNotUpdated) {
  TestGraph graph;
  graph.HostOutput(graph.Shared(1), 0);
  Bindings bindings = device_->Bind(graph);
  bindings.output_ready = {{[](void*) {}, nullptr}};
  EXPECT_FALSE(IsUpdatable(graph.graph(), graph.plan()));
  EXPECT_THAT(Make(graph, bindings)->Update(device_->Input(graph, bindings)),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

// The driver changes no copy of rows; that must be seen before a half of the update is done.
TEST_F(ExecutableTest, UpdateOfABoxIsRefusedAndChangesNothing) {
  TestGraph graph;
  const BufferIndex x = graph.Shared(8), y = graph.Shared(4);
  graph.Fill(x, 7, 4, 0);
  graph.CopyBox(x, y, 2, 2, 4, 0);
  const Bindings first = device_->Bind(graph), second = device_->Bind(graph);
  ASSERT_OK_AND_ASSIGN(const auto executable, Executable::Create(device_->Input(graph, first)));
  EXPECT_THAT(executable->Update(device_->Input(graph, second)),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(executable->Update(device_->Input(graph, first)), IsOkAndHolds(0));
  EXPECT_OK(executable->Launch(device_->stream()));
  EXPECT_OK(device_->stream().Synchronize());
}

TEST_F(ExecutableTest, UpdateOfRowsTakesTheAddressAndRefusesOtherExtents) {
  TestGraph graph, wider;  // of the same nodes
  const BufferIndex x = graph.Shared(8);
  graph.FillRows(x, 7, 2, 2, 4, 0);
  wider.FillRows(wider.Shared(8), 7, 3, 2, 4, 0);
  const Bindings first = device_->Bind(graph), second = device_->Bind(graph);
  ASSERT_OK_AND_ASSIGN(const auto executable, Executable::Create(device_->Input(graph, first)));
  EXPECT_THAT(executable->Update(device_->Input(graph, second)), IsOkAndHolds(1));
  EXPECT_THAT(executable->Update(device_->Input(wider, device_->Bind(wider))),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_OK(executable->Launch(device_->stream()));
  EXPECT_OK(device_->stream().Synchronize());
}

TEST_F(ExecutableTest, PinnedMemoryIsAnotherStructureThanTheDevices) {
  TestGraph on_device, pinned;
  on_device.Copy(on_device.Shared(4), on_device.Scratch(4), 0);
  pinned.Copy(pinned.Shared(4), pinned.Pinned(4), 0);
  const auto hash = [](TestGraph& graph) { return StructureHash(graph.graph(), graph.plan()); };
  EXPECT_EQ(hash(on_device), hash(on_device));
  EXPECT_NE(hash(on_device), hash(pinned));
}

TEST(StructureHashTest, TellsTheDevicesOfACopyApart) {
  const auto hash = [](uint32_t source, uint32_t destination) {
    TestGraph graph;
    graph.Copy(graph.Shared(4, source), graph.Shared(4, destination), 0);
    return StructureHash(graph.graph(), graph.plan());
  };
  EXPECT_EQ(hash(1, 2), hash(1, 2));
  EXPECT_NE(hash(0, 0), hash(0, 1));
  EXPECT_NE(hash(0, 1), hash(1, 0));
  EXPECT_NE(hash(1, 0), hash(2, 0));
}

TEST_F(ExecutableTest, TheCacheGivesBackTheLastOneOfAStructure) {
  TestGraph graph = SetAndCopy(1), other = SetAndCopy(1, /*extra=*/1);
  const Bindings bindings = device_->Bind(graph);
  ExecutableCache cache(1 << 20);
  auto first = Make(graph, bindings), second = Make(graph, bindings);
  const Executable* const second_address = second.get();
  const uint64_t hash = first->structure_hash();
  cache.Put(std::move(first));
  cache.Put(std::move(second));
  cache.Put(Make(other, bindings));
  EXPECT_EQ(cache.size(), 3u);
  EXPECT_EQ(cache.Take(hash).get(), second_address);
  EXPECT_THAT(cache.Take(hash), NotNull());
  EXPECT_THAT(cache.Take(hash), IsNull());
  EXPECT_EQ(cache.size(), 1u);
}

TEST_F(ExecutableTest, TheCacheDropsTheOldestBeyondItsBytes) {
  TestGraph graph = SetAndCopy(1), other = SetAndCopy(1, /*extra=*/1);
  const Bindings bindings = device_->Bind(graph);
  auto oldest = Make(graph, bindings), newest = Make(other, bindings);
  const uint64_t oldest_hash = oldest->structure_hash(), newest_hash = newest->structure_hash();
  ExecutableCache cache(oldest->cost_bytes() + newest->cost_bytes() - 1);
  cache.Put(std::move(oldest));
  EXPECT_GT(cache.bytes(), 0u);
  cache.Put(std::move(newest));
  EXPECT_THAT(cache.Take(oldest_hash), IsNull());
  EXPECT_THAT(cache.Take(newest_hash), NotNull());
  EXPECT_EQ(cache.bytes(), 0u);
}

}  // namespace
}  // namespace weft::build
