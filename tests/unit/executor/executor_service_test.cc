// The handlers called directly, with the test as weftd: at the other end of the fd socket and of
// the launch ring.
#include "server/executor/executor_service.h"

#include <fcntl.h>
#include <google/protobuf/text_format.h>
#include <sys/socket.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cuda/device_query.h"
#include "graph/ir/from_proto.h"
#include "graph/ir/graph.h"
#include "graph/ir/violations.h"
#include "graph/plan/planner.h"
#include "server/executor/device_limits.h"
#include "server/executor/graph_preparer.h"
#include "server/executor/memory_map.h"
#include "server/executor/module_store.h"
#include "server/executor/transfer_area.h"
#include "server/executor/weftd_channel.h"
#include "tests/testing/leak_baseline.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/executor/test_device.h"
#include "tests/unit/executor/test_loop.h"
#include "transport/executor_messages.h"
#include "transport/ready_word.h"
#include "weft/executor/v1/executor.pb.h"
#include "weft/v1/job.pb.h"

namespace weft::executor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using transport::ExecutorMessage;
using transport::FdMessage;
using weft::testing::LeakBaseline;

constexpr uint64_t kTransferBytes = 1 << 16;
constexpr uint64_t kBufferTag = 5;

// upload → scratch → shared buffer → download.
constexpr char kRoundTrip[] = R"pb(
  name: "round-trip"
  buffers { name: "in" shape: 8 }
  buffers { name: "kept" data_type: DATA_TYPE_U8 shape: 8 shared: "kept" }
  nodes {
    name: "up"
    upload { dst { buffer: "in" } }
  }
  nodes {
    name: "move"
    copy {
      src { buffer: "in" }
      dst { buffer: "kept" }
    }
  }
  nodes {
    name: "down"
    download {
      src { buffer: "kept" }
      output: "out"
    }
  }
)pb";

class ExecutorServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(auto sockets, UniqueFd::SocketPair(SOCK_SEQPACKET));
    channel_.emplace(std::move(sockets.first));
    weftd_.emplace(std::move(sockets.second));
    channel_->StartReading([] {});
    ASSERT_OK_AND_ASSIGN(const cuda::DeviceInfo info,
                         cuda::QueryDeviceInfo(TestDriver(), kHealthyDevice));
    device_ = FromDeviceLimits(ToDeviceLimits(info));
    ASSERT_OK_AND_ASSIGN(memory_, MemoryMap::Create(context_));
    ASSERT_OK_AND_ASSIGN(transport::SharedMemory area,
                         transport::SharedMemory::Create("transfer", kTransferBytes));
    transfer_bytes_ = area.data();
    ASSERT_OK_AND_ASSIGN(transfers_, TransferArea::Create(context_, *memory_, std::move(area)));
    loop_.emplace(context_);
    ASSERT_OK_AND_ASSIGN(preparer_, GraphPreparer::Create(context_, device_, modules_,
                                                          user_modules_, loop_->notice()));
    service_.emplace(ServiceParts{context_, *channel_, *memory_, *preparer_, loop_->graphs(),
                                  *transfers_, loop_->loop()});
  }

  // Device memory of the tests' shared buffer.
  v1::AllocateResponse AllocateBuffer() {
    v1::AllocateRequest request;
    request.set_tag(kBufferTag);
    request.set_size_bytes(8);
    v1::AllocateResponse response;
    EXPECT_TRUE(service_->Allocate(nullptr, &request, &response).ok());
    const absl::StatusOr<FdMessage> message = weftd_->Receive();
    EXPECT_OK(message);
    return response;
  }

  static v1::PrepareRequest RequestOf(const char* job, uint64_t address = 0) {
    v1::PrepareRequest request;
    request.set_graph_id(1);
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(job, request.mutable_job()));
    if (address != 0) {
      v1::BufferBinding* binding = request.add_bindings();
      binding->set_buffer("kept");
      binding->set_address(address);
      binding->set_size_bytes(8);
    }
    return request;
  }

  // The plan as weftd makes it: it says where the staged bytes lie.
  plan::Plan PlanOf(const v1::PrepareRequest& request) const {
    ir::JobContext context;
    context.devices = absl::MakeConstSpan(&device_, 1);
    context.uploads = ir::UploadData::kStripped;
    ir::Violations violations(context.limits.max_reported);
    const ir::Graph graph = ir::FromProto(request.job(), context, violations);
    EXPECT_OK(violations.ToStatus());
    return *plan::PlanGraph(graph, device_);
  }

  // Prepares, and maps the staging area as weftd does.
  transport::SharedMemory Prepare(const v1::PrepareRequest& request) {
    v1::PrepareResponse response;
    const grpc::Status status = service_->Prepare(nullptr, &request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    if (response.staging_bytes() == 0) return {};
    absl::StatusOr<FdMessage> message = weftd_->Receive();
    EXPECT_OK(message);
    EXPECT_EQ(message->kind, static_cast<uint32_t>(ExecutorMessage::kStaging));
    EXPECT_EQ(message->tag, request.graph_id());
    return *transport::SharedMemory::Map(std::move(message->fds.at(0)), response.staging_bytes());
  }

  grpc::Status Release(uint64_t graph) {
    v1::ReleaseRequest request;
    request.set_graph_id(graph);
    v1::ReleaseResponse response;
    return service_->Release(nullptr, &request, &response);
  }

  grpc::Status Free(uint64_t tag) {
    v1::FreeRequest request;
    request.set_tag(tag);
    v1::FreeResponse response;
    return service_->Free(nullptr, &request, &response);
  }

  v1::GetLaunchReportResponse ReportOf(uint64_t graph) {
    v1::GetLaunchReportRequest request;
    request.set_graph_id(graph);
    v1::GetLaunchReportResponse response;
    EXPECT_TRUE(service_->GetLaunchReport(nullptr, &request, &response).ok());
    return response;
  }

  const cuda::Context context_ = MakeContext();
  cuda::DeviceInfo device_;
  ModuleStore modules_{context_};
  UserModuleStore user_modules_{context_, device_, [] {
                                  return absl::StatusOr<std::unique_ptr<const kernels::Compiler>>(
                                      absl::FailedPreconditionError("no compiler"));
                                }};
  std::optional<transport::FdSocket> weftd_;
  std::optional<WeftdChannel> channel_;
  std::unique_ptr<MemoryMap> memory_;
  std::unique_ptr<GraphPreparer> preparer_;
  std::unique_ptr<TransferArea> transfers_;
  std::byte* transfer_bytes_ = nullptr;
  std::optional<TestLoop> loop_;
  std::optional<ExecutorServiceImpl> service_;
};

