#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "graph/ir/assumed_device.h"
#include "graph/ir/fingerprint.h"
#include "graph/ir/validate.h"
#include "tests/testing/status_matchers.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

using ::testing::HasSubstr;
using weft::testing::StatusIs;

v1::Job JobOf(const std::string& text) {
  v1::Job job;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &job));
  return job;
}

// One node with these parameters over the buffer "x" of 4 floats.
v1::Job OneKernel(const std::string& params) {
  return JobOf(absl::StrCat(
      R"pb(buffers { name: "x" data_type: DATA_TYPE_F32 shape: 4 }
           modules { name: "mine" cuda: "source" })pb",
      "nodes { name: \"n\" user_kernel { module: \"mine\" entry: \"ns::k<float>\" ", params,
      " launch { grid_x: 2 grid_y: 1 grid_z: 1 block_x: 64 block_y: 1 block_z: 1 } } }"));
}

absl::StatusOr<Graph> Read(const v1::Job& job, const cuda::DeviceInfo& device = AssumedDevice()) {
  const std::vector<cuda::DeviceInfo> devices = {device};
  return ValidateJob(job, {.devices = devices});
}

TEST(UserKernelTest, ParametersHaveTheTypesOfTheJob) {
  ASSERT_OK_AND_ASSIGN(
      const Graph graph,
      Read(OneKernel("params { view { buffer: 'x' offset_bytes: 4 } access: ACCESS_WRITE } "
                     "params { i8: -1 } params { f16: 1 } params { f32: 2 } params { u64: "
                     "18446744073709551615 } params { f64: 0.5 }")));
  const auto& op = std::get<UserKernelOp>(graph.nodes[0].op);
  EXPECT_EQ(op.entry, "ns::k<float>");
  ASSERT_EQ(op.parameters.size(), 6u);
  EXPECT_EQ(std::get<PointerParameter>(op.parameters[0]).view, 0u);
  const auto scalar = [&](size_t i) { return std::get<ScalarParameter>(op.parameters[i]); };
  EXPECT_EQ(scalar(1).size_bytes, 1u);
  EXPECT_EQ(scalar(1).bits, 0xffu);
  EXPECT_EQ(scalar(2).size_bytes, 2u);
  EXPECT_EQ(scalar(2).bits, 0x3c00u);
  EXPECT_EQ(scalar(3).bits, 0x40000000u);
  EXPECT_EQ(scalar(4).bits, UINT64_MAX);
  EXPECT_EQ(scalar(5).size_bytes, 8u);
  EXPECT_EQ(graph.ViewsOf(op)[0].range, (ByteRange{4, 12}));
}

TEST(UserKernelTest, OrderFollowsFromTheAccessOfItsViews) {
  ASSERT_OK_AND_ASSIGN(const Graph graph,
                       Read(OneKernel("params { view { buffer: 'x' } access: ACCESS_WRITE }")));
  ASSERT_EQ(graph.UsesOf(NodeIndex(0)).size(), 1u);
  EXPECT_EQ(graph.UsesOf(NodeIndex(0))[0].access, Access::kWrite);
}

TEST(UserKernelTest, MoreThan48KibOfSharedMemoryMayBeAskedFor) {
  v1::Job job = OneKernel("params { view { buffer: 'x' } access: ACCESS_WRITE }");
  job.mutable_nodes(0)->mutable_user_kernel()->set_shared_bytes(64 * 1024);
  cuda::DeviceInfo device = AssumedDevice();
  device.shared_bytes_per_block_optin = 100 * 1024;
  EXPECT_OK(Read(job, device));
  device.shared_bytes_per_block_optin = 48 * 1024;
  EXPECT_THAT(Read(job, device), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(UserKernelTest, CodeForGpusIsRefusedOnACpuDevice) {
  v1::Job job = OneKernel("params { view { buffer: 'x' } access: ACCESS_WRITE }");
  cuda::DeviceInfo device = AssumedDevice();
  device.is_cpu = true;
  EXPECT_OK(Read(job, device));
  for (const char* code : {"ptx", "cubin", "fatbin"}) {
    v1::Module& module = *job.mutable_modules(0);
    module.clear_code();
    const auto* field = v1::Module::descriptor()->FindFieldByName(code);
    v1::Module::GetReflection()->SetString(&module, field, "bytes");
    EXPECT_THAT(Read(job, device).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("needs a GPU")))
        << code;
  }
}

TEST(UserKernelTest, OtherCodeIsAnotherJob) {
  const Fingerprinter fingerprinter(Fingerprinter::Key{1, 2});
  v1::Job job = OneKernel("params { view { buffer: 'x' } access: ACCESS_WRITE }");
  const Fingerprint first = fingerprinter.Of(job, {}, {});
  job.mutable_modules(0)->set_cuda("other source");
  EXPECT_NE(fingerprinter.Of(job, {}, {}), first);
}

constexpr char kWritten[] = "params { view { buffer: 'x' } access: ACCESS_WRITE } ";

cuda::DeviceInfo DeviceWithClusters() {
  cuda::DeviceInfo device = AssumedDevice();
  device.compute_major = 9;
  return device;
}

TEST(UserKernelTest, ClusterCooperationAndPriorityAreKept) {
  ASSERT_OK_AND_ASSIGN(const Graph graph,
                       Read(OneKernel(absl::StrCat(kWritten, "cluster { x: 2 y: 1 z: 1 } ",
                                                   "cooperative: true priority: -10")),
                            DeviceWithClusters()));
  const auto& op = std::get<UserKernelOp>(graph.nodes[0].op);
  EXPECT_EQ(op.cluster, (kernels::Dim3{2, 1, 1}));
  EXPECT_TRUE(op.cooperative);
  EXPECT_EQ(op.priority, -10);
}

TEST(UserKernelTest, ClustersAreSmallAndDivideTheGrid) {
  const auto with = [](const std::string& cluster) {
    return Read(OneKernel(absl::StrCat(kWritten, "cluster { ", cluster, " }")),
                DeviceWithClusters());
  };
  EXPECT_THAT(with("x: 3 y: 3 z: 1"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at most 8")));
  EXPECT_THAT(with("x: 4294967295 y: 4294967295 z: 2"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at most 8")));
  EXPECT_THAT(with("x: 2"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at least 1")));
  EXPECT_THAT(with("x: 4 y: 1 z: 1"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("multiple of the cluster")));
  EXPECT_OK(with("x: 1 y: 1 z: 1"));
}

TEST(UserKernelTest, ClustersNeedADeviceThatHasThem) {
  EXPECT_THAT(Read(OneKernel(absl::StrCat(kWritten, "cluster { x: 2 y: 1 z: 1 }"))),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has no clusters")));
}

TEST(UserKernelTest, CooperationNeedsAGpu) {
  cuda::DeviceInfo cpu = AssumedDevice();
  cpu.is_cpu = true;
  EXPECT_THAT(Read(OneKernel(absl::StrCat(kWritten, "cooperative: true")), cpu),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("one after the other")));
}

}  // namespace
}  // namespace weft::ir
