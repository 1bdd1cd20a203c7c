// Copies between two devices of one server: jobs of one reach the buffers of the other, in order,
// and keep them through the loss of either executor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "tests/e2e/run_program.h"
#include "tests/e2e/weft_fixture.h"
#include "tests/testing/leak_baseline.h"
#include "tests/testing/status_matchers.h"

namespace weft::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::LeakBaseline;
using testing::StatusIs;

constexpr int64_t kBytes = 64;

class PeerCopyTest : public WeftTest {
 protected:
  void SetUp() override { Start(); }

  void Start(const std::vector<std::string>& flags = {}) {
    std::vector<std::string> all = {"--cpu-devices=2"};
    all.insert(all.end(), flags.begin(), flags.end());
    StartDaemon(all);
    client_.emplace(Connect());
  }

  client::Buffer Make(const std::string& name, uint32_t device,
                      v1::DataType type = v1::DATA_TYPE_U8, int64_t count = kBytes) const {
    auto buffer = client_->CreateBuffer({name, type, {count}, device});
    EXPECT_OK(buffer);
    return *std::move(buffer);
  }
  static std::vector<uint8_t> Numbers() {
    std::vector<uint8_t> bytes(kBytes);
    std::iota(bytes.begin(), bytes.end(), uint8_t{1});
    return bytes;
  }
  static std::vector<uint8_t> BytesOf(const client::Buffer& buffer) {
    std::vector<uint8_t> bytes(buffer.size_bytes());
    EXPECT_OK(buffer.Download(std::as_writable_bytes(std::span(bytes))));
    return bytes;
  }
  absl::Status Run(const std::string& job) const { return client_->Run(ParseJob(job)).status(); }

  // to = from, as a job of `device`.
  static std::string CopyJob(const std::string& from, const std::string& to, int device = 0) {
    return absl::Substitute(R"pb(
                              options { device: $2 }
                              buffers { name: "from" shared: "$0" }
                              buffers { name: "to" shared: "$1" }
                              nodes {
                                copy {
                                  src { buffer: "from" }
                                  dst { buffer: "to" }
                                }
                              })pb",
                            from, to, device);
  }

  int Pid(int device) const {
    const v1::ServerStatus now = AwaitServing(0);
    return static_cast<int>(now.devices(device).executor_pid());
  }
  // Until both executors serve, that of device 1 or 0 not as process `gone`.
  v1::ServerStatus AwaitServing(uint32_t gone) const {
    return AwaitStatus([gone](const v1::ServerStatus& now) {
      for (const auto& device : now.devices()) {
        if (device.executor_state() != v1::EXECUTOR_STATE_SERVING) return false;
        if (device.executor_pid() == gone) return false;
      }
      return now.devices_size() == 2;
    });
  }
  void ReplaceExecutor(int device) const {
    const int pid = Pid(device);
    ::kill(pid, SIGKILL);
    AwaitServing(static_cast<uint32_t>(pid));
  }

  std::optional<client::Client> client_;
};

TEST_F(PeerCopyTest, BytesGoThereAndBack) {
  const client::Buffer near = Make("near", 0);
  const client::Buffer far = Make("far", 1);
  const client::Buffer back = Make("back", 0);
  const std::vector<uint8_t> bytes = Numbers();
  ASSERT_OK(near.Upload(std::as_bytes(std::span(bytes))));
  ASSERT_OK(Run(CopyJob("near", "far")));
  EXPECT_EQ(BytesOf(far), bytes);
  ASSERT_OK(Run(CopyJob("far", "back")));
  EXPECT_EQ(BytesOf(back), bytes);
  // The other device may do it as well, also in the other direction.
  const std::vector<uint8_t> zeros(kBytes);
  ASSERT_OK(back.Upload(std::as_bytes(std::span(zeros))));
  ASSERT_OK(Run(CopyJob("near", "far", 1)));
  ASSERT_OK(Run(CopyJob("far", "back", 1)));
  EXPECT_EQ(BytesOf(back), bytes);
}

