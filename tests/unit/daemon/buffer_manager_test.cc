#include "server/daemon/buffer_manager.h"

#include "tests/unit/daemon/daemon_parts.h"

namespace weft::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using weft::testing::StatusIs;

class BufferManagerTest : public ::testing::Test {
 protected:
  absl::StatusOr<BufferSnapshot> Create(const std::string& name) {
    absl::StatusOr<BufferSnapshot> made = absl::InternalError("not answered");
    d_.buffer_manager.Create(
        d_.alice,
        {.name = name, .dtype = kernels::DType::kU8, .shape = {10}, .size_bytes = 10, .device = 0},
        [&](absl::StatusOr<BufferSnapshot> b) { made = std::move(b); });
    d_.executor->RunAll();
    return made;
  }
  absl::Status Delete(const std::string& reference) {
    absl::Status result = absl::InternalError("not answered");
    d_.buffer_manager.Delete(d_.alice, reference, [&](absl::Status s) { result = std::move(s); });
    d_.executor->RunAll();
    return result;
  }
  absl::StatusOr<std::shared_ptr<BufferTransfer>> Begin(ByteRange range, kernels::Access access) {
    auto transfer = d_.buffer_manager.Begin(d_.alice, "s", range, access, [this] { ++ready_; });
    if (transfer.ok()) (*transfer)->Open();
    return transfer;
  }

  DaemonParts d_;
  int ready_ = 0;
};

TEST_F(BufferManagerTest, ABufferHasMemoryAndGivesItBack) {
  ASSERT_OK_AND_ASSIGN(const BufferSnapshot buffer, Create("a"));
  EXPECT_EQ(buffer.allocated_bytes, 4096u);
  EXPECT_EQ(d_.executor->live_allocations(), 1u);
  EXPECT_OK(Delete("a"));
  EXPECT_EQ(d_.executor->live_allocations(), 0u);
  EXPECT_EQ(d_.buffers.totals().count, 0u);
}

TEST_F(BufferManagerTest, AFailedAllocationLeavesNothing) {
  d_.executor->allocate_error = absl::InternalError("broken");
  EXPECT_THAT(Create("a"), StatusIs(absl::StatusCode::kInternal));
  EXPECT_OK(Create("a"));
}

TEST_F(BufferManagerTest, AnAllocationUnderWayWhenTheSessionEndsIsFreed) {
  absl::StatusOr<BufferSnapshot> made;
  d_.buffer_manager.Create(d_.alice,
                           {.name = "", .dtype = {}, .shape = {1}, .size_bytes = 1, .device = 0},
                           [&](absl::StatusOr<BufferSnapshot> b) { made = std::move(b); });
  d_.sessions.End(d_.alice.session);
  d_.buffer_manager.EndSession(d_.alice.session);
  d_.executor->RunAll();
  EXPECT_EQ(d_.executor->live_allocations(), 0u);
  EXPECT_EQ(d_.buffers.totals().count, 0u);
}

TEST_F(BufferManagerTest, WithoutAnExecutorABufferIsUnavailable) {
  d_.Lose();
  EXPECT_THAT(Create("a"), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(BufferManagerTest, ABufferIsDeletedWhileItsExecutorIsDown) {
  ASSERT_OK(Create("a"));
  d_.Lose();
  EXPECT_OK(Delete("a"));
  EXPECT_THAT(d_.buffers.BeginImport(0).size(), 0u);
}

TEST_F(BufferManagerTest, ATransferWritesAndReadsBack) {
  d_.MakeBuffer("s");
  ASSERT_OK_AND_ASSIGN(const auto write, Begin({10, 0}, kernels::Access::kReadWrite));
  EXPECT_EQ(ready_, 1);
  for (const char* chunk : {"abc", "def"}) {
    write->Write(chunk, [](const absl::Status& status) { EXPECT_OK(status); });
    d_.executor->RunAll();
  }
  EXPECT_EQ(write->done_bytes(), 6u);
  write->End();
  ASSERT_OK_AND_ASSIGN(const auto read, Begin({10, 6}, kernels::Access::kRead));
  std::string bytes;
  read->Read([&](absl::StatusOr<std::string> b) { bytes = *std::move(b); });
  d_.executor->RunAll();
  EXPECT_EQ(bytes, "abcdef");
  EXPECT_EQ(read->left(), 0u);
}

TEST_F(BufferManagerTest, ATransferWaitsForAJobThatWritesAndTheJobBehindForIt) {
  d_.MakeBuffer("s");
  d_.manager.Submit(d_.alice, FillJob(1), "",
                    [](const absl::StatusOr<JobId>& id) { EXPECT_OK(id); });
  d_.executor->RunAll();
  ASSERT_OK_AND_ASSIGN(const auto read, Begin({0, 0}, kernels::Access::kRead));
  EXPECT_EQ(ready_, 0);
  JobId behind;
  d_.manager.Submit(d_.alice, FillJob(2), "", [&](absl::StatusOr<JobId> id) { behind = *id; });
  d_.executor->EndLaunch();
  EXPECT_EQ(ready_, 1);
  EXPECT_EQ(d_.table.Get(d_.alice, behind)->state, JobState::kQueued);
  read->End();
  d_.executor->RunAll();
  EXPECT_EQ(d_.table.Get(d_.alice, behind)->state, JobState::kRunning);
}

TEST_F(BufferManagerTest, ABufferIsNotDeletedUnderATransfer) {
  d_.MakeBuffer("s");
  ASSERT_OK_AND_ASSIGN(const auto read, Begin({0, 0}, kernels::Access::kRead));
  EXPECT_THAT(Delete("s"), StatusIs(absl::StatusCode::kFailedPrecondition));
  read->End();
  read->End();  // does nothing
  EXPECT_OK(Delete("s"));
}

TEST_F(BufferManagerTest, RangesBeyondTheBufferAreRefused) {
  d_.MakeBuffer("s");
  for (const ByteRange range : {ByteRange{1025, 0}, {0, 1025}, {1, UINT64_MAX}, {UINT64_MAX, 1}}) {
    EXPECT_THAT(Begin(range, kernels::Access::kRead),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1024 bytes")));
  }
  EXPECT_EQ(d_.buffers.Find(d_.alice, "s")->uses, 0u);
}

TEST_F(BufferManagerTest, MoreBytesThanTheRangeHasAreRefused) {
  d_.MakeBuffer("s");
  ASSERT_OK_AND_ASSIGN(const auto write, Begin({1020, 0}, kernels::Access::kReadWrite));
  absl::Status status;
  write->Write("12345", [&](absl::Status s) { status = std::move(s); });
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace weft::daemon
