#include "server/daemon/job_manager.h"

#include <cstring>
#include <limits>

#include "tests/unit/daemon/daemon_parts.h"

namespace weft::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using weft::testing::StatusIs;

class JobManagerTest : public ::testing::Test {
 protected:
  absl::StatusOr<JobId> Submit(v1::Job job, std::string request_id = "") {
    absl::StatusOr<JobId> id = absl::InternalError("not answered");
    d_.manager.Submit(d_.alice, std::move(job), std::move(request_id),
                      [&](absl::StatusOr<JobId> accepted) { id = accepted; });
    d_.executor->RunAll();
    return id;
  }
  JobSnapshot Get(JobId id) { return *d_.table.Get(d_.alice, id); }
  JobState StateOf(JobId id) { return Get(id).state; }

  DaemonParts d_;
};

TEST_F(JobManagerTest, AJobIsPreparedLaunchedAndEndsWithItsOutputs) {
  // Download behind upload: "the device" copies one to the other.
  d_.executor->on_launch = [](const transport::SharedMemory& staging) {
    std::memcpy(staging.data() + 256, staging.data(), 4);
  };
  ASSERT_OK_AND_ASSIGN(const JobId id, Submit(EchoJob()));
  EXPECT_EQ(StateOf(id), JobState::kRunning);
  d_.executor->EndLaunch();
  const JobSnapshot job = Get(id);
  ASSERT_EQ(job.state, JobState::kSucceeded);
  ASSERT_EQ(job.outcome->outputs.size(), 1u);
  EXPECT_EQ(job.outcome->outputs[0]->name, "out");
  EXPECT_EQ(job.outcome->outputs[0]->data, "abcd");
  EXPECT_EQ(job.spec->name, "echo");
  EXPECT_EQ(job.spec->node_count, 2u);
}

TEST_F(JobManagerTest, ARepeatedJobIsLaunchedWithoutBeingPreparedAgain) {
  ASSERT_OK(Submit(EchoJob("abcd")));
  d_.executor->EndLaunch();
  d_.executor->TakeCalls();
  ASSERT_OK_AND_ASSIGN(const JobId id, Submit(EchoJob("wxyz")));
  EXPECT_THAT(d_.executor->TakeCalls(), ElementsAre("launch g1"));
  d_.executor->EndLaunch();
  EXPECT_TRUE(Get(id).reused_graph);
}

TEST_F(JobManagerTest, InvalidJobsAreRefusedAndLeaveNothing) {
  v1::Job job = EchoJob();
  job.mutable_nodes(1)->mutable_download()->mutable_src()->set_buffer("nope");
  EXPECT_THAT(Submit(job), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("nope")));
  EXPECT_THAT(Submit(FillJob(1)), StatusIs(absl::StatusCode::kNotFound, HasSubstr("\"s\"")));
  EXPECT_THAT(d_.executor->TakeCalls(), IsEmpty());
  EXPECT_EQ(d_.table.totals().queued, 0u);
  EXPECT_EQ(d_.order.unit_count(), 0u);
}

TEST_F(JobManagerTest, AnotherUsersBufferIsDenied) {
  d_.MakeBuffer("s");
  absl::StatusOr<JobId> id = absl::InternalError("not answered");
  d_.manager.Submit(d_.bob, FillJob(1), "", [&](absl::StatusOr<JobId> a) { id = a; });
  EXPECT_THAT(id, StatusIs(absl::StatusCode::kPermissionDenied));
}

// A job with code of its own that no node launches.
v1::Job JobWithCode() {
  v1::Job job;
  job.add_modules()->set_name("mine");
  job.mutable_modules(0)->set_cuda("source");
  job.add_nodes()->mutable_empty();
  return job;
}

TEST_F(JobManagerTest, CodeIsTakenFromTheUserOfTheServerAlone) {
  EXPECT_OK(Submit(JobWithCode()));
  d_.executor->EndLaunch();
  // Also when an equal job is in the cache.
  absl::StatusOr<JobId> id = absl::InternalError("not answered");
  d_.manager.Submit(d_.bob, JobWithCode(), "", [&](absl::StatusOr<JobId> a) { id = a; });
  EXPECT_THAT(id, StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("user_kernels: owner")));
}

TEST(UserKernelPolicyTest, WhoMayBringCodeIsASetting) {
  DaemonParts parts;
  const auto allows = [&](UserKernelPolicy::Who who, const Caller& caller) {
    const JobCompiler compiler(parts.fingerprinter, {}, {who, 1000}, parts.buffers, parts.executors,
                               parts.cache);
    return compiler.CheckAllowed(caller, JobWithCode()).ok();
  };
  Caller root = parts.bob;
  root.uid = 0;
  EXPECT_TRUE(allows(UserKernelPolicy::Who::kOwner, parts.alice));
  EXPECT_TRUE(allows(UserKernelPolicy::Who::kOwner, root));
  EXPECT_FALSE(allows(UserKernelPolicy::Who::kOwner, parts.bob));
  EXPECT_TRUE(allows(UserKernelPolicy::Who::kEveryone, parts.bob));
  EXPECT_FALSE(allows(UserKernelPolicy::Who::kNobody, parts.alice));
}

