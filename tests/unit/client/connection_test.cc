#include "client/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/synchronization/notification.h"
#include "base/error_context.h"
#include "client/client.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"
#include "tests/unit/client/fake_server.h"

namespace weft::client {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using weft::testing::StatusIs;

class ConnectionTest : public ::testing::Test {
 protected:
  ConnectionTest() { StartServer(); }

  void StartServer() { server_.emplace(socket_); }
  void StopServer() { server_.reset(); }

  std::shared_ptr<Connection> Connect(absl::Duration retry_total = absl::Seconds(20)) {
    ConnectionOptions options;
    options.socket = socket_;
    options.retry = {absl::Milliseconds(1), absl::Milliseconds(10), retry_total};
    options.chunk_bytes = 4;
    auto connection = ConnectOverGrpc(options);
    EXPECT_OK(connection);
    return connection.ok() ? *connection : nullptr;
  }

  weft::testing::TempDir dir_;
  std::string socket_ = dir_.File("weftd.sock");
  std::optional<FakeServer> server_;
};

TEST_F(ConnectionTest, ARetryAfterALostAnswerDoesNotRunTheJobTwice) {
  server_->jobs.LoseAnswers(2);
  ASSERT_OK(Client(Connect()).Run({}));
  EXPECT_EQ(server_->jobs.submissions(), 3);
  EXPECT_EQ(server_->jobs.jobs(), 1);
}

TEST_F(ConnectionTest, AnyCharacterMayBeInThePathOfASocket) {
  // gRPC takes a URI, where these have a meaning.
  std::filesystem::create_symlink(dir_.path(), dir_.File("a %41?#"));
  socket_ = dir_.File("a %41?#/weftd.sock");
  EXPECT_OK(Client(Connect()).Run({}));
}

TEST_F(ConnectionTest, ASubmissionWithoutARequestIdIsNotRetried) {
  server_->jobs.LoseAnswers(1);
  EXPECT_THAT(Connect()->Submit({}), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(server_->jobs.submissions(), 1);
}

TEST_F(ConnectionTest, RetriesEndAfterTheirTotal) {
  server_->jobs.LoseAnswers(1000);
  EXPECT_THAT(Client(Connect(absl::Milliseconds(300))).Run({}),
              StatusIs(absl::StatusCode::kUnavailable, "the answer was lost"));
  EXPECT_GT(server_->jobs.submissions(), 1);
}

TEST_F(ConnectionTest, OtherErrorsAreNotRetried) {
  server_->jobs.RefuseNext({grpc::StatusCode::RESOURCE_EXHAUSTED, "the queue is full"});
  EXPECT_THAT(Client(Connect()).Run({}),
              StatusIs(absl::StatusCode::kResourceExhausted, "the queue is full"));
  EXPECT_EQ(server_->jobs.submissions(), 1);
}

TEST_F(ConnectionTest, FieldViolationsArriveWithTheError) {
  google::rpc::BadRequest bad_request;
  bad_request.add_field_violations()->set_field("nodes[3].kernel");
  google::rpc::Status rich;
  rich.add_details()->PackFrom(bad_request);
  server_->jobs.RefuseNext(
      {grpc::StatusCode::INVALID_ARGUMENT, "one fault", rich.SerializeAsString()});
  const absl::Status status = Client(Connect()).Submit({}).status();
  EXPECT_THAT(ViolationsOf(status), ElementsAre(FieldViolation{"nodes[3].kernel", ""}));
}

TEST_F(ConnectionTest, CallsAfterARestartOfTheServerConnectAnew) {
  const Client client(Connect());
  ASSERT_OK(client.Run({}));
  StopServer();
  StartServer();
  EXPECT_OK(client.Run({}));
}

TEST_F(ConnectionTest, AnAbsentServerIsNamedWithWhatToDo) {
  const std::shared_ptr<Connection> connection = Connect(absl::Milliseconds(1));
  StopServer();
  EXPECT_THAT(connection->Wait({}), StatusIs(absl::StatusCode::kUnavailable,
                                             AllOf(HasSubstr(socket_), HasSubstr("`weftd`"))));
  ConnectionOptions options;
  options.socket = dir_.File("none.sock");
  EXPECT_THAT(ConnectOverGrpc(options), StatusIs(absl::StatusCode::kUnavailable,
                                                 AllOf(HasSubstr("no weftd at " + options.socket),
                                                       HasSubstr("weft run --local"))));
}

TEST_F(ConnectionTest, AsyncCallsRetryTooAndCallBackOnce) {
  server_->jobs.LoseAnswers(2);
  absl::Notification done;
  absl::StatusOr<v1::JobResult> result = absl::UnknownError("not called");
  {
    // The connection lives until the callback was called, although its owner is gone.
    Client(Connect()).RunAsync({}, [&](absl::StatusOr<v1::JobResult> answer) {
      result = std::move(answer);
      done.Notify();
    });
  }
  done.WaitForNotification();
  EXPECT_OK(result);
  EXPECT_EQ(server_->jobs.submissions(), 3);
  EXPECT_EQ(server_->jobs.jobs(), 1);
}

TEST_F(ConnectionTest, OnDoneCallsBackWithTheResult) {
  absl::Notification done;
  absl::StatusOr<v1::JobResult> result = absl::UnknownError("not called");
  Client(Connect()).FindJob("5").OnDone([&](absl::StatusOr<v1::JobResult> answer) {
    result = std::move(answer);
    done.Notify();
  });
  done.WaitForNotification();
  ASSERT_OK(result);
  EXPECT_EQ(result->info().id(), "5");
}

TEST_F(ConnectionTest, AWatchThatBreaksGoesOnWithoutRepeatingAState) {
  server_->jobs.SetWatchStreams({{v1::JOB_STATE_QUEUED},
                                 {v1::JOB_STATE_QUEUED, v1::JOB_STATE_RUNNING},
                                 {v1::JOB_STATE_RUNNING, v1::JOB_STATE_SUCCEEDED}});
  std::vector<v1::JobState> states;
  EXPECT_OK(Client(Connect()).FindJob("5").Watch([&states](const v1::JobInfo& info) {
    states.push_back(info.state());
    return WatchNext::kContinue;
  }));
  EXPECT_THAT(states,
              ElementsAre(v1::JOB_STATE_QUEUED, v1::JOB_STATE_RUNNING, v1::JOB_STATE_SUCCEEDED));
}

TEST_F(ConnectionTest, AWatchThatBreaksGoesOnWithoutRepeatingAnOutput) {
  server_->jobs.SetWatchStreams({{v1::JOB_STATE_RUNNING, "a"},
                                 {v1::JOB_STATE_RUNNING, "a", "b"},
                                 {"a", "b", "c", v1::JOB_STATE_SUCCEEDED}});
  std::vector<std::string> told;
  EXPECT_OK(Client(Connect()).FindJob("5").Watch(
      [&told](const v1::JobInfo& info) {
        told.push_back(v1::JobState_Name(info.state()));
        return WatchNext::kContinue;
      },
      [&told](const v1::JobOutput& output) {
        told.push_back(output.name());
        return WatchNext::kContinue;
      }));
  EXPECT_THAT(told, ElementsAre("JOB_STATE_RUNNING", "a", "b", "c", "JOB_STATE_SUCCEEDED"));
}

TEST_F(ConnectionTest, AWatchEndsAtAnOutputWhereItsCallbackSaysSo) {
  server_->jobs.SetWatchStreams({{v1::JOB_STATE_RUNNING, "a", "b"}, {}});
  int outputs = 0;
  EXPECT_OK(
      Client(Connect()).FindJob("5").Watch([](const v1::JobInfo&) { return WatchNext::kContinue; },
                                           [&outputs](const v1::JobOutput&) {
                                             ++outputs;
                                             return WatchNext::kStop;
                                           }));
  EXPECT_EQ(outputs, 1);
}

TEST_F(ConnectionTest, AWatchEndsWhereItsCallbackSaysSo) {
  server_->jobs.SetWatchStreams({{v1::JOB_STATE_QUEUED, v1::JOB_STATE_RUNNING}, {}});
  int states = 0;
  EXPECT_OK(Client(Connect()).FindJob("5").Watch([&states](const v1::JobInfo&) {
    ++states;
    return WatchNext::kStop;
  }));
  EXPECT_EQ(states, 1);
}

TEST_F(ConnectionTest, AWatchOfAnUnknownJobIsItsError) {
  EXPECT_THAT(
      Client(Connect()).FindJob("5").Watch([](const v1::JobInfo&) { return WatchNext::kContinue; }),
      StatusIs(absl::StatusCode::kNotFound, "no such job"));
}

TEST_F(ConnectionTest, WriteSendsChunksBehindItsOffset) {
  const std::string bytes = "0123456789";
  ASSERT_OK_AND_ASSIGN(const v1::WriteBufferResponse response,
                       Connect()->Write({}, 2, std::as_bytes(std::span(bytes))));
  EXPECT_EQ(response.written_bytes(), 12u);
  EXPECT_EQ(server_->buffers.bytes(), std::string(2, '\0') + bytes);
  EXPECT_EQ(server_->buffers.writes(), 3);  // of at most 4 bytes
}

TEST_F(ConnectionTest, AWriteOfNothingIsStillCheckedByTheServer) {
  ASSERT_OK(Connect()->Write({}, 0, {}));
  EXPECT_EQ(server_->buffers.writes(), 1);
}

TEST_F(ConnectionTest, AReadStopsAtTheErrorOfItsCallback) {
  const std::string bytes = "0123456789";
  const std::shared_ptr<Connection> connection = Connect();
  ASSERT_OK(connection->Write({}, 0, std::as_bytes(std::span(bytes))));
  std::string read;
  EXPECT_OK(connection->Read({}, [&read](absl::string_view chunk) {
    read.append(chunk.data(), chunk.size());
    return absl::OkStatus();
  }));
  EXPECT_EQ(read, bytes);
  EXPECT_THAT(connection->Read({}, [](absl::string_view) { return absl::DataLossError("enough"); }),
              StatusIs(absl::StatusCode::kDataLoss, "enough"));
}

TEST_F(ConnectionTest, CreateBufferIsNotRetried) {
  EXPECT_THAT(Connect()->CreateBuffer({}), StatusIs(absl::StatusCode::kUnavailable));
}

TEST(RequestIdTest, NoTwoAreEqual) {
  std::set<std::string> ids;
  for (int i = 0; i < 100; ++i) ids.insert(NewRequestId());
  EXPECT_EQ(ids.size(), 100u);
}

}  // namespace
}  // namespace weft::client
