#include "server/daemon/job_table.h"

#include "server/daemon/id_text.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/daemon/callers.h"

namespace weft::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using weft::testing::StatusIs;

JobSpec Spec(uid_t owner, std::string request_id = "") {
  JobSpec spec;
  spec.owner = owner;
  spec.request_id = std::move(request_id);
  return spec;
}

JobOutputPtr OutputOf(uint64_t bytes) {
  return std::make_shared<const JobOutput>(JobOutput{
      .name = "o", .dtype = {}, .shape = {}, .file = {}, .data = std::string(bytes, 'x')});
}

JobOutcome Outcome(JobState state, uint64_t bytes = 0) {
  JobOutcome outcome;
  outcome.state = state;
  if (state != JobState::kSucceeded) outcome.error = absl::InternalError("x");
  if (bytes > 0) outcome.outputs.push_back(OutputOf(bytes));
  return outcome;
}

class Recorder : public JobWatcher {
 public:
  void OnChange(const JobSnapshot& job) override { states.push_back(job.state); }
  void OnOutput() override { ++outputs; }
  std::vector<JobState> states;
  int outputs = 0;
};

class JobTableTest : public ::testing::Test {
 protected:
  JobId Add(const Caller& caller = kAlice) { return table_.Add(Spec(caller.uid))->id; }
  JobState StateOf(JobId id) { return table_.Get(kAlice, id)->state; }

  weft::testing::FakeClock clock_;
  JobTable table_{{.max_unfinished = 4, .max_kept = 2, .max_kept_result_bytes = 100}, clock_};
};

TEST_F(JobTableTest, AJobGoesThroughItsStatesAndTimesThem) {
  const JobId id = Add();
  EXPECT_EQ(StateOf(id), JobState::kQueued);
  clock_.Advance(absl::Milliseconds(3));
  table_.MarkRunning(id, true);
  clock_.Advance(absl::Milliseconds(5));
  EXPECT_TRUE(table_.Finish(id, Outcome(JobState::kSucceeded)));
  const JobSnapshot job = *table_.Get(kAlice, id);
  EXPECT_EQ(job.state, JobState::kSucceeded);
  EXPECT_EQ(job.queued, absl::Milliseconds(3));
  EXPECT_EQ(job.running, absl::Milliseconds(5));
  EXPECT_TRUE(job.reused_graph);
}

TEST_F(JobTableTest, AJobTellsHowLongItHasWaitedAndRunSoFar) {
  const JobId id = Add();
  clock_.Advance(absl::Milliseconds(3));
  EXPECT_EQ(table_.Get(kAlice, id)->queued, absl::Milliseconds(3));
  table_.MarkRunning(id, false);
  clock_.Advance(absl::Milliseconds(5));
  EXPECT_EQ(table_.List(kAlice, std::nullopt, 10, {}).items[0].running, absl::Milliseconds(5));
}

TEST_F(JobTableTest, TheJobThatHasJustEndedIsKeptWhateverItsSize) {
  const JobId small = Add();
  table_.Finish(small, Outcome(JobState::kSucceeded, 1));
  const JobId large = Add();
  table_.Finish(large, Outcome(JobState::kSucceeded, 101));
  EXPECT_EQ(StateOf(large), JobState::kSucceeded);
  EXPECT_FALSE(table_.Get(kAlice, small).ok());
}

TEST_F(JobTableTest, ASecondTerminalStateIsRefused) {
  const JobId id = Add();
  EXPECT_TRUE(table_.Finish(id, Outcome(JobState::kCancelled)));
  EXPECT_FALSE(table_.Finish(id, Outcome(JobState::kSucceeded)));
  EXPECT_EQ(StateOf(id), JobState::kCancelled);
}

TEST_F(JobTableTest, AnEndedJobDoesNotRunAgain) {
  const JobId id = Add();
  table_.Finish(id, Outcome(JobState::kCancelled));
  table_.MarkRunning(id, false);
  EXPECT_EQ(StateOf(id), JobState::kCancelled);
  EXPECT_EQ(table_.totals().running, 0u);
}