TEST_F(PeerCopyTest, RowsOfABoxGoThereAndBack) {
  const client::Buffer near = Make("near", 0);
  const client::Buffer far = Make("far", 1);
  const std::vector<uint8_t> bytes = Numbers();
  ASSERT_OK(near.Upload(std::as_bytes(std::span(bytes))));
  // Two slices of two rows of two bytes to far, in a row each of four; one row of those back.
  ASSERT_OK(Run(R"pb(
    buffers { name: "near" shared: "near" }
    buffers { name: "far" shared: "far" device: 1 }
    nodes {
      copy {
        src { buffer: "near" }
        dst { buffer: "far" }
        box {
          width_bytes: 2
          rows: 2
          slices: 2
          src_pitch_bytes: 8
          src_slice_rows: 4
          dst_pitch_bytes: 4
          dst_slice_rows: 2
        }
      }
    }
    nodes {
      copy {
        src { buffer: "far" offset_bytes: 8 }
        dst { buffer: "near" }
        box { width_bytes: 2 rows: 2 src_pitch_bytes: 4 dst_pitch_bytes: 2 }
      }
    })pb"));
  std::vector<uint8_t> read = BytesOf(far);
  read.resize(16);
  EXPECT_THAT(read, ElementsAre(1, 2, 0, 0, 9, 10, 0, 0, 33, 34, 0, 0, 41, 42, 0, 0));
  read = BytesOf(near);
  read.resize(6);
  EXPECT_THAT(read, ElementsAre(33, 34, 41, 42, 5, 6));
}

TEST_F(PeerCopyTest, EveryOtherUseIsRefusedAndTheNextJobRuns) {
  const client::Buffer far = Make("far", 1, v1::DATA_TYPE_U64, 2);
  const ProgramResult kernel = RunJob(SpinJob(0, "far"));
  EXPECT_EQ(kernel.exit_code, kBadInput);
  EXPECT_THAT(kernel.err,
              HasSubstr("buffer \"mark\" of device 1, but the job runs on device 0: only "
                        "copy nodes may use it"));
  EXPECT_EQ(RunCanary(), 0);
  EXPECT_THAT(Run(R"pb(
                buffers { name: "x" shared: "far" }
                nodes { fill { dst { buffer: "x" } } })pb"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("set options.device")));
  EXPECT_EQ(RunCanary(), 0);
  EXPECT_THAT(Run(R"pb(
                buffers { name: "x" shared: "far" device: 0 }
                nodes { empty {} })pb"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("but is on device 1")));
  EXPECT_EQ(RunCanary(), 0);
}

TEST_F(PeerCopyTest, ThePlanSaysFromAndToWhichDevice) {
  const client::Buffer near = Make("near", 0);
  const client::Buffer far = Make("far", 1);
  ASSERT_OK_AND_ASSIGN(const client::PreparedGraph fetch,
                       client_->Prepare(ParseJob(CopyJob("far", "near"))));
  EXPECT_THAT(fetch.plan_text(), HasSubstr("copy of 64 bytes from device 1;"));
  ASSERT_OK_AND_ASSIGN(const client::PreparedGraph send,
                       client_->Prepare(ParseJob(CopyJob("near", "far"))));
  EXPECT_THAT(send.plan_text(), HasSubstr("copy of 64 bytes to device 1;"));
}

TEST_F(PeerCopyTest, ABufferDeletedWhileItIsMappedLeavesNothing) {
  const client::Buffer near = Make("near", 0);
  const std::vector<uint8_t> bytes = Numbers();
  ASSERT_OK(near.Upload(std::as_bytes(std::span(bytes))));
  const auto once = [&] {
    const client::Buffer far = Make("far", 1);
    ASSERT_OK(Run(CopyJob("near", "far")));
    EXPECT_EQ(BytesOf(far), bytes);
    ASSERT_EQ(Weft({"delete", "far"}).exit_code, 0);
  };
  once();  // what is made at the first use stays
  const int near_pid = Pid(0);
  const int far_pid = Pid(1);
  std::optional<LeakBaseline> daemon_fds, near_fds, far_fds;
  // While the asker is connected, and nobody else but this test.
  const v1::ServerStatus before = AwaitStatus([&](const v1::ServerStatus& now) {
    daemon_fds = LeakBaseline::Take(daemon_->pid());
    near_fds = LeakBaseline::Take(near_pid);
    far_fds = LeakBaseline::Take(far_pid);
    return now.sessions() == 2;
  });
  for (int i = 0; i < 5; ++i) once();
  const v1::ServerStatus after = AwaitStatus([&](const v1::ServerStatus& now) {
    return now.sessions() == 2 && daemon_fds->Leaked().empty() && near_fds->Leaked().empty() &&
           far_fds->Leaked().empty();
  });
  EXPECT_EQ(after.buffer_bytes(), before.buffer_bytes());
  for (int device : {0, 1}) {
    EXPECT_EQ(after.devices(device).free_memory_bytes(),
              before.devices(device).free_memory_bytes());
  }
  EXPECT_EQ(RunCanary(), 0);
}

TEST_F(PeerCopyTest, NoExecutorThatIsLostTakesBytesAlong) {
  const client::Buffer near = Make("near", 0);
  const client::Buffer far = Make("far", 1);
  const std::vector<uint8_t> bytes = Numbers();
  ASSERT_OK(near.Upload(std::as_bytes(std::span(bytes))));
  ASSERT_OK(Run(CopyJob("near", "far")));
  ReplaceExecutor(0);  // which has mapped far
  EXPECT_EQ(BytesOf(far), bytes);
  ASSERT_OK(Run(CopyJob("far", "near")));
  EXPECT_EQ(BytesOf(near), bytes);
  ReplaceExecutor(1);  // whose memory it is
  ASSERT_OK(Run(CopyJob("far", "near")));
  EXPECT_EQ(BytesOf(near), bytes);
  ASSERT_OK(Run(CopyJob("near", "far", 1)));
  EXPECT_EQ(BytesOf(far), bytes);
  EXPECT_EQ(Weft({"delete", "far"}).exit_code, 0);
  EXPECT_EQ(RunCanary(), 0);
}

TEST_F(PeerCopyTest, AJobUnderWayGoesOnWithoutTheExecutorOfTheMemory) {
  const client::Buffer near = Make("near", 0);
  const client::Buffer far = Make("far", 1);
  const std::vector<uint8_t> bytes = Numbers();
  ASSERT_OK(far.Upload(std::as_bytes(std::span(bytes))));
  v1::Job job = ParseJob(CopyJob("far", "near"));
  const v1::Job spin = ParseJob(SpinJob(1'000'000'000));
  *job.add_buffers() = spin.buffers(0);
  *job.add_nodes() = spin.nodes(0);
  job.mutable_nodes(0)->add_after("spin");
  ASSERT_OK_AND_ASSIGN(const client::Job running, client_->Submit(std::move(job)));
  AwaitStatus([](const v1::ServerStatus& now) { return now.jobs_running() == 1; });
  ReplaceExecutor(1);
  EXPECT_OK(running.Wait());
  EXPECT_EQ(BytesOf(near), bytes);
}

TEST_F(PeerCopyTest, JobsOfBothDevicesTakeTurnsOnABuffer) {
  const client::Buffer far = Make("far", 1, v1::DATA_TYPE_F32, 1);
  float value = 1;
  ASSERT_OK(far.Upload(std::as_bytes(std::span(&value, 1))));
  std::vector<client::Job> jobs;
  for (uint32_t i = 0; i < 10; ++i) {
    v1::Job job = ParseJob(DoublingJob("far"));
    job.mutable_options()->set_device(i % 2);
    ASSERT_OK_AND_ASSIGN(client::Job submitted, client_->Submit(std::move(job)));
    jobs.push_back(std::move(submitted));
  }
  for (const client::Job& job : jobs) EXPECT_OK(job.Wait());
  ASSERT_OK(far.Download(std::as_writable_bytes(std::span(&value, 1))));
  EXPECT_EQ(value, 1024);
}

TEST_F(PeerCopyTest, WithoutPeerAccessTheJobFailsWithOneErrorAndTheNextRuns) {
  Start({"--cpu-faults=cuDeviceCanAccessPeer:1:PEER_ACCESS_UNSUPPORTED"});
  const client::Buffer near = Make("near", 0);
  const client::Buffer far = Make("far", 1);
  EXPECT_THAT(Run(CopyJob("far", "near")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("device 0 cannot reach the memory of device 1")));
  EXPECT_EQ(RunCanary(), 0);
  EXPECT_OK(Run(CopyJob("far", "near")));  // the second call of the function is answered
}

}  // namespace
}  // namespace weft::e2e
