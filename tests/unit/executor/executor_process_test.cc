// The program itself, with the test as weftd.
#include <fcntl.h>
#include <google/protobuf/text_format.h>
#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"
#include "transport/executor_messages.h"
#include "transport/fd_socket.h"
#include "transport/ring_client.h"
#include "transport/shared_memory.h"
#include "weft/executor/v1/executor.grpc.pb.h"
#include "weft/v1/job.pb.h"

namespace weft::executor {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using transport::ExecutorMessage;
using transport::FdMessage;

constexpr int kChildSocket = 3;

// A job whose one kernel is named in the fault plan of the test.
constexpr char kIota[] = R"pb(
  name: "doomed"
  buffers { name: "x" data_type: DATA_TYPE_F32 shape: 8 }
  nodes {
    name: "count"
    kernel {
      kernel: "iota"
      args {
        name: "dst"
        view { buffer: "x" }
      }
    }
  }
)pb";

class ExecutorProcessTest : public ::testing::Test {
 protected:
  ~ExecutorProcessTest() override {
    weftd_.reset();
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  // `settings`: of the CPU driver.
  void Start(const std::string& settings, int device = 0) {
    ASSERT_OK_AND_ASSIGN(auto sockets, UniqueFd::SocketPair(SOCK_SEQPACKET));
    std::vector<std::string> arguments = {
        WEFT_EXECUTOR_PROGRAM,
        absl::StrCat("--device=", device),
        "--driver=cpu",
        absl::StrCat("--fd-socket=", kChildSocket),
        absl::StrCat("--grpc-socket=", socket_path_),
        "--spin-us=5",
    };
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    std::string driver_settings = absl::StrCat("WEFT_HOSTCUDA=", settings);
    char* const environment[] = {driver_settings.data(), nullptr};
    pid_ = ::fork();
    ASSERT_GE(pid_, 0);
    if (pid_ == 0) {  // nothing but system calls
      if (sockets.second.get() == kChildSocket) {
        ::fcntl(kChildSocket, F_SETFD, 0);
      } else {
        ::dup2(sockets.second.get(), kChildSocket);
      }
      ::execve(argv[0], argv.data(), environment);
      ::_exit(127);
    }
    weftd_.emplace(std::move(sockets.first));
  }

  FdMessage Receive(ExecutorMessage kind) {
    absl::StatusOr<FdMessage> message = weftd_->Receive();
    EXPECT_OK(message);
    if (!message.ok()) return {};
    EXPECT_EQ(message->kind, static_cast<uint32_t>(kind));
    return *std::move(message);
  }

  v1::Hello ReceiveHello() {
    v1::Hello hello;
    EXPECT_TRUE(hello.ParseFromString(Receive(ExecutorMessage::kHello).body));
    return hello;
  }

  // The whole handshake.
  void Attach() {
    EXPECT_EQ(ReceiveHello().error(), "");
    ASSERT_OK_AND_ASSIGN(ring_, transport::RingClient::Create({.capacity = 8}));
    ASSERT_OK_AND_ASSIGN(area_, transport::SharedMemory::Create("area", 1 << 16));
    const int fds[] = {ring_->fd(), area_.fd()};
    ASSERT_OK(weftd_->Send({.kind = static_cast<uint32_t>(ExecutorMessage::kAttach)}, fds));
    Receive(ExecutorMessage::kReady);
    stub_ = v1::ExecutorService::NewStub(grpc::CreateChannel(absl::StrCat("unix:", socket_path_),
                                                             grpc::InsecureChannelCredentials()));
  }

  void PrepareIota(uint32_t device = 0) {
    v1::PrepareRequest request;
    request.set_graph_id(1);
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(kIota, request.mutable_job()));
    request.mutable_job()->mutable_options()->set_device(device);
    v1::PrepareResponse response;
    grpc::ClientContext context;
    const grpc::Status status = stub_->Prepare(&context, request, &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
  }

  int ExitStatus() {
    int status = -1;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  const weft::testing::TempDir dir_;
  const std::string socket_path_ = dir_.File("executor.sock");
  pid_t pid_ = 0;
  std::optional<transport::FdSocket> weftd_;
  std::unique_ptr<transport::RingClient> ring_;
  transport::SharedMemory area_;
  std::unique_ptr<v1::ExecutorService::Stub> stub_;
};

TEST_F(ExecutorProcessTest, ServesOnAPrivateSocketUntilShutdown) {
  Start("devices=2", /*device=*/1);
  Attach();
  struct stat info {};
  ASSERT_EQ(::stat(socket_path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  PrepareIota(/*device=*/1);
  ASSERT_OK(ring_->Submit(GraphId(1)));
  const auto completion = ring_->Wait(absl::Seconds(30));
  ASSERT_TRUE(completion.has_value());
  EXPECT_EQ(completion->code, absl::StatusCode::kOk);
  grpc::ClientContext context;
  v1::ShutdownResponse response;
  EXPECT_TRUE(stub_->Shutdown(&context, {}, &response).ok());
  EXPECT_EQ(ExitStatus(), 0);
  EXPECT_NE(::stat(socket_path_.c_str(), &info), 0);
}

TEST_F(ExecutorProcessTest, ADeviceThatIsNotThereIsSaidInHello) {
  Start("devices=1", /*device=*/7);
  const v1::Hello hello = ReceiveHello();
  EXPECT_THAT(hello.error(), HasSubstr("no device 7"));
  EXPECT_EQ(hello.error_code(), static_cast<int>(absl::StatusCode::kNotFound));
  EXPECT_EQ(ExitStatus(), 1);
}

TEST_F(ExecutorProcessTest, EndsWhenWeftdGoesBeforeTheHandshake) {
  Start("");
  ReceiveHello();
  weftd_.reset();
  EXPECT_EQ(ExitStatus(), 0);
}

TEST_F(ExecutorProcessTest, EndsAtOnceWhenWeftdGoesAlthoughAKernelNeverEnds) {
  Start("fault=kernel:weft_iota_f32:HANG");
  Attach();
  PrepareIota();
  ASSERT_OK(ring_->Submit(GraphId(1)));
  EXPECT_FALSE(ring_->Wait(absl::Milliseconds(20)).has_value());
  weftd_.reset();
  EXPECT_EQ(ExitStatus(), 0);
}

TEST_F(ExecutorProcessTest, AFaultIsToldWithItsNodeBeforeTheEnd) {
  Start("fault=kernel:weft_iota_f32:ILLEGAL_ADDRESS");
  Attach();
  PrepareIota();
  ASSERT_OK(ring_->Submit(GraphId(1)));
  const FdMessage message = Receive(ExecutorMessage::kFault);
  EXPECT_EQ(message.tag, 1u);
  v1::GetLaunchReportResponse report;
  ASSERT_TRUE(report.ParseFromString(message.body));
  EXPECT_EQ(report.error_node(), "count");
  EXPECT_THAT(report.error_message(),
              AllOf(HasSubstr("job \"doomed\", node \"count\""), HasSubstr("ILLEGAL_ADDRESS")));
  EXPECT_EQ(ExitStatus(), 3);
  const auto completion = ring_->Poll();
  ASSERT_TRUE(completion.has_value());
  EXPECT_TRUE(completion->context_lost);
  EXPECT_EQ(static_cast<int>(completion->code), report.error_code());
}

}  // namespace
}  // namespace weft::executor
