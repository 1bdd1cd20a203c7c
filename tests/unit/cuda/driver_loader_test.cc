#include "cuda/driver_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace weft::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::IsOkAndHolds;
using testing::StatusIs;

// WEFT_TEST_DRIVER_*: libraries made from test_driver.c.

TEST(DriverLoaderTest, MissingFileTellsWhereItLookedAndWhatToDo) {
  EXPECT_THAT(LoadDriver({.kind = DriverKind::kCuda, .library_path = "/nowhere/libcuda.so.1"}),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("/nowhere/libcuda.so.1"), HasSubstr("NVIDIA driver"))));
}

TEST(DriverLoaderTest, MissingLibraryOfTheLoadersPathIsNotFound) {
  EXPECT_THAT(LoadDriver({.kind = DriverKind::kHost, .library_path = "libweft_absent.so"}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("libweft_absent.so")));
}

TEST(DriverLoaderTest, FileThatIsNoLibraryIsAnErrorOfItsOwn) {
  const testing::TempDir folder;
  const std::string path = folder.WriteFile("libcuda.so.1", "not an ELF file");
  EXPECT_THAT(LoadDriver({.kind = DriverKind::kCuda, .library_path = path}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("cannot be opened")));
}

TEST(DriverLoaderTest, LibraryThatIsNoDriverIsRefused) {
  EXPECT_THAT(LoadDriver({.kind = DriverKind::kCuda, .library_path = "libm.so.6"}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("is no CUDA driver")));
}

TEST(DriverLoaderTest, DriverBeforeCuda12IsTooOld) {
  EXPECT_THAT(LoadDriver({.kind = DriverKind::kCuda, .library_path = WEFT_TEST_DRIVER_OLD}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("older than CUDA 12.0"), HasSubstr("525 or newer"))));
}

TEST(DriverLoaderTest, EveryMissingFunctionIsNamedWithItsVersion) {
  EXPECT_THAT(LoadDriver({.kind = DriverKind::kCuda, .library_path = WEFT_TEST_DRIVER_PARTIAL}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("cuMemCreate (CUDA 10.2)"),
                             HasSubstr("cuGraphLaunch (CUDA 10.0)"))));
}

TEST(DriverLoaderTest, OptionalFunctionMayBeMissing) {
  ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<const Driver> driver,
      LoadDriver({.kind = DriverKind::kCuda, .library_path = WEFT_TEST_DRIVER_COMPLETE}));
  EXPECT_EQ(driver->cuFuncGetParamInfo, nullptr);
  EXPECT_NE(driver->cuMemCreate, nullptr);
  EXPECT_EQ(driver->path, WEFT_TEST_DRIVER_COMPLETE);
}

TEST(DriverLoaderTest, FunctionsAreAskedForAtTheirPinnedVersion) {
  ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<const Driver> driver,
      LoadDriver({.kind = DriverKind::kCuda, .library_path = WEFT_TEST_DRIVER_COMPLETE}));
  int version = 0;
  EXPECT_EQ(driver->cuDriverGetVersion(&version), CUDA_SUCCESS);  // the version of cuMemAlloc
  EXPECT_EQ(version, 3020);
}

TEST(DriverLoaderTest, DriverWithoutADeviceSaysWhatToDo) {
  ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<const Driver> driver,
      LoadDriver({.kind = DriverKind::kCuda, .library_path = WEFT_TEST_DRIVER_COMPLETE}));
  EXPECT_THAT(
      InitializeDriver(*driver),
      StatusIs(absl::StatusCode::kNotFound, AllOf(HasSubstr("no device"), HasSubstr("host"))));
}

TEST(DriverLoaderTest, OnlyTheCpuDriverTakesSettings) {
  ASSERT_OK_AND_ASSIGN(
      const std::unique_ptr<const Driver> driver,
      LoadDriver({.kind = DriverKind::kCuda, .library_path = WEFT_TEST_DRIVER_COMPLETE}));
  EXPECT_THAT(ConfigureHostDriver(*driver, "devices=1"),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("not the CPU driver")));
}

TEST(DriverLoaderTest, KindsHaveNames) {
  EXPECT_THAT(ParseDriverKind("cuda"), IsOkAndHolds(DriverKind::kCuda));
  EXPECT_THAT(ParseDriverKind("host"), IsOkAndHolds(DriverKind::kHost));
  EXPECT_THAT(ParseDriverKind("gpu"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"gpu\"")));
}

}  // namespace
}  // namespace weft::cuda
