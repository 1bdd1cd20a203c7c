// The public API over a real connection, with a fake executor behind it.
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "base/error_context.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/daemon/api_server.h"
#include "server/daemon/buffer_service.h"
#include "server/daemon/device_service.h"
#include "server/daemon/errors.h"
#include "server/daemon/graph_service.h"
#include "server/daemon/job_service.h"
#include "server/daemon/listener.h"
#include "server/daemon/request_context.h"
#include "server/daemon/socket_file.h"
#include "tests/testing/temp_dir.h"
#include "tests/unit/daemon/daemon_parts.h"
#include "transport/ready_word.h"
#include "weft/config/v1/daemon_config.pb.h"
#include "weft/v1/service.grpc.pb.h"

namespace weft::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

google::rpc::BadRequest BadRequestOf(const grpc::Status& status) {
  google::rpc::Status rich;
  google::rpc::BadRequest bad_request;
  EXPECT_TRUE(rich.ParseFromString(status.error_details()));
  EXPECT_TRUE(rich.details_size() == 1 && rich.details(0).UnpackTo(&bad_request));
  return bad_request;
}

TEST(RequestContextTest, ViolationsTravelAsBadRequest) {
  const grpc::Status status = ToGrpc(InvalidArgumentError({{"a", "is bad."}, {"b", "is worse."}}));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  const google::rpc::BadRequest bad_request = BadRequestOf(status);
  ASSERT_EQ(bad_request.field_violations_size(), 2);
  EXPECT_EQ(bad_request.field_violations(1).field(), "b");
  EXPECT_EQ(bad_request.field_violations(1).description(), "is worse.");
}

TEST(RequestContextTest, StatusesStayWithinWhatClientsAccept) {
  std::vector<FieldViolation> violations;
  for (int i = 0; i < 64; ++i) violations.push_back({"f", std::string(500, 'x')});
  const grpc::Status status = ToGrpc(InvalidArgumentError(violations));
  EXPECT_LT(status.error_message().size() + status.error_details().size(), 8000u);
  const google::rpc::BadRequest bad_request = BadRequestOf(status);
  EXPECT_THAT(bad_request.field_violations(bad_request.field_violations_size() - 1).description(),
              HasSubstr("more violations"));
}

TEST(RequestContextTest, ALongTextIsCutBetweenCharacters) {
  const std::string kept(1023, 'x');
  const absl::Status status = absl::InternalError(absl::StrCat(kept, "é and more"));
  EXPECT_EQ(ToGrpc(status).error_message(), absl::StrCat(kept, "…"));
}

class ServicesTest : public ::testing::Test {
 protected:
  ServicesTest() {
    d_.executor->launch_at_once = true;
    server_ = *ApiServer::Start(
        {.jobs = jobs_, .buffers = buffers_, .graphs = graphs_, .devices = devices_}, 1 << 20);
    server_->SetHealth(ApiServer::Health::kServing);
    socket_ = *SocketFile::Listen(dir_.File("s"), 0600);
    listener_ = *Listener::Start(
        socket_->fd(), d_.sessions, [this](int fd) { server_->HandOver(fd); },
        [this](SessionId session) {
          d_.graphs.EndSession(session);
          d_.buffer_manager.EndSession(session);
          if (!ended_.HasBeenNotified()) ended_.Notify();
        });
    channel_ = Connect();
  }
  ~ServicesTest() override {
    channel_ = nullptr;
    listener_->Stop();
    server_->Stop(absl::ZeroDuration());
  }

  std::shared_ptr<grpc::Channel> Connect() {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
    return grpc::CreateCustomChannel(absl::StrCat("unix:", socket_->path()),
                                     grpc::InsecureChannelCredentials(), arguments);
  }

  grpc::Status Submit(const v1::Job& job, bool wait, v1::SubmitResponse& response) {
    grpc::ClientContext context;
    v1::SubmitRequest request;
    *request.mutable_job() = job;
    request.set_wait(wait);
    return v1::JobService::NewStub(channel_)->Submit(&context, request, &response);
  }
  grpc::Status CreateBuffer(const std::string& name, v1::CreateBufferResponse& response) {
    grpc::ClientContext context;
    v1::CreateBufferRequest request;
    request.set_name(name);
    request.add_shape(1024);
    return v1::BufferService::NewStub(channel_)->Create(&context, request, &response);
  }
  // One message each way, as bytes.
  std::string RawCall(const std::string& method, const std::string& bytes);