TEST_F(JobTableTest, ARequestIdFindsTheEarlierJobOfTheSameUserOnly) {
  ASSERT_OK_AND_ASSIGN(const JobTable::Added first, table_.Add(Spec(kAlice.uid, "r")));
  ASSERT_OK_AND_ASSIGN(const JobTable::Added again, table_.Add(Spec(kAlice.uid, "r")));
  ASSERT_OK_AND_ASSIGN(const JobTable::Added other, table_.Add(Spec(kBob.uid, "r")));
  EXPECT_TRUE(again.existed);
  EXPECT_EQ(again.id, first.id);
  EXPECT_FALSE(other.existed);
  EXPECT_EQ(table_.FindByRequestId(kAlice.uid, "r"), first.id);
  EXPECT_EQ(table_.FindByRequestId(kAlice.uid, ""), std::nullopt);
}

TEST_F(JobTableTest, ARequestIdIsForgottenWithItsJob) {
  ASSERT_OK_AND_ASSIGN(const JobTable::Added first, table_.Add(Spec(kAlice.uid, "r")));
  table_.Finish(first.id, Outcome(JobState::kSucceeded));
  for (int i = 0; i < 2; ++i) table_.Finish(Add(), Outcome(JobState::kSucceeded));
  ASSERT_OK_AND_ASSIGN(const JobTable::Added again, table_.Add(Spec(kAlice.uid, "r")));
  EXPECT_FALSE(again.existed);
}

TEST_F(JobTableTest, JobsOverTheLimitAreRefusedUntilOneEnds) {
  const JobId first = Add();
  for (int i = 0; i < 3; ++i) Add();
  EXPECT_THAT(table_.Add(Spec(1)), StatusIs(absl::StatusCode::kResourceExhausted));
  table_.Finish(first, Outcome(JobState::kSucceeded));
  EXPECT_OK(table_.Add(Spec(1)));
}