TEST_F(ExecutorServiceTest, AllocationSendsItsDescriptorBeforeTheReply) {
  v1::AllocateRequest request;
  request.set_tag(17);
  request.set_size_bytes(100);
  v1::AllocateResponse response;
  ASSERT_TRUE(service_->Allocate(nullptr, &request, &response).ok());
  EXPECT_EQ(response.allocated_bytes() % device_.allocation_granularity_bytes, 0u);
  ASSERT_OK_AND_ASSIGN(FdMessage message, weftd_->Receive());
  EXPECT_EQ(message.kind, static_cast<uint32_t>(ExecutorMessage::kAllocation));
  EXPECT_EQ(message.tag, 17u);
  ASSERT_EQ(message.fds.size(), 1u);
}

TEST_F(ExecutorServiceTest, ImportTakesTheDescriptorSentBefore) {
  v1::AllocateRequest allocate;
  allocate.set_tag(1);
  allocate.set_size_bytes(1);
  v1::AllocateResponse allocated;
  ASSERT_TRUE(service_->Allocate(nullptr, &allocate, &allocated).ok());
  ASSERT_OK_AND_ASSIGN(const FdMessage message, weftd_->Receive());
  ASSERT_TRUE(Free(1).ok());

  const int fd = message.fds.at(0).get();
  ASSERT_OK(weftd_->Send({.kind = static_cast<uint32_t>(ExecutorMessage::kImport), .tag = 2},
                         absl::MakeConstSpan(&fd, 1)));
  v1::ImportRequest import;
  import.set_tag(2);
  import.set_allocated_bytes(allocated.allocated_bytes());
  import.set_address(allocated.address());
  v1::ImportResponse response;
  EXPECT_TRUE(service_->Import(nullptr, &import, &response).ok());
  EXPECT_TRUE(Free(2).ok());
  EXPECT_EQ(Free(2).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(ExecutorServiceTest, BytesGoThroughTheTransferArea) {
  const v1::AllocateResponse buffer = AllocateBuffer();
  std::memcpy(transfer_bytes_, "12345678", 8);
  v1::TransferRequest request;
  v1::TransferResponse response;
  request.set_address(buffer.address());
  request.set_size_bytes(8);
  EXPECT_EQ(service_->Transfer(nullptr, &request, &response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  request.set_direction(v1::TransferRequest::DIRECTION_TO_DEVICE);
  ASSERT_TRUE(service_->Transfer(nullptr, &request, &response).ok());
  request.set_direction(v1::TransferRequest::DIRECTION_FROM_DEVICE);
  request.set_offset_bytes(64);
  ASSERT_TRUE(service_->Transfer(nullptr, &request, &response).ok());
  EXPECT_EQ(std::memcmp(transfer_bytes_ + 64, "12345678", 8), 0);
}

TEST_F(ExecutorServiceTest, PreparedJobRunsThroughRingAndStagingArea) {
  const v1::AllocateResponse buffer = AllocateBuffer();
  const v1::PrepareRequest request = RequestOf(kRoundTrip, buffer.address());
  const plan::Plan plan = PlanOf(request);
  const transport::SharedMemory staging = Prepare(request);
  ASSERT_GE(staging.size(), plan.staging_bytes);
  for (const char* text : {"abcdefgh", "ABCDEFGH"}) {
    std::memcpy(staging.data() + plan.nodes[0].staging.offset, text, 8);
    const uint64_t sequence = loop_->Submit(1);
    const transport::Completion completion = loop_->Next();
    EXPECT_EQ(completion.sequence, sequence);
    EXPECT_EQ(completion.code, absl::StatusCode::kOk);
    EXPECT_EQ(std::memcmp(staging.data() + plan.nodes[2].staging.offset, text, 8), 0);
  }
  EXPECT_EQ(ReportOf(1).error_code(), 0);
  EXPECT_THAT(ReportOf(1).timeline(), IsEmpty());
  EXPECT_TRUE(Release(1).ok());
  EXPECT_EQ(Release(1).error_code(), grpc::StatusCode::NOT_FOUND);
}

// The second graph takes over the executable of the first, with other addresses.
TEST_F(ExecutorServiceTest, ReleasedExecutableServesTheNextGraphOfItsStructure) {
  const v1::AllocateResponse buffer = AllocateBuffer();
  v1::PrepareRequest request = RequestOf(kRoundTrip, buffer.address());
  const plan::Plan plan = PlanOf(request);
  for (uint64_t id = 1; id <= 3; ++id) {
    request.set_graph_id(id);
    const transport::SharedMemory staging = Prepare(request);
    const std::string text(8, static_cast<char>('0' + id));
    std::memcpy(staging.data() + plan.nodes[0].staging.offset, text.data(), 8);
    loop_->Submit(id);
    EXPECT_EQ(loop_->Next().code, absl::StatusCode::kOk);
    EXPECT_EQ(std::memcmp(staging.data() + plan.nodes[2].staging.offset, text.data(), 8), 0);
    ASSERT_TRUE(Release(id).ok());
  }
}

// As a graph, and through streams.
TEST_F(ExecutorServiceTest, AHostOutputIsToldBeforeItsLaunchHasEnded) {
  const v1::AllocateResponse buffer = AllocateBuffer();
  for (const bool timed : {false, true}) {
    v1::PrepareRequest request = RequestOf(kRoundTrip, buffer.address());
    request.mutable_job()->mutable_options()->set_collect_timeline(timed);
    request.mutable_job()->mutable_nodes(2)->mutable_download()->set_delivery(
        weft::v1::DownloadNode::DELIVERY_WHEN_READY);
    const plan::Plan plan = PlanOf(request);
    const transport::SharedMemory staging = Prepare(request);
    std::atomic<uint32_t>& word = *transport::ReadyWord(staging.data(), plan.nodes[2].ready.offset);
    for (const char* text : {"abcdefgh", "ABCDEFGH"}) {
      word = transport::kOutputPending;
      std::memcpy(staging.data() + plan.nodes[0].staging.offset, text, 8);
      loop_->Submit(1);
      EXPECT_EQ(loop_->Next().code, absl::StatusCode::kOk);
      EXPECT_TRUE(loop_->TakeNotice());
      EXPECT_EQ(word, transport::kOutputReady);
      EXPECT_EQ(std::memcmp(staging.data() + plan.nodes[2].staging.offset, text, 8), 0);
    }
    EXPECT_TRUE(Release(1).ok());
  }
}

TEST_F(ExecutorServiceTest, TimelineIsReportedByNodeName) {
  const v1::AllocateResponse buffer = AllocateBuffer();
  v1::PrepareRequest request = RequestOf(kRoundTrip, buffer.address());
  request.mutable_job()->mutable_options()->set_collect_timeline(true);
  const transport::SharedMemory staging = Prepare(request);
  loop_->Submit(1);
  ASSERT_EQ(loop_->Next().code, absl::StatusCode::kOk);
  const v1::GetLaunchReportResponse report = ReportOf(1);
  ASSERT_EQ(report.timeline_size(), 3);
  EXPECT_EQ(report.timeline(0).node(), "up");
  EXPECT_EQ(report.timeline(2).node(), "down");
  EXPECT_LE(report.timeline(0).start_ns(), report.timeline(0).end_ns());
  EXPECT_LE(report.timeline(0).end_ns(), report.timeline(2).start_ns());
}

TEST_F(ExecutorServiceTest, FreeingABufferRetiresItsGraphs) {
  const v1::AllocateResponse buffer = AllocateBuffer();
  const transport::SharedMemory staging = Prepare(RequestOf(kRoundTrip, buffer.address()));
  ASSERT_TRUE(Free(kBufferTag).ok());
  loop_->Submit(1);
  EXPECT_EQ(loop_->Next().code, absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Release(1).ok());
}

TEST_F(ExecutorServiceTest, BufferOfALaunchInFlightIsNotFreed) {
  const v1::AllocateResponse buffer = AllocateBuffer();
  Gate gate;
  loop_->Add(9, gate.Launch(), {.buffers = {{buffer.address(), 8}}});
  loop_->Submit(9);
  gate.WaitUntilRunning();
  EXPECT_EQ(Free(kBufferTag).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  gate.Open();
  loop_->Next();
  EXPECT_TRUE(Free(kBufferTag).ok());
}

TEST_F(ExecutorServiceTest, JobsThatWeftdWouldNotSendAreRefused) {
  v1::PrepareResponse response;
  v1::PrepareRequest unbound = RequestOf(kRoundTrip);
  const grpc::Status status = service_->Prepare(nullptr, &unbound, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("\"kept\""));
  v1::PrepareRequest wrong = RequestOf(R"pb(nodes { copy { src { buffer: "none" } } })pb");
  EXPECT_EQ(service_->Prepare(nullptr, &wrong, &response).error_code(), grpc::StatusCode::INTERNAL);
}

TEST_F(ExecutorServiceTest, ManagedBuffersAboveWhatIsFreeAreRefused) {
  constexpr char kJob[] = R"pb(
    buffers {
      name: "x"
      shape: 209715200
      managed {}
    }
    nodes { fill { dst { buffer: "x" } } })pb";
  ASSERT_OK(memory_->Allocate(kBufferTag, uint64_t{128} << 20));
  const v1::PrepareRequest request = RequestOf(kJob);
  v1::PrepareResponse response;
  const grpc::Status status = service_->Prepare(nullptr, &request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("need 209715200 bytes; the device has 134217728"));
  ASSERT_OK(memory_->Free(kBufferTag));
  Prepare(request);
  EXPECT_TRUE(Release(1).ok());
}

TEST_F(ExecutorServiceTest, PreparingAndReleasingLeaksNothing) {
  const v1::PrepareRequest request = RequestOf(R"pb(
    buffers { name: "x" shape: 100000 }
    buffers {
      name: "pinned"
      shape: 100000
      pinned {}
    }
    buffers {
      name: "managed"
      shape: 100000
      managed {}
    }
    nodes {
      fill {
        dst { buffer: "x" }
        pattern: 1
      }
    }
    nodes { fill { dst { buffer: "pinned" } } }
    nodes { fill { dst { buffer: "managed" } } }
    nodes {
      download {
        src { buffer: "x" }
        output: "x"
      }
    })pb");
  Prepare(request);
  ASSERT_TRUE(Release(1).ok());
  const LeakBaseline before = LeakBaseline::Take();
  v1::GetMemoryRequest memory_request;
  v1::GetMemoryResponse memory_before;
  ASSERT_TRUE(service_->GetMemory(nullptr, &memory_request, &memory_before).ok());
  for (int i = 0; i < 5; ++i) {
    Prepare(request);
    ASSERT_TRUE(Release(1).ok());
  }
  v1::GetMemoryResponse memory_after;
  ASSERT_TRUE(service_->GetMemory(nullptr, &memory_request, &memory_after).ok());
  EXPECT_EQ(memory_after.free_bytes(), memory_before.free_bytes());
  EXPECT_THAT(before.Leaked(), IsEmpty());
}

TEST_F(ExecutorServiceTest, ShutdownEndsTheLoop) {
  v1::ShutdownRequest request;
  v1::ShutdownResponse response;
  ASSERT_TRUE(service_->Shutdown(nullptr, &request, &response).ok());
  EXPECT_EQ(loop_->Join(), LaunchLoop::Outcome::kStopped);
}

TEST(WeftdChannelTest, AttachHandsOverRingAndTransferArea) {
  ASSERT_OK_AND_ASSIGN(auto sockets, UniqueFd::SocketPair(SOCK_SEQPACKET));
  const WeftdChannel channel(std::move(sockets.first));
  const transport::FdSocket weftd(std::move(sockets.second));
  ASSERT_OK_AND_ASSIGN(const auto ring, transport::SharedMemory::Create("ring", 4096));
  ASSERT_OK_AND_ASSIGN(const auto area, transport::SharedMemory::Create("area", 8192));
  const FdMessage attach{.kind = static_cast<uint32_t>(ExecutorMessage::kAttach)};
  const int fds[] = {ring.fd(), area.fd()};
  ASSERT_OK(weftd.Send(attach, absl::MakeConstSpan(fds, 1)));
  EXPECT_FALSE(channel.AwaitAttach().ok());
  ASSERT_OK(weftd.Send(attach, fds));
  ASSERT_OK_AND_ASSIGN(const Attachment attachment, channel.AwaitAttach());
  EXPECT_TRUE(attachment.ring.valid());
  EXPECT_EQ(attachment.transfer_area.size(), 8192u);
}

TEST(WeftdChannelTest, ClosedByWeftdIsToldOnceAndClosedHereIsNot) {
  for (const bool by_weftd : {true, false}) {
    ASSERT_OK_AND_ASSIGN(auto sockets, UniqueFd::SocketPair(SOCK_SEQPACKET));
    std::optional<WeftdChannel> channel(std::in_place, std::move(sockets.first));
    absl::Notification told;
    channel->StartReading([&told] { told.Notify(); });
    if (by_weftd) {
      sockets.second.reset();
      told.WaitForNotification();
    }
    channel.reset();
    EXPECT_EQ(told.HasBeenNotified(), by_weftd);
  }
}

TEST(WeftdChannelTest, ImportThatNeverComesTimesOut) {
  ASSERT_OK_AND_ASSIGN(auto sockets, UniqueFd::SocketPair(SOCK_SEQPACKET));
  WeftdChannel channel(std::move(sockets.first));
  EXPECT_EQ(channel.TakeImport(1, absl::Milliseconds(1)).status().code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST(DeviceLimitsTest, WhatPlansAreMadeFromSurvivesTheMessage) {
  ASSERT_OK_AND_ASSIGN(const cuda::DeviceInfo info,
                       cuda::QueryDeviceInfo(TestDriver(), kHealthyDevice));
  const cuda::DeviceInfo once = FromDeviceLimits(ToDeviceLimits(info));
  EXPECT_EQ(once.max_grid, info.max_grid);
  EXPECT_EQ(once.max_block, info.max_block);
  EXPECT_EQ(once.shared_bytes_per_block_optin, info.shared_bytes_per_block_optin);
  EXPECT_EQ(once.total_memory_bytes, info.total_memory_bytes);
  EXPECT_EQ(once.is_cpu, info.is_cpu);
  EXPECT_EQ(FromDeviceLimits(ToDeviceLimits(once)), once);
}

}  // namespace
}  // namespace weft::executor
