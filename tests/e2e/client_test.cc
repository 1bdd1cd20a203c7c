// The client library against a real server.
#include "client/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "absl/synchronization/notification.h"
#include "client/job_builder.h"
#include "tests/e2e/weft_fixture.h"
#include "tests/testing/status_matchers.h"

namespace weft::e2e {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using testing::IsOkAndHolds;
using testing::StatusIs;

class ClientTest : public WeftTest {
 protected:
  void SetUp() override { StartDaemon(); }

  // y = 2 x, x uploaded (node "upload_x"), y downloaded.
  static client::JobBuilder Doubling(const std::vector<float>& values) {
    client::JobBuilder job("doubling");
    const client::Shape shape = {static_cast<int64_t>(values.size())};
    const client::JobView x = job.Upload("x", shape, std::span<const float>(values));
    const client::JobView y = job.Buffer("y", v1::DATA_TYPE_F32, shape);
    job.Kernel("scale").Arg("x", x).Arg("a", 2.0).Arg("y", y);
    job.Download("y", y);
    return job;
  }
  static std::vector<float> Read(const client::Buffer& buffer, size_t count) {
    std::vector<float> values(count);
    EXPECT_OK(buffer.Download(std::as_writable_bytes(std::span<float>(values))));
    return values;
  }
};

TEST_F(ClientTest, AJobGivesItsOutputs) {
  ASSERT_OK_AND_ASSIGN(const v1::JobResult result, Connect().Run(Doubling({1, 2}).proto()));
  EXPECT_EQ(result.info().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(client::OutputAs<float>(result, "y"), IsOkAndHolds(ElementsAre(2, 4)));
}

TEST_F(ClientTest, ARepeatedJobWithOtherBytesLaunchesTheSameGraph) {
  const client::Client client = Connect();
  ASSERT_OK_AND_ASSIGN(const v1::JobResult first, client.Run(Doubling({1, 2}).proto()));
  ASSERT_OK_AND_ASSIGN(const v1::JobResult second, client.Run(Doubling({5, 6}).proto()));
  EXPECT_FALSE(first.info().reused_graph());
  EXPECT_TRUE(second.info().reused_graph());
  EXPECT_THAT(client::OutputAs<float>(second, "y"), IsOkAndHolds(ElementsAre(10, 12)));
}

TEST_F(ClientTest, CompletionMayComeByACallback) {
  absl::Notification done;
  absl::StatusOr<v1::JobResult> result;
  const client::Client client = Connect();
  client.RunAsync(Doubling({4}).proto(), [&](absl::StatusOr<v1::JobResult> ended) {
    result = std::move(ended);
    done.Notify();
  });
  done.WaitForNotification();
  ASSERT_OK(result);
  EXPECT_THAT(client::OutputAs<float>(*result, "y"), IsOkAndHolds(ElementsAre(8)));
}

TEST_F(ClientTest, APreparedGraphTakesNewBytesAtEveryLaunch) {
  const client::Client client = Connect();
  ASSERT_OK_AND_ASSIGN(client::PreparedGraph graph, client.Prepare(Doubling({1, 2}).proto()));
  ASSERT_OK_AND_ASSIGN(const v1::JobResult as_prepared, graph.Launch());
  EXPECT_THAT(client::OutputAs<float>(as_prepared, "y"), IsOkAndHolds(ElementsAre(2, 4)));
  const std::vector<float> other = {10, 20};
  ASSERT_OK_AND_ASSIGN(const v1::JobResult changed,
                       graph.Launch({{"upload_x", std::as_bytes(std::span(other))}}));
  EXPECT_THAT(client::OutputAs<float>(changed, "y"), IsOkAndHolds(ElementsAre(20, 40)));
  const std::vector<float> wrong_size = {1};
  EXPECT_THAT(graph.Launch({{"upload_x", std::as_bytes(std::span(wrong_size))}}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_OK(graph.Release());
  EXPECT_THAT(graph.Launch(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(ClientTest, APreparedGraphEndsWithTheConnectionThatMadeIt) {
  v1::LaunchRequest launch;
  {
    const client::Client gone = Connect();
    v1::PrepareRequest prepare;
    *prepare.mutable_job() = Doubling({1}).proto();
    ASSERT_OK_AND_ASSIGN(const v1::PrepareResponse prepared, gone.connection().Prepare(prepare));
    launch.set_graph_id(prepared.graph_id());
  }
  AwaitStatus([](const v1::ServerStatus& now) { return now.sessions() == 1; });
  EXPECT_THAT(Connect().connection().Launch(launch), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ClientTest, ARetriedRequestRunsOnce) {
  const client::Client client = Connect();
  ASSERT_OK_AND_ASSIGN(const client::Buffer x, client.CreateBuffer({"x", v1::DATA_TYPE_F32, {1}}));
  const std::vector<float> one = {1};
  ASSERT_OK(x.Upload(std::as_bytes(std::span(one))));
  v1::SubmitRequest request;
  *request.mutable_job() = ParseJob(DoublingJob("x"));
  request.set_request_id(client::NewRequestId());
  request.set_wait(true);
  ASSERT_OK_AND_ASSIGN(const v1::SubmitResponse first, client.connection().Submit(request));
  ASSERT_OK_AND_ASSIGN(const v1::SubmitResponse again, Connect().connection().Submit(request));
  EXPECT_EQ(again.job_id(), first.job_id());
  EXPECT_EQ(again.result().info().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(Read(x, 1), ElementsAre(2));
}

TEST_F(ClientTest, ANewBufferReadsAsZerosAndAnUnnamedOneEndsWithItsSession) {
  {
    const client::Client client = Connect();
    ASSERT_OK_AND_ASSIGN(const client::Buffer named,
                         client.CreateBuffer({"kept", v1::DATA_TYPE_F32, {4}}));
    EXPECT_THAT(Read(named, 4), Each(0));
    v1::CreateBufferRequest unnamed;
    unnamed.set_data_type(v1::DATA_TYPE_F32);
    unnamed.add_shape(4);
    ASSERT_OK(client.connection().CreateBuffer(unnamed));
    EXPECT_EQ(client.GetStatus()->buffers(), 2u);
  }
  AwaitStatus([](const v1::ServerStatus& now) { return now.buffers() == 1; });
  EXPECT_OK(Connect().OpenBuffer("kept"));
}

TEST_F(ClientTest, ABufferInUseIsNotDeleted) {
  const client::Client client = Connect();
  ASSERT_OK_AND_ASSIGN(client::Buffer mark, client.CreateBuffer({"mark", v1::DATA_TYPE_U64, {2}}));
  ASSERT_OK_AND_ASSIGN(const client::Job job,
                       client.Submit(ParseJob(SpinJob(200'000'000, "mark"))));
  EXPECT_THAT(mark.Delete(), StatusIs(absl::StatusCode::kFailedPrecondition));
  ASSERT_OK(job.Wait());
  EXPECT_OK(mark.Delete());
}

TEST_F(ClientTest, AJobThatIsStillQueuedAtItsDeadlineEndsThere) {
  const client::Client client = Connect();
  ASSERT_OK_AND_ASSIGN(const client::Buffer mark,
                       client.CreateBuffer({"mark", v1::DATA_TYPE_U64, {2}}));
  ASSERT_OK_AND_ASSIGN(const client::Job busy,
                       client.Submit(ParseJob(SpinJob(400'000'000, "mark"))));
  v1::Job late = ParseJob(SpinJob(0, "mark"));
  late.mutable_options()->set_deadline_ms(20);
  EXPECT_THAT(client.Run(late), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_OK(busy.Wait());
}

TEST_F(ClientTest, AWatcherGetsTheLastStateAlways) {
  const client::Client client = Connect();
  ASSERT_OK_AND_ASSIGN(const client::Job job, client.Submit(ParseJob(SpinJob(50'000'000))));
  std::vector<v1::JobState> states;
  ASSERT_OK(job.Watch([&](const v1::JobInfo& info) {
    states.push_back(info.state());
    return client::WatchNext::kContinue;
  }));
  ASSERT_FALSE(states.empty());
  EXPECT_EQ(states.back(), v1::JOB_STATE_SUCCEEDED);
}

}  // namespace
}  // namespace weft::e2e