TEST_F(JobTableTest, TheOldestEndedJobsAreForgottenByCount) {
  const JobId first = Add();
  const JobId running = Add();
  table_.Finish(first, Outcome(JobState::kSucceeded));
  for (int i = 0; i < 2; ++i) table_.Finish(Add(), Outcome(JobState::kSucceeded));
  EXPECT_THAT(table_.Get(kAlice, first), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_OK(table_.Get(kAlice, running));
}

TEST_F(JobTableTest, TheOldestEndedJobsAreForgottenByBytes) {
  const JobId first = Add();
  table_.Finish(first, Outcome(JobState::kSucceeded, 60));
  const JobId second = Add();
  table_.Finish(second, Outcome(JobState::kSucceeded, 60));
  EXPECT_THAT(table_.Get(kAlice, first), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(table_.Get(kAlice, second)->outcome->outputs[0]->data.size(), 60u);
  EXPECT_EQ(table_.totals().kept_result_bytes, 60u);
}

TEST_F(JobTableTest, AnotherUsersJobIsDenied) {
  const JobId id = Add();
  EXPECT_THAT(table_.Get(kBob, id), StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(table_.Wait(kBob, id, [](const JobSnapshot&) {}),
              StatusIs(absl::StatusCode::kPermissionDenied));
}

TEST_F(JobTableTest, AWaiterIsCalledOnceAtTheEnd) {
  const JobId id = Add();
  std::vector<JobState> seen;
  ASSERT_OK(table_.Wait(kAlice, id, [&](const JobSnapshot& job) { seen.push_back(job.state); }));
  table_.MarkRunning(id, false);
  EXPECT_THAT(seen, IsEmpty());
  table_.Finish(id, Outcome(JobState::kFailed));
  EXPECT_THAT(seen, ElementsAre(JobState::kFailed));
}

TEST_F(JobTableTest, AWaiterOfAnEndedJobIsCalledAtOnce) {
  const JobId id = Add();
  table_.Finish(id, Outcome(JobState::kSucceeded));
  int calls = 0;
  ASSERT_OK(table_.Wait(kAlice, id, [&](const JobSnapshot&) { ++calls; }));
  EXPECT_EQ(calls, 1);
}

TEST_F(JobTableTest, AWaiterThatStoppedIsNotCalled) {
  const JobId id = Add();
  int calls = 0;
  ASSERT_OK_AND_ASSIGN(const uint64_t waiter,
                       table_.Wait(kAlice, id, [&](const JobSnapshot&) { ++calls; }));
  EXPECT_TRUE(table_.StopWaiting(id, waiter));
  table_.Finish(id, Outcome(JobState::kSucceeded));
  EXPECT_FALSE(table_.StopWaiting(id, waiter));
  EXPECT_EQ(calls, 0);
}

TEST_F(JobTableTest, AWatcherSeesEveryChange) {
  const JobId id = Add();
  auto watcher = std::make_shared<Recorder>();
  ASSERT_OK_AND_ASSIGN(const JobSnapshot now, table_.Watch(kAlice, id, watcher));
  EXPECT_EQ(now.state, JobState::kQueued);
  table_.MarkRunning(id, false);
  table_.Finish(id, Outcome(JobState::kSucceeded));
  EXPECT_THAT(watcher->states, ElementsAre(JobState::kRunning, JobState::kSucceeded));
}

TEST_F(JobTableTest, AWatcherIsToldOfOutputs) {
  const JobId id = Add();
  auto watcher = std::make_shared<Recorder>();
  auto gone = std::make_shared<Recorder>();
  ASSERT_OK(table_.Watch(kAlice, id, watcher));
  ASSERT_OK(table_.Watch(kAlice, id, gone));
  table_.StopWatching(id, gone.get());
  table_.TellOutput(id);
  table_.TellOutput(JobId(77));
  EXPECT_EQ(watcher->outputs, 1);
  EXPECT_EQ(gone->outputs, 0);
  EXPECT_THAT(watcher->states, ElementsAre());
}

TEST_F(JobTableTest, PagesGoFromTheNewestToTheOldest) {
  const JobId first = Add();
  Add(kBob);
  const JobId third = Add();
  const JobPage page = table_.List(kAlice, std::nullopt, 1, {});
  ASSERT_EQ(page.items.size(), 1u);
  EXPECT_EQ(page.items[0].id, third);
  ASSERT_TRUE(page.next.has_value());
  const JobPage rest = table_.List(kAlice, page.next, 10, {});
  ASSERT_EQ(rest.items.size(), 1u);
  EXPECT_EQ(rest.items[0].id, first);
  EXPECT_FALSE(rest.next.has_value());
}

TEST_F(JobTableTest, AListingCanAskForStates) {
  const JobId queued = Add();
  table_.MarkRunning(Add(), false);
  const JobPage page = table_.List(kAlice, std::nullopt, 10, {JobState::kQueued});
  ASSERT_EQ(page.items.size(), 1u);
  EXPECT_EQ(page.items[0].id, queued);
}

TEST_F(JobTableTest, AClosedTableTakesNoJobAndBecomesIdle) {
  const JobId id = Add();
  table_.Close();
  EXPECT_THAT(table_.Add(Spec(1)), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_FALSE(table_.AwaitIdle(absl::ZeroDuration()));
  table_.Finish(id, Outcome(JobState::kSucceeded));
  EXPECT_TRUE(table_.AwaitIdle(absl::ZeroDuration()));
}

TEST(JobIdTest, TextAndBack) {
  EXPECT_EQ(FormatJobId(JobId(17)), "j17");
  EXPECT_EQ(*ParseJobId("j17"), JobId(17));
  for (const char* bad : {"", "17", "j", "jx", "j-1", "j1 "}) {
    EXPECT_THAT(ParseJobId(bad), StatusIs(absl::StatusCode::kInvalidArgument)) << bad;
  }
}

}  // namespace
}  // namespace weft::daemon
