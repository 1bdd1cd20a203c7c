#include "cuda/host/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cuda/host/error_names.h"
#include "cuda/host/fault_plan.h"
#include "tests/testing/status_matchers.h"

namespace weft::hostcuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::StatusIs;

TEST(SettingsTest, EmptyTextGivesTheDefaults) {
  ASSERT_OK_AND_ASSIGN(const Settings settings, ParseSettings(""));
  EXPECT_EQ(settings.devices, 1);
  EXPECT_GE(settings.workers, 4);
  EXPECT_EQ(settings.memory_bytes, uint64_t{4096} << 20);
  EXPECT_TRUE(settings.faults.empty());
}

TEST(SettingsTest, AllKeysAreTaken) {
  ASSERT_OK_AND_ASSIGN(
      const Settings settings,
      ParseSettings(" devices = 2 ;; workers=3;memory_mib=16;fault=a:1:b; fault=c;"));
  EXPECT_EQ(settings.devices, 2);
  EXPECT_EQ(settings.workers, 3);
  EXPECT_EQ(settings.memory_bytes, uint64_t{16} << 20);
  EXPECT_THAT(settings.faults, ElementsAre("a:1:b", "c"));
}

TEST(SettingsTest, WrongPairsAreNamed) {
  EXPECT_THAT(ParseSettings("devices"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"devices\"")));
  EXPECT_THAT(ParseSettings("colour=red"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("colour")));
  for (const char* text : {"devices=0", "devices=65", "devices=-1", "devices=x", "workers=0",
                           "workers=1025", "memory_mib=0", "memory_mib=99999999999999999999"}) {
    EXPECT_THAT(ParseSettings(text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(text)));
  }
}

TEST(FaultPlanTest, OnlyTheCountedCallFails) {
  FaultPlan plan;
  ASSERT_OK(plan.Add("cuMemCreate:3:OUT_OF_MEMORY"));
  EXPECT_EQ(plan.OnCall(ApiFunction::k_cuMemCreate), CUDA_SUCCESS);
  EXPECT_EQ(plan.OnCall(ApiFunction::k_cuMemAlloc), CUDA_SUCCESS);
  EXPECT_EQ(plan.OnCall(ApiFunction::k_cuMemCreate), CUDA_SUCCESS);
  EXPECT_EQ(plan.OnCall(ApiFunction::k_cuMemCreate), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(plan.OnCall(ApiFunction::k_cuMemCreate), CUDA_SUCCESS);
}

TEST(FaultPlanTest, KernelFaultsOnEveryRun) {
  FaultPlan plan;
  ASSERT_OK(plan.Add("kernel:x:ILLEGAL_ADDRESS"));
  EXPECT_EQ(plan.OnKernel("y").error, CUDA_SUCCESS);
  EXPECT_EQ(plan.OnKernel("x").error, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(plan.OnKernel("x").error, CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(FaultPlanTest, KernelHangsOnTheCountedRunOnly) {
  FaultPlan plan;
  ASSERT_OK(plan.Add("kernel:ns::y:2:HANG"));
  EXPECT_FALSE(plan.OnKernel("ns::y").never_ends);
  EXPECT_TRUE(plan.OnKernel("ns::y").never_ends);
  EXPECT_FALSE(plan.OnKernel("ns::y").never_ends);
}

TEST(FaultPlanTest, MalformedFaultsAreRefused) {
  FaultPlan plan;
  for (const char* text :
       {"", "cuMemCreate", "cuMemCreate:1", "cuMemCreate:0:OUT_OF_MEMORY", "cuMemCreate:x:UNKNOWN",
        "cuNoSuch:1:UNKNOWN", "cuMemCreate:1:NO_SUCH_ERROR", "cuMemCreate:1:CUDA_SUCCESS",
        "kernel::HANG", "kernel:x:NO_SUCH_ERROR", "kernel:x"}) {
    EXPECT_THAT(plan.Add(text), StatusIs(absl::StatusCode::kInvalidArgument)) << text;
  }
}

TEST(ErrorNamesTest, NameTextAndNumberBelongTogether) {
  EXPECT_STREQ(ErrorName(CUDA_ERROR_OUT_OF_MEMORY), "CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_STREQ(ErrorText(CUDA_ERROR_OUT_OF_MEMORY), "out of memory");
  EXPECT_EQ(ErrorByShortName("OUT_OF_MEMORY"), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(ErrorName(static_cast<CUresult>(12345)), nullptr);
}

}  // namespace
}  // namespace weft::hostcuda
