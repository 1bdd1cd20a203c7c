// Jobs of one device that copy from a buffer of another, as weftd sees them: what is mapped where,
// the order between the devices, and the buffer's end.
#include <utility>

#include "tests/unit/daemon/daemon_parts.h"
#include "weft/executor/v1/executor.pb.h"

namespace weft::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using weft::testing::StatusIs;

class PeerCopiesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ServePeer(std::make_shared<FakeExecutorClient>(FakeExecutorClient::Mode::kByHand, 1));
    near_ = Create("near", 0).id;
    far_ = Create("far", 1).id;
    TakeCalls();
  }
  void TearDown() override {
    d_.scheduler.Pause(1);
    d_.manager.AbortAll();
    peer_->MarkLost("the test is over");
  }

  void ServePeer(std::shared_ptr<FakeExecutorClient> client) {
    peer_ = std::move(client);
    const cuda::DeviceInfo& info = peer_->device();
    d_.buffers.SetDevice(1, info.total_memory_bytes, info.allocation_granularity_bytes);
    d_.executors.Publish(1, peer_);
    d_.scheduler.Resume(1);
  }
  void LosePeer() {
    d_.scheduler.Pause(1);
    d_.executors.Withdraw(1, ExecutorDirectory::State::kDown);
    peer_->MarkLost("signal 9 (Killed)");
    d_.cache.DropExecutor(*peer_);
  }
  void RunAll() {
    while (d_.executor->RunAll() + peer_->RunAll() > 0) {
    }
  }
  void TakeCalls() {
    d_.executor->TakeCalls();
    peer_->TakeCalls();
  }

  BufferSnapshot Create(const std::string& name, uint32_t device) {
    absl::StatusOr<BufferSnapshot> made = absl::InternalError("not answered");
    BufferSpec spec{.name = name,
                    .dtype = kernels::DType::kU8,
                    .shape = {1024},
                    .size_bytes = 1024,
                    .device = device};
    d_.buffer_manager.Create(d_.alice, spec,
                             [&](absl::StatusOr<BufferSnapshot> b) { made = std::move(b); });
    RunAll();
    EXPECT_OK(made);
    return *std::move(made);
  }
  absl::Status Delete(const std::string& name) {
    absl::Status result = absl::InternalError("not answered");
    d_.buffer_manager.Delete(d_.alice, name, [&](absl::Status s) { result = std::move(s); });
    RunAll();
    return result;
  }
  absl::StatusOr<JobId> SubmitText(const std::string& text) {
    absl::StatusOr<JobId> id = absl::InternalError("not answered");
    d_.manager.Submit(d_.alice, ParseText(text), "",
                      [&](absl::StatusOr<JobId> accepted) { id = accepted; });
    return id;
  }
  // Of device 0: near = far.
  static std::string Fetch() {
    return R"pb(
      buffers { name: "n" shared: "near" }
      buffers { name: "f" shared: "far" }
      nodes {
        copy {
          src { buffer: "f" }
          dst { buffer: "n" }
        }
      })pb";
  }
  // Of device 1: far = 1, 1, ….
  static std::string FillFar() {
    return R"pb(
      options { device: 1 }
      buffers { name: "f" shared: "far" }
      nodes {
        fill {
          dst { buffer: "f" }
          pattern: 1
        }
      })pb";
  }
  JobState StateOf(JobId id) { return d_.table.Get(d_.alice, id)->state; }

  DaemonParts d_;  // device 0
  std::shared_ptr<FakeExecutorClient> peer_;
  BufferId near_, far_;
};

TEST_F(PeerCopiesTest, TheMemoryIsMappedBeforeTheGraphIsPrepared) {
  ASSERT_OK_AND_ASSIGN(const JobId job, SubmitText(Fetch()));
  RunAll();
  EXPECT_THAT(d_.executor->TakeCalls(),
              ElementsAre("map #2 of device 1", "prepare g1", "launch g1"));
  EXPECT_THAT(peer_->TakeCalls(), IsEmpty());
  d_.executor->EndLaunch();
  EXPECT_EQ(StateOf(job), JobState::kSucceeded);
  ASSERT_OK(SubmitText(Fetch()));
  EXPECT_THAT(d_.executor->TakeCalls(), ElementsAre("launch g1"));
  d_.executor->EndLaunch();
}

TEST_F(PeerCopiesTest, TheGraphSaysWhichMemoryItIs) {
  ReceivedJob received = d_.compiler.Receive(d_.alice, ParseText(Fetch()));
  ASSERT_OK_AND_ASSIGN(const auto compiled, d_.compiler.Compile(received));
  EXPECT_THAT(compiled->peers, ElementsAre(far_));
  const executor::v1::PrepareRequest& request = *compiled->prepare;
  ASSERT_EQ(request.bindings_size(), 2);
  EXPECT_NE(request.bindings(0).address(), 0u);
  EXPECT_EQ(request.bindings(1).address(), 0u);
  EXPECT_EQ(request.bindings(1).tag(), far_.value());
  EXPECT_EQ(request.job().buffers(1).device(), 1u);
  ASSERT_OK_AND_ASSIGN(const std::string text, d_.compiler.PlanText(*compiled, "fetch"));
  EXPECT_THAT(text, HasSubstr("copy of 1024 bytes from device 1"));
}

