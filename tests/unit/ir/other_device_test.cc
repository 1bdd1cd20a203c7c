// Shared buffers that lie on another device than the job's: copies may use them, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ir/assumed_device.h"
#include "graph/ir/job_file.h"
#include "graph/ir/validate.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/ir/small_kernels.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::kInvalid;
using testing::StatusIs;

constexpr char kOtherDeviceHead[] = R"(
    buffers { name: "far" shared: "far" }
    buffers { name: "near" shared: "near" }
    buffers { name: "x" data_type: DATA_TYPE_F32 shape: 2 }
    modules { name: "m" cuda: "s" }
    graphs { name: "g" buffers { name: "p" shape: 8 parameter {} }
             nodes { fill { dst { buffer: "p" } } } }
    nodes { name: "first" fill { dst { buffer: "x" } pattern_bytes: 4 } } )";

class OtherDeviceTest : public ::testing::Test {
 protected:
  absl::StatusOr<Graph> Check(const std::string& text) const {
    WEFT_ASSIGN_OR_RETURN(const v1::Job job, ParseJob(text, JobFormat::kText));
    return ValidateJob(job, context_);
  }
  absl::StatusOr<Graph> CheckNode(const std::string& node) const {
    return Check(absl::StrCat(kOtherDeviceHead, "nodes { name: \"n\" ", node, " }"));
  }

  std::vector<cuda::DeviceInfo> devices_ = {AssumedDevice()};
  JobContext context_ = {
      .devices = devices_,
      .resolver = [](const SharedRequest& request) -> absl::StatusOr<SharedBuffer> {
        const bool is_far = request.reference == "far";
        return SharedBuffer{
            BufferId(is_far ? 7 : 8), kernels::DType::kF32, {2}, 8, is_far ? 3U : 0U};
      },
      .registry = &testing::SmallKernels()};
};

TEST_F(OtherDeviceTest, CopiesReadAndWriteThem) {
  for (const char* copy : {R"(copy { src { buffer: "far" } dst { buffer: "near" } })",
                           R"(copy { src { buffer: "x" } dst { buffer: "far" } })",
                           R"(copy { src { buffer: "far" size_bytes: 4 }
                                     dst { buffer: "far" offset_bytes: 4 } })",
                           R"(copy { src { buffer: "far" } dst { buffer: "x" }
                                     box { width_bytes: 2 rows: 2 src_pitch_bytes: 4
                                           dst_pitch_bytes: 4 } })"}) {
    ASSERT_OK_AND_ASSIGN(const Graph graph, CheckNode(copy));
    EXPECT_EQ(graph.UsesOf(graph.nodes[1]).size(), 2u);
    EXPECT_TRUE(graph.IsElsewhere(graph.buffers[0]));
    EXPECT_FALSE(graph.IsElsewhere(graph.buffers[1]));
    EXPECT_FALSE(graph.IsElsewhere(graph.buffers[2]));
  }
}

TEST_F(OtherDeviceTest, AllOtherNodesAreRefused) {
  for (const char* node :
       {R"(fill { dst { buffer: "far" } })",
        R"(kernel { kernel: "produce" args { name: "n" i64: 2 }
                    args { name: "dst" view { buffer: "far" } } })",
        R"(upload { dst { buffer: "far" } data: "12345678" })",
        R"(download { src { buffer: "far" } })", R"(wait { semaphore { buffer: "far" } value: 1 })",
        R"(signal { semaphore { buffer: "far" } value: 1 })",
        R"(graph { graph: "g" bindings { parameter: "p" view { buffer: "far" } } })",
        R"(conditional { kind: KIND_IF value { buffer: "far" size_bytes: 4 }
                         bodies { graph: "g" } })",
        R"(library { call: "prim.sort" args { name: "keys" view { buffer: "far" } } })",
        R"(expression { text: "y = 1" args { name: "y" view { buffer: "far" } } })",
        R"(prefetch { view { buffer: "far" } })", R"(advise { view { buffer: "far" } })",
        R"(symbol { module: "m" symbol: "s" src { buffer: "far" } })",
        R"(user_kernel { module: "m" entry: "k" params { view { buffer: "far" } }
                         launch { grid_x: 1 block_x: 1 } })"}) {
    EXPECT_THAT(
        CheckNode(node),
        StatusIs(kInvalid, AllOf(HasSubstr("buffer \"far\" of device 3, but the job runs on "
                                           "device 0: only copy nodes may use it"),
                                 HasSubstr("set options.device"))))
        << node;
  }
}

TEST_F(OtherDeviceTest, OneThatNoNodeUsesIsNoError) { EXPECT_THAT(CheckNode("empty {}"), IsOk()); }

TEST_F(OtherDeviceTest, TheDeviceMayBeDeclaredAndMustThenBeRight) {
  EXPECT_THAT(Check(R"(buffers { name: "b" shared: "far" device: 3 } nodes { empty {} })"), IsOk());
  EXPECT_THAT(Check(R"(buffers { name: "b" shared: "far" device: 0 } nodes { empty {} })"),
              StatusIs(kInvalid, HasSubstr("buffers[0].device: buffer \"b\" is declared to be on "
                                           "device 0, but is on device 3")));
}

TEST_F(OtherDeviceTest, WithoutAServerTheDeclarationSaysWhereItIs) {
  context_.resolver = nullptr;
  ASSERT_OK_AND_ASSIGN(const Graph graph, Check(R"(
      buffers { name: "a" shared: "s" data_type: DATA_TYPE_U8 shape: 4 device: 2 }
      buffers { name: "b" shared: "t" data_type: DATA_TYPE_U8 shape: 4 }
      nodes { copy { src { buffer: "a" } dst { buffer: "b" } } })"));
  EXPECT_TRUE(graph.IsElsewhere(graph.buffers[0]));
  EXPECT_FALSE(graph.IsElsewhere(graph.buffers[1]));
}

TEST_F(OtherDeviceTest, ADescribedJobKeepsTheDevices) {
  v1::Job job =
      *ParseJob(absl::StrCat(kOtherDeviceHead,
                             R"(nodes { copy { src { buffer: "far" } dst { buffer: "x" } } })"),
                JobFormat::kText);
  ASSERT_OK_AND_ASSIGN(const Graph first, ValidateJob(job, context_));
  DescribeSharedBuffers(first, job);
  context_.resolver = nullptr;
  ASSERT_OK_AND_ASSIGN(const Graph second, ValidateJob(job, context_));
  EXPECT_EQ(second.buffers[0].shared->device, 3u);
  EXPECT_EQ(second.buffers[1].shared->device, 0u);
}

}  // namespace
}  // namespace weft::ir
