#include "client/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/mock_connection.h"
#include "tests/testing/status_matchers.h"

namespace weft::client {
namespace {

using ::testing::_;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Return;
using ::testing::StrictMock;
using weft::testing::IsOk;
using weft::testing::StatusIs;

class ClientTest : public ::testing::Test {
 protected:
  std::shared_ptr<StrictMock<MockConnection>> connection_ =
      std::make_shared<StrictMock<MockConnection>>();
  Client client_{connection_};
};

v1::JobResult Succeeded() {
  v1::JobResult result;
  result.mutable_info()->set_id("7");
  result.mutable_info()->set_state(v1::JOB_STATE_SUCCEEDED);
  v1::JobOutput& output = *result.add_outputs();
  output.set_name("y");
  output.set_data(std::string("\x01\x00\x02\x00", 4));
  return result;
}

v1::JobResult Failed() {
  v1::JobResult result;
  result.mutable_info()->set_id("7");
  result.mutable_info()->set_name("edges");
  result.mutable_info()->set_state(v1::JOB_STATE_FAILED);
  v1::JobError& error = *result.mutable_info()->mutable_error();
  error.set_code(static_cast<int>(absl::StatusCode::kInternal));
  error.set_node("blur");
  error.set_message("illegal address");
  return result;
}

TEST_F(ClientTest, RunSubmitsAndWaitsInOneCallWithARequestId) {
  v1::SubmitRequest sent;
  EXPECT_CALL(*connection_, Submit).WillOnce([&sent](const v1::SubmitRequest& request) {
    sent = request;
    v1::SubmitResponse response;
    *response.mutable_result() = Succeeded();
    return response;
  });
  v1::Job job;
  job.set_name("edges");
  ASSERT_OK_AND_ASSIGN(const v1::JobResult result, client_.Run(job));
  EXPECT_TRUE(sent.wait());
  EXPECT_EQ(sent.request_id().size(), 32u);
  EXPECT_EQ(sent.job().name(), "edges");
  ASSERT_OK_AND_ASSIGN(const std::vector<int16_t> elements, OutputAs<int16_t>(result, "y"));
  EXPECT_THAT(elements, ElementsAre(1, 2));
}

TEST_F(ClientTest, AFailedJobIsAnErrorThatNamesJobNodeAndCause) {
  v1::SubmitResponse response;
  *response.mutable_result() = Failed();
  EXPECT_CALL(*connection_, Submit).WillOnce(Return(response));
  EXPECT_THAT(client_.Run({}), StatusIs(absl::StatusCode::kInternal,
                                        "job 7 (\"edges\") failed at node \"blur\": illegal "
                                        "address"));
}

TEST_F(ClientTest, RunAsyncDeliversTheResultOfTheJob) {
  EXPECT_CALL(*connection_, SubmitAsync).WillOnce([](const v1::SubmitRequest&, auto done) {
    v1::SubmitResponse response;
    *response.mutable_result() = Failed();
    done(response);
  });
  absl::StatusOr<v1::JobResult> result = absl::UnknownError("not called");
  client_.RunAsync({}, [&result](absl::StatusOr<v1::JobResult> done) { result = std::move(done); });
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kInternal));
}