TEST_F(PeerCopiesTest, JobsOfTwoDevicesKeepTheirOrderOnABuffer) {
  ASSERT_OK_AND_ASSIGN(const JobId first, SubmitText(FillFar()));
  RunAll();
  ASSERT_OK_AND_ASSIGN(const JobId second, SubmitText(Fetch()));
  ASSERT_OK_AND_ASSIGN(const JobId third, SubmitText(FillFar()));
  RunAll();
  EXPECT_EQ(StateOf(first), JobState::kRunning);
  EXPECT_EQ(StateOf(second), JobState::kQueued);
  peer_->EndLaunch();
  RunAll();
  EXPECT_EQ(StateOf(second), JobState::kRunning);
  EXPECT_EQ(StateOf(third), JobState::kQueued);
  d_.executor->EndLaunch();
  RunAll();
  EXPECT_EQ(StateOf(third), JobState::kRunning);
  peer_->EndLaunch();
  EXPECT_EQ(StateOf(third), JobState::kSucceeded);
}

TEST_F(PeerCopiesTest, OutOfReachTheJobFailsAndTheNextRuns) {
  d_.executor->map_peer_error = absl::FailedPreconditionError("device 0 cannot reach it");
  ASSERT_OK_AND_ASSIGN(const JobId job, SubmitText(Fetch()));
  RunAll();
  ASSERT_EQ(StateOf(job), JobState::kFailed);
  EXPECT_THAT(d_.table.Get(d_.alice, job)->outcome->error,
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("cannot reach it")));
  EXPECT_EQ(d_.cache.instance_count(), 0u);
  EXPECT_EQ(d_.executor->live_graphs(), 0u);
  ASSERT_OK_AND_ASSIGN(const JobId next, SubmitText(FillFar()));
  RunAll();
  peer_->EndLaunch();
  EXPECT_EQ(StateOf(next), JobState::kSucceeded);
  EXPECT_OK(Delete("far"));
}

TEST_F(PeerCopiesTest, TheBuffersEndReachesEveryDeviceThatMappedIt) {
  ASSERT_OK(SubmitText(Fetch()));
  RunAll();
  EXPECT_THAT(Delete("far"), StatusIs(absl::StatusCode::kFailedPrecondition));  // in use
  d_.executor->EndLaunch();
  EXPECT_EQ(d_.executor->live_peers(), 1u);
  TakeCalls();
  ASSERT_OK(Delete("far"));
  EXPECT_THAT(d_.executor->TakeCalls(), UnorderedElementsAre("release g1", "free #2"));
  EXPECT_THAT(peer_->TakeCalls(), ElementsAre("free #2"));
  EXPECT_EQ(d_.executor->live_peers(), 0u);
  EXPECT_EQ(peer_->live_allocations(), 0u);
  // One that nobody else mapped is its own device's affair.
  TakeCalls();
  ASSERT_OK(Delete("near"));
  EXPECT_THAT(d_.executor->TakeCalls(), ElementsAre("free #1"));
  EXPECT_THAT(peer_->TakeCalls(), IsEmpty());
}

TEST_F(PeerCopiesTest, ItsBytesCountUntilTheLastDeviceHasUnmappedIt) {
  ASSERT_OK(SubmitText(Fetch()));
  RunAll();
  d_.executor->EndLaunch();
  bool is_done = false;
  d_.buffer_manager.Delete(d_.alice, "far", [&](const absl::Status&) { is_done = true; });
  peer_->RunAll();
  EXPECT_FALSE(is_done);
  d_.executor->RunAll();
  EXPECT_TRUE(is_done);
}

TEST_F(PeerCopiesTest, AMappingThatCameBehindTheBuffersEndIsTakenBack) {
  ASSERT_OK_AND_ASSIGN(const JobId job, SubmitText(Fetch()));
  ASSERT_OK(d_.manager.Cancel(d_.alice, job));  // while the memory is being mapped
  bool is_done = false;
  d_.buffer_manager.Delete(d_.alice, "far", [&](const absl::Status&) { is_done = true; });
  RunAll();
  EXPECT_TRUE(is_done);
  EXPECT_EQ(d_.executor->live_peers(), 0u);
  EXPECT_EQ(d_.executor->live_graphs(), 0u);
  EXPECT_EQ(d_.scheduler.running(0), 0u);
}

TEST_F(PeerCopiesTest, ANewExecutorMapsItAnew) {
  ASSERT_OK(SubmitText(Fetch()));
  RunAll();
  d_.executor->EndLaunch();
  d_.Lose();
  d_.Serve(std::make_shared<FakeExecutorClient>());
  ASSERT_OK_AND_ASSIGN(const JobId job, SubmitText(Fetch()));
  RunAll();
  EXPECT_THAT(d_.executor->TakeCalls(),
              ElementsAre("map #2 of device 1", "prepare g2", "launch g2"));
  d_.executor->EndLaunch();
  EXPECT_EQ(StateOf(job), JobState::kSucceeded);
}

TEST_F(PeerCopiesTest, TheExecutorOfTheMemorysDeviceNeedNotBeThere) {
  LosePeer();
  ASSERT_OK_AND_ASSIGN(const JobId job, SubmitText(Fetch()));
  RunAll();
  d_.executor->EndLaunch();
  EXPECT_EQ(StateOf(job), JobState::kSucceeded);
  EXPECT_OK(Delete("far"));
  EXPECT_EQ(d_.executor->live_peers(), 0u);
}

TEST_F(PeerCopiesTest, AnExecutorLostWhileItMapsIsReplacedAndTheJobRuns) {
  ASSERT_OK_AND_ASSIGN(const JobId job, SubmitText(Fetch()));
  d_.Lose();
  EXPECT_EQ(StateOf(job), JobState::kQueued);
  d_.Serve(std::make_shared<FakeExecutorClient>());
  RunAll();
  d_.executor->EndLaunch();
  EXPECT_EQ(StateOf(job), JobState::kSucceeded);
}

}  // namespace
}  // namespace weft::daemon