TEST_F(JobManagerTest, JobsOnOneBufferRunInTheOrderOfAcceptance) {
  d_.MakeBuffer("s");
  ASSERT_OK_AND_ASSIGN(const JobId first, Submit(FillJob(1)));
  ASSERT_OK_AND_ASSIGN(const JobId second, Submit(FillJob(2)));
  EXPECT_EQ(StateOf(first), JobState::kRunning);
  EXPECT_EQ(StateOf(second), JobState::kQueued);
  d_.executor->EndLaunch();
  d_.executor->RunAll();
  EXPECT_EQ(StateOf(second), JobState::kRunning);
  EXPECT_EQ(d_.buffers.Find(d_.alice, "s")->uses, 1u);
  d_.executor->EndLaunch();
  EXPECT_EQ(d_.buffers.Find(d_.alice, "s")->uses, 0u);
}

TEST_F(JobManagerTest, AJobWithTheSameRequestIdIsTheEarlierJob) {
  ASSERT_OK_AND_ASSIGN(const JobId first, Submit(EchoJob(), "r"));
  ASSERT_OK_AND_ASSIGN(const JobId again, Submit(EchoJob(), "r"));
  EXPECT_EQ(first, again);
  EXPECT_EQ(d_.executor->launches_in_flight(), 1u);
}

TEST_F(JobManagerTest, ABufferIsFreeWhenTheEndOfItsJobIsTold) {
  d_.MakeBuffer("s");
  ASSERT_OK_AND_ASSIGN(const JobId id, Submit(FillJob(1)));
  uint32_t uses = 99;
  ASSERT_OK(d_.table.Wait(
      d_.alice, id, [&](const JobSnapshot&) { uses = d_.buffers.Find(d_.alice, "s")->uses; }));
  d_.executor->EndLaunch();
  EXPECT_EQ(uses, 0u);
}

TEST_F(JobManagerTest, AQueuedJobIsCancelledAtOnceAndNeverRuns) {
  d_.MakeBuffer("s");
  ASSERT_OK(Submit(FillJob(1)));
  ASSERT_OK_AND_ASSIGN(const JobId second, Submit(FillJob(2)));
  d_.executor->TakeCalls();
  ASSERT_OK_AND_ASSIGN(const JobSnapshot job, d_.manager.Cancel(d_.alice, second));
  EXPECT_EQ(job.state, JobState::kCancelled);
  d_.executor->EndLaunch();
  d_.executor->RunAll();
  EXPECT_THAT(d_.executor->TakeCalls(), IsEmpty());
  EXPECT_EQ(d_.order.unit_count(), 0u);
}

TEST_F(JobManagerTest, ACancelledJobStillOrdersThoseAroundIt) {
  d_.MakeBuffer("s");
  ASSERT_OK(Submit(FillJob(1)));
  ASSERT_OK_AND_ASSIGN(const JobId second, Submit(FillJob(2)));
  ASSERT_OK_AND_ASSIGN(const JobId third, Submit(FillJob(3)));
  ASSERT_OK(d_.manager.Cancel(d_.alice, second));
  EXPECT_EQ(StateOf(third), JobState::kQueued);
  d_.executor->EndLaunch();
  d_.executor->RunAll();
  EXPECT_EQ(StateOf(third), JobState::kRunning);
}

