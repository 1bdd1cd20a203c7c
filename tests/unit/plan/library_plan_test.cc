// How calls of libraries are planned on GPUs and on CPU devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/ir/assumed_device.h"
#include "graph/ir/job_file.h"
#include "graph/ir/validate.h"
#include "graph/plan/planner.h"
#include "kernels/library/library_schemas.h"
#include "tests/testing/status_matchers.h"
#include "weft/v1/job.pb.h"

namespace weft::plan {
namespace {

using ::testing::HasSubstr;

enum class On { kGpu, kCpu };

class LibraryPlanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(const v1::Job job, ir::ParseJob(R"(
      buffers { name: "x" data_type: DATA_TYPE_F32 shape: [8, 2] }
      nodes { name: "set" fill { dst { buffer: "x" } } }
      nodes { name: "call" library { call: "fft.c2c_1d"
        args { name: "src" view { buffer: "x" } } args { name: "dst" view { buffer: "x" } } } })",
                                                         ir::JobFormat::kText));
    const std::vector<cuda::DeviceInfo> devices = {device_};
    ASSERT_OK_AND_ASSIGN(graph_, ir::ValidateJob(job, {.devices = devices}));
  }
  absl::StatusOr<Plan> PlanOn(On on) {
    device_.is_cpu = on == On::kCpu;
    return PlanGraph(graph_, device_, {});
  }
  // Gives the call a library that no graph can hold.
  void ForbidCapture() {
    auto& op = std::get<ir::LibraryOp>(graph_.nodes[1].op);
    waiting_ = *op.schema;
    waiting_.library->recording = kernels::LibraryTraits::Recording::kStreams;
    op.schema = &waiting_;
  }

  cuda::DeviceInfo device_ = ir::AssumedDevice();
  ir::Graph graph_;
  kernels::KernelSchema waiting_;
};

TEST_F(LibraryPlanTest, OnAGpuItHasAWorkspaceAndNoLaunches) {
  ASSERT_OK_AND_ASSIGN(const Plan plan, PlanOn(On::kGpu));
  EXPECT_EQ(plan.nodes[1].launches.count, 0u);
  EXPECT_EQ(plan.nodes[1].workspace.size, (uint64_t{16} << 20) + 8 * 8 * 2);
  EXPECT_EQ(plan.launch.mode, LaunchMode::kGraph);
}

TEST_F(LibraryPlanTest, OnACpuDeviceItIsALaunchOfItsTwin) {
  ASSERT_OK_AND_ASSIGN(const Plan plan, PlanOn(On::kCpu));
  ASSERT_EQ(plan.nodes[1].launches.count, 1u);
  EXPECT_EQ(plan.launches[plan.nodes[1].launches.begin].symbol, "weft_fft_c2c_1d_f32");
  EXPECT_EQ(plan.nodes[1].workspace.size, 0u);
}

TEST_F(LibraryPlanTest, ACallThatNoGraphHoldsGoesThroughStreams) {
  ForbidCapture();
  ASSERT_OK_AND_ASSIGN(const Plan plan, PlanOn(On::kGpu));
  EXPECT_EQ(plan.launch.mode, LaunchMode::kStreams);
  EXPECT_THAT(plan.launch.reason, HasSubstr("node \"call\" calls fft.c2c_1d, whose library"));
}

TEST_F(LibraryPlanTest, SwitchingTheChoiceOffCutsTheGraphAtIt) {
  ForbidCapture();
  PlanOptions options;
  ASSERT_OK_AND_ASSIGN(options.passes, PassSwitches::Parse("-choose_launch"));
  ASSERT_OK_AND_ASSIGN(const Plan plan, PlanGraph(graph_, device_, options));
  EXPECT_EQ(plan.launch.mode, LaunchMode::kGraph);
  ASSERT_EQ(plan.segments.size(), 2u);
  EXPECT_EQ(plan.segments[plan.nodes[0].segment].kind, Segment::Kind::kNodes);
  EXPECT_EQ(plan.segments[plan.nodes[1].segment].kind, Segment::Kind::kIssued);
  EXPECT_THAT(plan.launch.reason, HasSubstr("it is cut where node \"call\" calls fft.c2c_1d"));
}

TEST_F(LibraryPlanTest, OnACpuDeviceNoCallNeedsStreams) {
  ForbidCapture();
  ASSERT_OK_AND_ASSIGN(const Plan plan, PlanOn(On::kCpu));
  EXPECT_EQ(plan.launch.mode, LaunchMode::kGraph);
}

}  // namespace
}  // namespace weft::plan
