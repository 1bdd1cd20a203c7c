// The demo jobs end to end, held to the references of demos/check_demos.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/e2e/run_program.h"
#include "tests/e2e/weft_fixture.h"
#include "tests/testing/status_matchers.h"

namespace weft::e2e {
namespace {

using ::testing::HasSubstr;

std::string DemoJob(const std::string& name) {
  return DemosFolder() + "/jobs/" + name + ".textproto";
}

// Every job file among the demos.
std::vector<std::string> DemoNames() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(DemosFolder() + "/jobs")) {
    if (file.path().extension() == ".textproto") names.push_back(file.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class DemosTest : public WeftTest {
 protected:
  // What check_demos.py says of the outputs in dir_; skips where there is no SciPy.
  void Check(const std::string& name) {
    if (PythonWithScipy().empty()) GTEST_SKIP() << "no python3 with NumPy and SciPy";
    const ProgramResult check =
        RunProgram({PythonWithScipy(), "-B", DemosFolder() + "/check_demos.py", dir_.path(), name});
    EXPECT_EQ(check.exit_code, 0) << check.out << check.err;
  }
};

TEST_F(DemosTest, EdgesRunsWithoutADaemon) {
  const ProgramResult run =
      RunProgram({testing::ProgramFolder() + "/weft", "run", "--local", "--driver=cpu",
                  DemoJob("edges"), "--out-dir=" + dir_.path()});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("edges.png"));
  Check("edges");
}

TEST_F(DemosTest, WhatNeedsAGpuIsRefusedAndSaysSo) {
  StartDaemon();
  const ProgramResult run =
      Weft({"run", DemosFolder() + "/gpu/whole_device.textproto", "--out-dir=" + dir_.path()});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("run the job on a GPU"));
  EXPECT_EQ(RunCanary(), 0);
}

class DemosOverADaemonTest : public DemosTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(DemosOverADaemonTest, GivesWhatTheReferenceGives) {
  StartDaemon();
  // The second time it launches the graph that the first time prepared.
  for (int i = 0; i < 2; ++i) {
    const ProgramResult run = Weft({"run", DemoJob(GetParam()), "--out-dir=" + dir_.path()});
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
  Check(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Jobs, DemosOverADaemonTest, ::testing::ValuesIn(DemoNames()),
                         [](const auto& demo) { return demo.param; });

TEST_F(DemosTest, StreamsIsPlannedAsTwoLanesAndOneEventEdge) {
  const ProgramResult plan =
      RunProgram({testing::ProgramFolder() + "/weft", "plan", DemoJob("streams")});
  ASSERT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("2 lanes"));
  EXPECT_THAT(plan.out, HasSubstr("1 event edge"));
}

TEST_F(DemosTest, TheTimelineOfStreamsShowsKernels2And3Overlapping) {
  StartDaemon();
  const std::string file = dir_.File("timeline.json");
  const ProgramResult run =
      Weft({"run", DemoJob("streams"), "--out-dir=" + dir_.path(), "--timeline=" + file});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ASSERT_OK_AND_ASSIGN(const v1::JobResult result, ParseResultJson(testing::ReadFile(file)));
  const auto timing = [&](const std::string& node) {
    for (const v1::NodeTiming& one : result.timeline()) {
      if (one.node() == node) return one;
    }
    ADD_FAILURE() << node << " is not in the timeline";
    return v1::NodeTiming();
  };
  const v1::NodeTiming kernel1 = timing("kernel1"), kernel2 = timing("kernel2"),
                       kernel3 = timing("kernel3");
  EXPECT_EQ(kernel1.lane(), kernel3.lane());
  EXPECT_NE(kernel1.lane(), kernel2.lane());
  EXPECT_GE(std::min(kernel2.start_ns(), kernel3.start_ns()), kernel1.end_ns());
  EXPECT_LT(std::max(kernel2.start_ns(), kernel3.start_ns()),
            std::min(kernel2.end_ns(), kernel3.end_ns()));
}

TEST_F(DemosTest, TheJobWithPrefetchesIsPlannedThroughStreamsAndSaysWhy) {
  const ProgramResult plan =
      RunProgram({testing::ProgramFolder() + "/weft", "plan", DemoJob("managed")});
  ASSERT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out,
              HasSubstr("launch: through streams; CUDA graphs have no node for the prefetch "
                        "table_to_device"));
}

TEST_F(DemosTest, ControlFlowGivesTheSameWithATimeline) {
  StartDaemon();
  const std::string file = dir_.File("timeline.json");
  const ProgramResult run =
      Weft({"run", DemoJob("control_flow"), "--out-dir=" + dir_.path(), "--timeline=" + file});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ASSERT_OK_AND_ASSIGN(const v1::JobResult result, ParseResultJson(testing::ReadFile(file)));
  EXPECT_EQ(result.timeline_size(), 26);  // one span a node of the job, whatever it runs
  Check("control_flow");
}

TEST_F(DemosTest, PipelineIsPlannedOnThreeLanes) {
  const ProgramResult plan =
      RunProgram({testing::ProgramFolder() + "/weft", "plan", DemoJob("pipeline")});
  ASSERT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("3 lanes"));
}

}  // namespace
}  // namespace weft::e2e