TEST_F(JobManagerTest, ARunningJobIsNotCancelled) {
  ASSERT_OK_AND_ASSIGN(const JobId id, Submit(EchoJob()));
  ASSERT_OK_AND_ASSIGN(const JobSnapshot job, d_.manager.Cancel(d_.alice, id));
  EXPECT_EQ(job.state, JobState::kRunning);
  d_.executor->EndLaunch();
  EXPECT_EQ(StateOf(id), JobState::kSucceeded);
  EXPECT_THAT(d_.manager.Cancel(d_.alice, id), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(JobManagerTest, AJobStillQueuedAtItsDeadlineEnds) {
  d_.MakeBuffer("s");
  ASSERT_OK(Submit(FillJob(1)));
  v1::Job job = FillJob(2);
  job.mutable_options()->set_deadline_ms(50);
  ASSERT_OK_AND_ASSIGN(const JobId id, Submit(job));
  d_.clock.Advance(absl::Milliseconds(49));
  d_.timers.RunDue();
  EXPECT_EQ(StateOf(id), JobState::kQueued);
  d_.clock.Advance(absl::Milliseconds(1));
  d_.timers.RunDue();
  EXPECT_EQ(StateOf(id), JobState::kDeadlineExceeded);
  EXPECT_THAT(Get(id).outcome->error,
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("50 ms")));
}

TEST_F(JobManagerTest, ADeadlineDoesNotEndARunningJob) {
  v1::Job job = EchoJob();
  job.mutable_options()->set_deadline_ms(50);
  ASSERT_OK_AND_ASSIGN(const JobId id, Submit(job));
  d_.clock.Advance(absl::Seconds(1));
  d_.timers.RunDue();
  EXPECT_EQ(StateOf(id), JobState::kRunning);
}

TEST_F(JobManagerTest, AFailedLaunchNamesItsNode) {
  d_.executor->report.status = absl::InvalidArgumentError("illegal address");
  d_.executor->report.error_node = "get";
  ASSERT_OK_AND_ASSIGN(const JobId id, Submit(EchoJob()));
  LaunchResult failed;
  failed.code = absl::StatusCode::kInvalidArgument;
  d_.executor->EndLaunch(failed);
  d_.executor->RunAll();
  const JobSnapshot job = Get(id);
  EXPECT_EQ(job.state, JobState::kFailed);
  EXPECT_THAT(job.outcome->error,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("illegal address")));
  EXPECT_EQ(job.outcome->error_node, "get");
}

TEST_F(JobManagerTest, JobsThatShareAGraphFailUnderTheirOwnNames) {
  ASSERT_OK(Submit(EchoJob()));
  d_.executor->EndLaunch();
  v1::Job other = EchoJob();
  other.set_name("other");
  d_.executor->report.status = absl::InternalError("illegal address");
  ASSERT_OK_AND_ASSIGN(const JobId id, Submit(other));
  EXPECT_TRUE(Get(id).reused_graph);
  d_.executor->EndLaunch({.code = absl::StatusCode::kInternal});
  d_.executor->RunAll();
  EXPECT_THAT(Get(id).outcome->error,
              StatusIs(absl::StatusCode::kInternal, HasSubstr("job \"other\": illegal address")));
}

TEST_F(JobManagerTest, ADeadlineLongerThanTimeIsNone) {
  d_.MakeBuffer("s");
  ASSERT_OK(Submit(FillJob(1)));
  v1::Job late = FillJob(2);
  late.mutable_options()->set_deadline_ms(std::numeric_limits<uint64_t>::max());
  ASSERT_OK_AND_ASSIGN(const JobId id, Submit(late));
  d_.clock.Advance(absl::Hours(1));
  d_.timers.RunDue();
  EXPECT_EQ(StateOf(id), JobState::kQueued);
}

TEST_F(JobManagerTest, WhileTheExecutorStartsAJobIsUnavailableAndNotWrong) {
  DaemonParts starting;
  starting.executors.Withdraw(0, ExecutorDirectory::State::kDown);
  absl::StatusOr<JobId> id = absl::InternalError("not answered");
  starting.manager.Submit(starting.alice, EchoJob(), "", [&](absl::StatusOr<JobId> a) { id = a; });
  EXPECT_THAT(id, StatusIs(absl::StatusCode::kUnavailable, HasSubstr("starting")));
}

TEST_F(JobManagerTest, ATimelineIsFetchedWhenAskedFor) {
  d_.executor->report.timeline = {{.node = "in", .lane = 0, .start_ns = 1, .end_ns = 2}};
  v1::Job job = EchoJob();
  job.mutable_options()->set_collect_timeline(true);
  ASSERT_OK_AND_ASSIGN(const JobId id, Submit(job));
  d_.executor->EndLaunch();
  d_.executor->RunAll();
  ASSERT_EQ(StateOf(id), JobState::kSucceeded);
  EXPECT_EQ(Get(id).outcome->timeline.size(), 1u);
}

TEST_F(JobManagerTest, AJobWhoseGraphCannotBePreparedFails) {
  d_.executor->prepare_error = absl::ResourceExhaustedError("no memory");
  ASSERT_OK_AND_ASSIGN(const JobId id, Submit(EchoJob()));
  EXPECT_EQ(StateOf(id), JobState::kFailed);
  EXPECT_EQ(d_.scheduler.running(0), 0u);
}

TEST_F(JobManagerTest, AJobThatRanOnALostExecutorIsAborted) {
  ASSERT_OK_AND_ASSIGN(const JobId id, Submit(EchoJob()));
  d_.Lose();
  EXPECT_EQ(StateOf(id), JobState::kAborted);
  EXPECT_THAT(Get(id).outcome->error,
              StatusIs(absl::StatusCode::kAborted, HasSubstr("signal 9 (Killed)")));
}

