// Which copies a kernel carries out.
#include "graph/plan/copy_launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "graph/plan/render.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/plan/plan_job.h"

namespace weft::plan {
namespace {

using testing::PlannedJob;
using testing::PlanText;

constexpr uint64_t kLarge = kCopyKernelBytes + 5;

// Buffers "x", "y" (of the device) and "p" (pinned), and one copy.
absl::StatusOr<PlannedJob> PlanCopy(const std::string& src, const std::string& dst) {
  const auto buffer = [](const char* name, const char* more) {
    return absl::StrCat("buffers { name: '", name, "' data_type: DATA_TYPE_U8 shape: ", 4 * kLarge,
                        " ", more, " } ");
  };
  return PlanText(absl::StrCat(buffer("x", ""), buffer("y", "shared: 'y'"),
                               buffer("p", "pinned {}"), "nodes { name: 'set' fill { dst { ", src,
                               " } } } ", "nodes { name: 'move' copy { src { ", src, " } dst { ",
                               dst, " } } }"));
}

std::string View(const char* buffer, uint64_t offset, uint64_t size) {
  return absl::StrCat("buffer: '", buffer, "' offset_bytes: ", offset, " size_bytes: ", size);
}

uint32_t LaunchesOf(const PlannedJob& job) { return job.plan.nodes[1].launches.count; }

TEST(CopyLaunchTest, ALargeCopyInTheDeviceIsALaunchWithAThreadForEachWordAndTheRest) {
  ASSERT_OK_AND_ASSIGN(const PlannedJob job,
                       PlanCopy(View("x", 16, kLarge), View("y", 4096, kLarge)));
  ASSERT_EQ(LaunchesOf(job), 1u);
  const kernels::PhaseLaunch& launch = job.plan.LaunchesOf(job.plan.nodes[1])[0];
  EXPECT_EQ(launch.symbol, "weft_copy_bytes");
  EXPECT_EQ(launch.grid.x, kCopyKernelBytes / 16 / 256 + 1);
  EXPECT_EQ(launch.block.x, 256u);
  EXPECT_THAT(RenderText(job.graph, job.plan, {}),
              ::testing::HasSubstr(absl::StrCat("copy of ", kLarge, " bytes, by a kernel")));
}

TEST(CopyLaunchTest, ASmallCopyIsNone) {
  ASSERT_OK_AND_ASSIGN(const PlannedJob job, PlanCopy(View("x", 0, kCopyKernelBytes - 1),
                                                      View("y", 0, kCopyKernelBytes - 1)));
  EXPECT_EQ(LaunchesOf(job), 0u);
}

TEST(CopyLaunchTest, ACopyBetweenWordsIsNone) {
  ASSERT_OK_AND_ASSIGN(const PlannedJob source,
                       PlanCopy(View("x", 8, kLarge), View("y", 0, kLarge)));
  EXPECT_EQ(LaunchesOf(source), 0u);
  ASSERT_OK_AND_ASSIGN(const PlannedJob destination,
                       PlanCopy(View("x", 0, kLarge), View("y", 8, kLarge)));
  EXPECT_EQ(LaunchesOf(destination), 0u);
}

TEST(CopyLaunchTest, ACopyFromOrToTheHostIsNone) {
  ASSERT_OK_AND_ASSIGN(const PlannedJob to, PlanCopy(View("x", 0, kLarge), View("p", 0, kLarge)));
  EXPECT_EQ(LaunchesOf(to), 0u);
  ASSERT_OK_AND_ASSIGN(const PlannedJob from, PlanCopy(View("p", 0, kLarge), View("y", 0, kLarge)));
  EXPECT_EQ(LaunchesOf(from), 0u);
}

TEST(CopyLaunchTest, ACopyFromAnotherDeviceIsNone) {
  ASSERT_OK_AND_ASSIGN(PlannedJob job, PlanCopy(View("x", 0, kLarge), View("y", 0, kLarge)));
  job.graph.buffers[1].shared->device = 1;
  ASSERT_OK_AND_ASSIGN(const Plan plan, PlanGraph(job.graph, ir::AssumedDevice(), {}));
  EXPECT_EQ(plan.nodes[1].launches.count, 0u);
}

TEST(CopyLaunchTest, OnACpuDeviceThereIsNone) {
  ASSERT_OK_AND_ASSIGN(const PlannedJob job, PlanCopy(View("x", 0, kLarge), View("y", 0, kLarge)));
  cuda::DeviceInfo device = ir::AssumedDevice();
  device.is_cpu = true;
  ASSERT_OK_AND_ASSIGN(const Plan plan, PlanGraph(job.graph, device, {}));
  EXPECT_EQ(plan.nodes[1].launches.count, 0u);
}

TEST(CopyLaunchTest, ParametersOfAGraphMayLieAnywhere) {
  const std::string size = absl::StrCat("data_type: DATA_TYPE_U8 shape: ", kLarge);
  ASSERT_OK_AND_ASSIGN(
      const PlannedJob job,
      PlanText(absl::StrCat("graphs { name: 'g' buffers { name: 'in' parameter {} ", size, " } ",
                            "buffers { name: 'out' parameter {} ", size,
                            " } nodes { copy { src { buffer: 'in' } dst { buffer: 'out' } } } } ",
                            "buffers { name: 'x' ", size, " } buffers { name: 'y' ", size, " } ",
                            "nodes { fill { dst { buffer: 'x' } } } nodes { graph { graph: 'g' "
                            "bindings { parameter: 'in' view { buffer: 'x' } } "
                            "bindings { parameter: 'out' view { buffer: 'y' } } } }")));
  ASSERT_EQ(job.plan.graphs.size(), 1u);
  EXPECT_EQ(job.plan.graphs[0].nodes[0].launches.count, 0u);
}

}  // namespace
}  // namespace weft::plan
