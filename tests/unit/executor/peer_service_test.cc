// Memory of another device through the private service: mapped, copied from and to by a prepared
// graph, and freed.
#include <sys/socket.h>

#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "cuda/device_query.h"
#include "server/executor/device_limits.h"
#include "server/executor/executor_service.h"
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
#include "weft/executor/v1/executor.pb.h"
#include "weft/v1/job.pb.h"

namespace weft::executor {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using weft::testing::LeakBaseline;

constexpr uint64_t kPeerTag = 5;
constexpr uint64_t kBoxBytes = 8;

class PeerServiceTest : public ::testing::Test {
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
                         transport::SharedMemory::Create("transfer", 4096));
    ASSERT_OK_AND_ASSIGN(transfers_, TransferArea::Create(context_, *memory_, std::move(area)));
    loop_.emplace(context_);
    ASSERT_OK_AND_ASSIGN(preparer_, GraphPreparer::Create(context_, device_, modules_,
                                                          user_modules_, loop_->notice()));
    service_.emplace(ServiceParts{context_, *channel_, *memory_, *preparer_, loop_->graphs(),
                                  *transfers_, loop_->loop()});
    fd_ = MemoryOfOtherDevice(context_, size_bytes_);
    ASSERT_OK(memory_->Allocate(1, kBoxBytes));
  }

  void SendPeer() const {
    const int fd = fd_.get();
    EXPECT_OK(weftd_->Send(
        {.kind = static_cast<uint32_t>(transport::ExecutorMessage::kImport), .tag = kPeerTag},
        absl::MakeConstSpan(&fd, 1)));
  }
  grpc::Status MapPeer(uint32_t device = kDoomedDevice) {
    SendPeer();
    v1::MapPeerRequest request;
    request.set_tag(kPeerTag);
    request.set_allocated_bytes(size_bytes_);
    request.set_device(device);
    v1::MapPeerResponse response;
    return service_->MapPeer(nullptr, &request, &response);
  }
  grpc::Status Free() {
    v1::FreeRequest request;
    request.set_tag(kPeerTag);
    v1::FreeResponse response;
    return service_->Free(nullptr, &request, &response);
  }

  // near[0, 8) → far[0, 8), then two rows of far → near.
  v1::PrepareRequest Request(uint64_t graph) {
    v1::PrepareRequest request;
    request.set_graph_id(graph);
    weft::v1::Job& job = *request.mutable_job();
    for (const char* name : {"near", "far"}) {
      weft::v1::BufferDecl& buffer = *job.add_buffers();
      buffer.set_name(name);
      buffer.set_shared(name);
      buffer.set_data_type(weft::v1::DATA_TYPE_U8);
      buffer.add_shape(kBoxBytes);
      v1::BufferBinding& binding = *request.add_bindings();
      binding.set_buffer(name);
      binding.set_size_bytes(kBoxBytes);
    }
    job.mutable_buffers(0)->set_device(kHealthyDevice);
    job.mutable_buffers(1)->set_device(kDoomedDevice);
    request.mutable_bindings(0)->set_address(memory_->RangeOf(1)->offset);
    request.mutable_bindings(1)->set_tag(kPeerTag);
    weft::v1::CopyNode& there = *job.add_nodes()->mutable_copy();
    there.mutable_src()->set_buffer("near");
    there.mutable_dst()->set_buffer("far");
    weft::v1::CopyNode& back = *job.add_nodes()->mutable_copy();
    back.mutable_src()->set_buffer("far");
    back.mutable_dst()->set_buffer("near");
    back.mutable_dst()->set_offset_bytes(1);
    weft::v1::CopyNode::Box& box = *back.mutable_box();
    box.set_width_bytes(1);
    box.set_rows(2);
    box.set_src_pitch_bytes(4);
    box.set_dst_pitch_bytes(2);
    return request;
  }
  grpc::Status Prepare(uint64_t graph) {
    const v1::PrepareRequest request = Request(graph);
    v1::PrepareResponse response;
    return service_->Prepare(nullptr, &request, &response);
  }
  absl::StatusCode Launch(uint64_t graph) {
    loop_->Submit(graph);
    return loop_->Next().code;
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
  std::optional<TestLoop> loop_;
  std::optional<ExecutorServiceImpl> service_;
  UniqueFd fd_;
  uint64_t size_bytes_ = 0;
};

TEST_F(PeerServiceTest, AGraphCopiesThereAndBack) {
  const std::vector<char> bytes = {1, 2, 3, 4, 5, 6, 7, 8};
  const CUdeviceptr near = memory_->RangeOf(1)->offset;
  ASSERT_OK(cuda::CopyToDevice(context_, near, bytes.data(), bytes.size()));
  ASSERT_TRUE(MapPeer().ok());
  const grpc::Status prepared = Prepare(1);
  ASSERT_TRUE(prepared.ok()) << prepared.error_message();
  EXPECT_EQ(Launch(1), absl::StatusCode::kOk);
  std::vector<char> read(bytes.size());
  ASSERT_OK(cuda::CopyToHost(context_, read.data(), memory_->RangeOf(kPeerTag)->offset, 8));
  EXPECT_EQ(read, bytes);
  ASSERT_OK(cuda::CopyToHost(context_, read.data(), near, 8));
  EXPECT_EQ(read, (std::vector<char>{1, 1, 3, 5, 5, 6, 7, 8}));
}

TEST_F(PeerServiceTest, ManyGraphsAtOnceMapItOnce) {
  const LeakBaseline before = LeakBaseline::Take();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this] { EXPECT_TRUE(MapPeer().ok()); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(Free().ok());
  EXPECT_EQ(Free().error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(before.Leaked(), IsEmpty());
}

TEST_F(PeerServiceTest, FreeingItRetiresTheGraphs) {
  ASSERT_TRUE(MapPeer().ok());
  ASSERT_TRUE(Prepare(1).ok());
  ASSERT_TRUE(Free().ok());
  EXPECT_EQ(Launch(1), absl::StatusCode::kFailedPrecondition);
}

TEST_F(PeerServiceTest, WithoutTheMappingNothingIsPrepared) {
  EXPECT_EQ(Prepare(1).error_code(), grpc::StatusCode::NOT_FOUND);
  const grpc::Status refused = MapPeer(kHealthyDevice);  // no device is a peer of its own
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(refused.error_message(), HasSubstr("NVLink"));
  EXPECT_EQ(Free().error_code(), grpc::StatusCode::NOT_FOUND);
  ASSERT_TRUE(MapPeer().ok());
  EXPECT_TRUE(Prepare(1).ok());
}

}  // namespace
}  // namespace weft::executor