  weft::testing::TempDir dir_;
  DaemonParts d_{FakeExecutorClient::Mode::kAutomatic};
  ServerState state_{d_.clock};
  config::v1::DaemonConfig config_;
  JobService jobs_{{.sessions = d_.sessions,
                    .manager = d_.manager,
                    .table = d_.table,
                    .compiler = d_.compiler,
                    .timers = d_.timers,
                    .workers = d_.workers}};
  BufferService buffers_{{.sessions = d_.sessions,
                          .manager = d_.buffer_manager,
                          .registry = d_.buffers,
                          .state = state_}};
  GraphService graphs_{{.sessions = d_.sessions,
                        .manager = d_.manager,
                        .table = d_.table,
                        .compiler = d_.compiler,
                        .cache = d_.cache,
                        .graphs = d_.graphs,
                        .executors = d_.executors,
                        .timers = d_.timers,
                        .workers = d_.workers,
                        .state = state_}};
  DeviceService devices_{{.sessions = d_.sessions,
                          .executors = d_.executors,
                          .table = d_.table,
                          .buffers = d_.buffers,
                          .cache = d_.cache,
                          .config = config_,
                          .state = state_}};
  absl::Notification ended_;
  std::unique_ptr<ApiServer> server_;
  std::unique_ptr<SocketFile> socket_;
  std::unique_ptr<Listener> listener_;
  std::shared_ptr<grpc::Channel> channel_;
};

std::string ServicesTest::RawCall(const std::string& method, const std::string& bytes) {
  grpc::GenericStub stub(channel_);
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  const auto next = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    return ok;
  };
  auto call = stub.PrepareCall(&context, method, &queue);
  call->StartCall(nullptr);
  EXPECT_TRUE(next());
  const grpc::Slice slice(bytes);
  call->WriteLast(grpc::ByteBuffer(&slice, 1), grpc::WriteOptions(), nullptr);
  EXPECT_TRUE(next());
  grpc::ByteBuffer reply;
  call->Read(&reply, nullptr);
  EXPECT_TRUE(next());
  grpc::Status status;
  call->Finish(&status, nullptr);
  EXPECT_TRUE(next());
  EXPECT_TRUE(status.ok()) << status.error_message();
  grpc::Slice whole;
  EXPECT_TRUE(!reply.Valid() || reply.DumpToSingleSlice(&whole).ok());
  return std::string(reinterpret_cast<const char*>(whole.begin()), whole.size());
}