TEST_F(JobManagerTest, TheJobThatLostTheExecutorFailsWithWhatItSaid) {
  ASSERT_OK_AND_ASSIGN(const JobId id, Submit(EchoJob()));
  auto report = std::make_shared<LaunchReport>();
  report->status = absl::InternalError("illegal address");
  report->error_node = "get";
  LaunchResult result;
  result.executor_lost = true;
  result.report = report;
  d_.executor->EndLaunch(result);
  EXPECT_EQ(StateOf(id), JobState::kFailed);
  EXPECT_EQ(Get(id).outcome->error_node, "get");
}

TEST_F(JobManagerTest, QueuedJobsRunOnTheNextExecutor) {
  d_.MakeBuffer("s");
  ASSERT_OK(Submit(FillJob(1)));
  ASSERT_OK_AND_ASSIGN(const JobId second, Submit(FillJob(2)));
  d_.Lose();
  EXPECT_EQ(StateOf(second), JobState::kQueued);
  d_.Serve(std::make_shared<FakeExecutorClient>());
  d_.executor->RunAll();
  EXPECT_EQ(StateOf(second), JobState::kRunning);
  d_.executor->EndLaunch();
  EXPECT_EQ(StateOf(second), JobState::kSucceeded);
}

TEST_F(JobManagerTest, AJobBeingPreparedOnALostExecutorIsStartedAgainButNotForEver) {
  absl::StatusOr<JobId> id;
  d_.manager.Submit(d_.alice, EchoJob(), "", [&](absl::StatusOr<JobId> a) { id = a; });
  for (int i = 0; i < 2; ++i) {
    d_.Lose();
    EXPECT_EQ(StateOf(*id), JobState::kQueued);
    d_.Serve(std::make_shared<FakeExecutorClient>());
  }
  d_.Lose();
  EXPECT_EQ(StateOf(*id), JobState::kAborted);
}

TEST_F(JobManagerTest, WithoutAnExecutorJobsAreUnavailable) {
  ASSERT_OK(Submit(EchoJob()));
  d_.Lose();
  EXPECT_THAT(Submit(EchoJob()), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(JobManagerTest, NoMoreJobsRunThanTheDeviceTakes) {
  std::vector<JobId> ids;
  for (int i = 0; i < 6; ++i) {
    // Different graphs, so that none waits for an instance.
    v1::Job job = ParseText("buffers { name: 'b' shape: " + std::to_string(i + 1) +
                            " } nodes { fill { dst { buffer: 'b' } } }");
    ids.push_back(*Submit(job));
  }
  EXPECT_EQ(d_.executor->launches_in_flight(), 4u);
  EXPECT_EQ(StateOf(ids[4]), JobState::kQueued);
  d_.executor->EndLaunch();
  d_.executor->RunAll();
  EXPECT_EQ(StateOf(ids[4]), JobState::kRunning);
  EXPECT_EQ(StateOf(ids[5]), JobState::kQueued);
}

TEST_F(JobManagerTest, AbortAllEndsEveryJob) {
  d_.MakeBuffer("s");
  ASSERT_OK_AND_ASSIGN(const JobId running, Submit(FillJob(1)));
  ASSERT_OK_AND_ASSIGN(const JobId queued, Submit(FillJob(2)));
  d_.scheduler.Pause(0);
  d_.manager.AbortAll();
  EXPECT_EQ(StateOf(running), JobState::kAborted);
  EXPECT_EQ(StateOf(queued), JobState::kAborted);
  d_.executor->EndLaunch();
  EXPECT_EQ(d_.scheduler.running(0), 0u);
  EXPECT_EQ(d_.order.unit_count(), 0u);
}

TEST_F(JobManagerTest, UploadsThatDidNotChangeAreNotCopiedAgain) {
  std::shared_ptr<const CompiledJob> compiled;
  std::vector<std::string> bytes;
  d_.manager.Compile(d_.alice, EchoJob(),
                     [&](absl::StatusOr<std::shared_ptr<const CompiledJob>> c, ReceivedJob r) {
                       compiled = *std::move(c);
                       bytes = std::move(r.uploads);
                     });
  const JobRequest request{.caller = d_.alice,
                           .request_id = "",
                           .options = {},
                           .compiled = compiled,
                           .uploads = {std::make_shared<const std::string>(bytes[0])}};
  std::string seen;
  d_.executor->on_launch = [&](const transport::SharedMemory& staging) {
    seen.assign(reinterpret_cast<const char*>(staging.data()), 4);
    std::memset(staging.data(), '-', 4);  // shows whether it is written again
  };
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(d_.manager.Accept(request));
    d_.executor->RunAll();
    d_.executor->EndLaunch();
  }
  EXPECT_EQ(seen, "----");
}

}  // namespace
}  // namespace weft::daemon