TEST_F(ClientTest, WaitSendsItsLimitAsAtLeastAMillisecond) {
  v1::WaitRequest sent;
  EXPECT_CALL(*connection_, Wait).WillOnce([&sent](const v1::WaitRequest& request) {
    sent = request;
    return absl::DeadlineExceededError("later");
  });
  EXPECT_THAT(client_.FindJob("7").Wait(absl::Microseconds(1)),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(sent.job_id(), "7");
  EXPECT_EQ(sent.timeout_ms(), 1u);
}

TEST(StatusOfJobTest, EveryStateHasItsError) {
  v1::JobInfo info;
  info.set_id("7");
  const std::vector<std::pair<v1::JobState, absl::StatusCode>> expected = {
      {v1::JOB_STATE_QUEUED, absl::StatusCode::kFailedPrecondition},
      {v1::JOB_STATE_RUNNING, absl::StatusCode::kFailedPrecondition},
      {v1::JOB_STATE_SUCCEEDED, absl::StatusCode::kOk},
      {v1::JOB_STATE_FAILED, absl::StatusCode::kUnknown},
      {v1::JOB_STATE_CANCELLED, absl::StatusCode::kCancelled},
      {v1::JOB_STATE_DEADLINE_EXCEEDED, absl::StatusCode::kDeadlineExceeded},
      {v1::JOB_STATE_ABORTED, absl::StatusCode::kAborted}};
  for (const auto& [state, code] : expected) {
    info.set_state(state);
    EXPECT_EQ(StatusOfJob(info).code(), code) << v1::JobState_Name(state);
  }
}

TEST(FindOutputTest, AnUnknownNameListsThoseThereAre) {
  EXPECT_THAT(FindOutput(Succeeded(), "z"),
              StatusIs(absl::StatusCode::kNotFound, AllOf(HasSubstr("\"z\""), HasSubstr("y"))));
  EXPECT_THAT(FindOutput({}, "z"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("has none")));
}

class BufferTest : public ClientTest {
 protected:
  Buffer Make(uint64_t id, const std::string& name) {
    v1::BufferInfo info;
    info.set_id(id);
    info.set_name(name);
    info.set_size_bytes(4);
    return Buffer(connection_, info);
  }
  // The next DeleteBuffer must be for `id`.
  void ExpectDelete(uint64_t id) {
    EXPECT_CALL(*connection_, DeleteBuffer(::testing::ResultOf(
                                  [](const auto& request) { return request.buffer().id(); }, id)))
        .WillOnce(Return(v1::DeleteBufferResponse()));
  }
};

TEST_F(BufferTest, AnUnnamedBufferIsDeletedWithItsHandle) {
  ExpectDelete(3);
  const Buffer buffer = Make(3, "");
  EXPECT_EQ(buffer.reference(), "#3");
}

TEST_F(BufferTest, ANamedBufferStaysWhenItsHandleGoes) {
  EXPECT_CALL(*connection_, DeleteBuffer).Times(0);
  const Buffer buffer = Make(3, "weights");
  EXPECT_EQ(buffer.reference(), "weights");
}

TEST_F(BufferTest, MoveAssignmentDeletesTheOldAndSurvivesSelfMove) {
  Buffer a = Make(1, "");
  Buffer b = Make(2, "");
  ExpectDelete(1);
  a = std::move(b);
  Buffer& self = a;
  a = std::move(self);
  EXPECT_EQ(a.reference(), "#2");
  EXPECT_THAT(b.Delete(), StatusIs(absl::StatusCode::kFailedPrecondition));  // moved from
  ExpectDelete(2);
}

TEST_F(BufferTest, AFailedDeleteLeavesItUsable) {
  Buffer buffer = Make(3, "weights");
  EXPECT_CALL(*connection_, DeleteBuffer)
      .WillOnce(Return(absl::FailedPreconditionError("in use")))
      .WillOnce(Return(v1::DeleteBufferResponse()));
  EXPECT_THAT(buffer.Delete(), StatusIs(absl::StatusCode::kFailedPrecondition, "in use"));
  EXPECT_OK(buffer.Delete());
  EXPECT_THAT(buffer.Delete(), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(buffer.Upload({}), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(BufferTest, DownloadFillsTheSpanFromChunks) {
  EXPECT_CALL(*connection_, Read).WillOnce([](const v1::ReadBufferRequest& request, auto& chunk) {
    EXPECT_EQ(request.offset_bytes(), 1u);
    EXPECT_EQ(request.size_bytes(), 3u);
    EXPECT_OK(chunk("ab"));
    return chunk("c");
  });
  std::string bytes(3, ' ');
  EXPECT_OK(Make(3, "w").Download(std::as_writable_bytes(std::span(bytes)), 1));
  EXPECT_EQ(bytes, "abc");
}

TEST_F(BufferTest, DownloadRefusesMoreAndFewerBytesThanAsked) {
  std::string bytes(2, ' ');
  const auto span = std::as_writable_bytes(std::span(bytes));
  EXPECT_CALL(*connection_, Read)
      .WillOnce([](const v1::ReadBufferRequest&, auto& chunk) { return chunk("abc"); })
      .WillOnce([](const v1::ReadBufferRequest&, auto& chunk) { return chunk("a"); });
  const Buffer buffer = Make(3, "w");
  EXPECT_THAT(buffer.Download(span), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(bytes, "  ");
  EXPECT_THAT(buffer.Download(span), StatusIs(absl::StatusCode::kDataLoss));
}

class PreparedGraphTest : public ClientTest {
 protected:
  PreparedGraph Make(const std::string& id) {
    v1::PrepareResponse prepared;
    prepared.set_graph_id(id);
    return PreparedGraph(connection_, prepared);
  }
  void ExpectRelease(const std::string& id) {
    EXPECT_CALL(*connection_, Release(::testing::ResultOf(
                                  [](const auto& request) { return request.graph_id(); }, id)))
        .WillOnce(Return(v1::ReleaseResponse()));
  }
};

TEST_F(PreparedGraphTest, LaunchSendsTheNewBytesByNode) {
  v1::LaunchRequest sent;
  EXPECT_CALL(*connection_, Launch).WillOnce([&sent](const v1::LaunchRequest& request) {
    sent = request;
    v1::LaunchResponse response;
    *response.mutable_result() = Succeeded();
    return response;
  });
  ExpectRelease("g");
  const PreparedGraph graph = Make("g");
  const std::string bytes = "abc";
  EXPECT_OK(graph.Launch({{"upload_x", std::as_bytes(std::span(bytes))}}));
  EXPECT_EQ(sent.graph_id(), "g");
  EXPECT_TRUE(sent.wait());
  ASSERT_EQ(sent.uploads_size(), 1);
  EXPECT_EQ(sent.uploads(0).node(), "upload_x");
  EXPECT_EQ(sent.uploads(0).data(), "abc");
}

TEST_F(PreparedGraphTest, MoveAssignmentReleasesTheOldAndSurvivesSelfMove) {
  PreparedGraph a = Make("a");
  PreparedGraph b = Make("b");
  ExpectRelease("a");
  a = std::move(b);
  PreparedGraph& self = a;
  a = std::move(self);
  EXPECT_EQ(a.id(), "b");
  EXPECT_THAT(b.Launch(), StatusIs(absl::StatusCode::kFailedPrecondition));  // moved from
  ExpectRelease("b");
}

}  // namespace
}  // namespace weft::client