TEST_F(ServicesTest, SubmitWithWaitAnswersWithTheResultOfTheCallersJob) {
  d_.executor->on_launch = [](const transport::SharedMemory& staging) {
    std::memcpy(staging.data() + 256, staging.data(), 4);
  };
  v1::SubmitResponse response;
  const grpc::Status status = Submit(EchoJob(), true, response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.result().info().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(response.result().info().owner_uid(), ::geteuid());
  EXPECT_EQ(response.result().info().id(), response.job_id());
  ASSERT_EQ(response.result().outputs_size(), 1);
  EXPECT_EQ(response.result().outputs(0).data(), "abcd");
}

TEST_F(ServicesTest, AnInvalidJobIsRefusedWithTheFieldAndTheNextOneRuns) {
  v1::Job job = EchoJob();
  job.mutable_nodes(0)->mutable_upload()->set_data("too long");
  v1::SubmitResponse response;
  const grpc::Status status = Submit(job, true, response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  ASSERT_EQ(BadRequestOf(status).field_violations_size(), 1);
  EXPECT_THAT(BadRequestOf(status).field_violations(0).field(), HasSubstr("nodes[0].upload"));
  EXPECT_TRUE(Submit(EchoJob(), true, response).ok());
}

TEST_F(ServicesTest, ARequestIdThatIsTooLongIsRefused) {
  grpc::ClientContext context;
  v1::SubmitRequest request;
  v1::SubmitResponse response;
  request.set_request_id(std::string(65, 'x'));
  const grpc::Status status =
      v1::JobService::NewStub(channel_)->Submit(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ServicesTest, AListingOfMoreStatesThanThereAreIsRefused) {
  grpc::ClientContext context;
  v1::ListJobsRequest request;
  for (int i = 0; i < 8; ++i) request.add_states(v1::JOB_STATE_QUEUED);
  v1::ListJobsResponse response;
  const grpc::Status status = v1::JobService::NewStub(channel_)->List(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("there are 7 states"));
}

TEST_F(ServicesTest, WatchTellsTheStatesUpToTheLast) {
  d_.executor->launch_at_once = false;
  v1::SubmitResponse submitted;
  ASSERT_TRUE(Submit(EchoJob(), false, submitted).ok());
  grpc::ClientContext context;
  v1::WatchRequest request;
  request.set_job_id(submitted.job_id());
  const auto stub = v1::JobService::NewStub(channel_);
  const auto stream = stub->Watch(&context, request);
  v1::WatchResponse response;
  std::vector<v1::JobState> states;
  while (stream->Read(&response)) {
    states.push_back(response.info().state());
    if (states.back() == v1::JOB_STATE_RUNNING) d_.executor->EndLaunch();
  }
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(states.back(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(states[states.size() - 2], v1::JOB_STATE_RUNNING);
}

// One watcher from the start, and one that comes when the job has failed.
TEST_F(ServicesTest, WatchTellsEveryDeliveredOutputOnceBeforeTheTerminalState) {
  d_.executor->launch_at_once = false;
  v1::Job job = EchoJob();
  job.mutable_nodes(1)->mutable_download()->set_delivery(v1::DownloadNode::DELIVERY_WHEN_READY);
  v1::SubmitResponse submitted;
  ASSERT_TRUE(Submit(job, false, submitted).ok());
  const auto stub = v1::JobService::NewStub(channel_);
  v1::WatchRequest request;
  request.set_job_id(submitted.job_id());
  for (const bool late : {false, true}) {
    grpc::ClientContext context;
    const auto stream = stub->Watch(&context, request);
    v1::WatchResponse response;
    std::vector<std::string> told;
    while (stream->Read(&response)) {
      if (response.has_output()) {
        EXPECT_FALSE(response.has_info());
        told.push_back(response.output().data());
        if (!late) d_.executor->EndLaunch({.code = absl::StatusCode::kInternal});
      } else if (response.info().state() == v1::JOB_STATE_RUNNING) {
        d_.executor->GiveNotice([](const transport::SharedMemory& staging) {
          std::memcpy(staging.data() + 256, "abcd", 4);
          *transport::ReadyWord(staging.data(), 260) = transport::kOutputReady;
        });
      } else if (response.info().state() != v1::JOB_STATE_QUEUED) {
        told.push_back(v1::JobState_Name(response.info().state()));
      }
    }
    EXPECT_TRUE(stream->Finish().ok());
    EXPECT_THAT(told, ElementsAre("abcd", "JOB_STATE_FAILED"));
  }
}

TEST_F(ServicesTest, WaitGivesUpAfterItsTimeoutAndTheJobGoesOn) {
  d_.executor->launch_at_once = false;
  v1::SubmitResponse submitted;
  ASSERT_TRUE(Submit(EchoJob(), false, submitted).ok());
  grpc::ClientContext context;
  v1::WaitRequest request;
  request.set_job_id(submitted.job_id());
  request.set_timeout_ms(20);
  v1::WaitResponse response;
  absl::Notification done;
  grpc::Status status;
  const auto stub = v1::JobService::NewStub(channel_);
  stub->async()->Wait(&context, &request, &response, [&](const grpc::Status& s) {
    status = s;
    done.Notify();
  });
  // The call may not have arrived when the clock is moved first: move it until it has.
  while (!done.WaitForNotificationWithTimeout(absl::Milliseconds(1))) {
    d_.clock.Advance(absl::Milliseconds(20));
    d_.timers.RunDue();
  }
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(d_.table.totals().ended, 0u);
}

TEST_F(ServicesTest, BuffersAreWrittenAndReadInChunks) {
  v1::CreateBufferResponse created;
  ASSERT_TRUE(CreateBuffer("s", created).ok());
  EXPECT_EQ(created.buffer().size_bytes(), 1024u);
  const auto stub = v1::BufferService::NewStub(channel_);
  {
    grpc::ClientContext context;
    v1::WriteBufferResponse response;
    const auto stream = stub->Write(&context, &response);
    v1::WriteBufferRequest request;
    request.mutable_buffer()->set_name("s");
    request.set_offset_bytes(100);
    request.set_data("hello ");
    stream->Write(request);
    v1::WriteBufferRequest more;
    more.set_data("world");
    stream->Write(more);
    stream->WritesDone();
    const grpc::Status status = stream->Finish();
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.written_bytes(), 11u);
  }
  grpc::ClientContext context;
  v1::ReadBufferRequest request;
  request.mutable_buffer()->set_id(created.buffer().id());
  request.set_offset_bytes(100);
  request.set_size_bytes(11);
  const auto stream = stub->Read(&context, request);
  v1::ReadBufferResponse response;
  std::string bytes;
  while (stream->Read(&response)) bytes += response.data();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(bytes, "hello world");
}

TEST_F(ServicesTest, AMalformedBufferIsRefusedFieldByField) {
  grpc::ClientContext context;
  v1::CreateBufferRequest request;
  v1::CreateBufferResponse response;
  request.set_name("a/b");
  request.add_shape(-1);
  request.set_data_type(static_cast<v1::DataType>(77));
  const grpc::Status status =
      v1::BufferService::NewStub(channel_)->Create(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(BadRequestOf(status).field_violations_size(), 3);
}

TEST_F(ServicesTest, AShapeWhoseProductOverflowsIsRefused) {
  grpc::ClientContext context;
  v1::CreateBufferRequest request;
  v1::CreateBufferResponse response;
  for (int i = 0; i < 3; ++i) request.add_shape(int64_t{1} << 62);
  EXPECT_EQ(v1::BufferService::NewStub(channel_)->Create(&context, request, &response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ServicesTest, APreparedGraphIsLaunchedWithNewBytesAndReleased) {
  d_.executor->on_launch = [](const transport::SharedMemory& staging) {
    std::memcpy(staging.data() + 256, staging.data(), 4);
  };
  const auto stub = v1::GraphService::NewStub(channel_);
  v1::PrepareResponse prepared;
  {
    grpc::ClientContext context;
    v1::PrepareRequest request;
    *request.mutable_job() = EchoJob();
    const grpc::Status status = stub->Prepare(&context, request, &prepared);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_THAT(prepared.plan_text(), HasSubstr("lane"));
  }
  v1::LaunchRequest launch;
  launch.set_graph_id(prepared.graph_id());
  launch.set_wait(true);
  for (const std::string data : {"abcd", "wxyz"}) {
    grpc::ClientContext context;
    v1::LaunchResponse response;
    if (data != "abcd") {
      launch.add_uploads()->set_node("in");
      launch.mutable_uploads(0)->set_data(data);
    }
    const grpc::Status status = stub->Launch(&context, launch, &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.result().outputs(0).data(), data);
  }
  for (const auto expected : {grpc::StatusCode::OK, grpc::StatusCode::NOT_FOUND}) {
    grpc::ClientContext context;
    v1::ReleaseRequest request;
    v1::ReleaseResponse response;
    request.set_graph_id(prepared.graph_id());
    EXPECT_EQ(stub->Release(&context, request, &response).error_code(), expected);
  }
}

TEST_F(ServicesTest, LaunchRefusesBytesThatDoNotFit) {
  const auto stub = v1::GraphService::NewStub(channel_);
  grpc::ClientContext prepare_context;
  v1::PrepareRequest prepare;
  v1::PrepareResponse prepared;
  *prepare.mutable_job() = EchoJob();
  ASSERT_TRUE(stub->Prepare(&prepare_context, prepare, &prepared).ok());
  grpc::ClientContext context;
  v1::LaunchRequest request;
  v1::LaunchResponse response;
  request.set_graph_id(prepared.graph_id());
  request.add_uploads()->set_node("nope");
  request.add_uploads()->set_node("in");
  const grpc::Status status = stub->Launch(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(BadRequestOf(status).field_violations_size(), 2);
}

TEST_F(ServicesTest, WhatASessionLeavesIsReleasedWithIt) {
  v1::CreateBufferResponse unnamed;
  v1::CreateBufferResponse named;
  ASSERT_TRUE(CreateBuffer("", unnamed).ok());
  ASSERT_TRUE(CreateBuffer("stays", named).ok());
  channel_ = nullptr;
  ended_.WaitForNotification();
  EXPECT_EQ(d_.buffers.totals().count, 1u);
  channel_ = Connect();
  grpc::ClientContext context;
  v1::GetBufferRequest request;
  v1::GetBufferResponse response;
  request.mutable_buffer()->set_name("stays");
  EXPECT_TRUE(v1::BufferService::NewStub(channel_)->Get(&context, request, &response).ok());
}

TEST_F(ServicesTest, WhileDrainingNewWorkIsUnavailable) {
  state_.draining = true;
  d_.table.Close();
  v1::SubmitResponse response;
  EXPECT_EQ(Submit(EchoJob(), true, response).error_code(), grpc::StatusCode::UNAVAILABLE);
  v1::CreateBufferResponse created;
  EXPECT_EQ(CreateBuffer("x", created).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(ServicesTest, StatusAndDevicesTellWhatIsInForce) {
  grpc::ClientContext context;
  v1::GetStatusRequest request;
  v1::GetStatusResponse response;
  const grpc::Status status =
      v1::DeviceService::NewStub(channel_)->GetStatus(&context, request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(response.status().devices_size(), 1);
  EXPECT_EQ(response.status().devices(0).executor_state(), v1::EXECUTOR_STATE_SERVING);
  EXPECT_EQ(response.status().devices(0).free_memory_bytes(), uint64_t{1} << 29);
  EXPECT_GE(response.status().sessions(), 1u);
  EXPECT_GT(response.status().limits_size(), 5);
}

TEST_F(ServicesTest, KernelsAreListedWithTheirArguments) {
  grpc::ClientContext context;
  v1::ListKernelsRequest request;
  v1::ListKernelsResponse response;
  ASSERT_TRUE(v1::DeviceService::NewStub(channel_)->ListKernels(&context, request, &response).ok());
  ASSERT_GT(response.kernels_size(), 0);
  for (const v1::KernelSchema& kernel : response.kernels()) {
    EXPECT_FALSE(kernel.summary().empty()) << kernel.name();
    EXPECT_GT(kernel.arguments_size(), 0) << kernel.name();
  }
}

TEST_F(ServicesTest, HealthAnswersForTheServerAndForEachService) {
  const std::string serving = {0x08, 0x01};  // status: SERVING
  EXPECT_EQ(RawCall("/grpc.health.v1.Health/Check", ""), serving);
  for (const std::string name : {"JobService", "BufferService", "GraphService", "DeviceService"}) {
    const std::string service = "weft.v1." + name;
    // HealthCheckRequest.service is field 1.
    const std::string request =
        absl::StrCat("\x0a", std::string(1, static_cast<char>(service.size())), service);
    EXPECT_EQ(RawCall("/grpc.health.v1.Health/Check", request), serving) << service;
  }
}

TEST_F(ServicesTest, ReflectionListsTheServices) {
  // ServerReflectionRequest.list_services is field 7.
  const std::string reply =
      RawCall("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", {0x3a, 0x01, '*'});
  for (const char* name : {"weft.v1.JobService", "weft.v1.BufferService", "weft.v1.GraphService",
                           "weft.v1.DeviceService", "grpc.health.v1.Health"}) {
    EXPECT_THAT(reply, HasSubstr(name));
  }
}

}  // namespace
}  // namespace weft::daemon
