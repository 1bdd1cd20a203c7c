#include "client/cli/file_io.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "client/cli/errors.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using weft::testing::IsOkAndHolds;
using weft::testing::ReadFile;
using weft::testing::StatusIs;

size_t EntriesOf(const std::string& folder) {
  return static_cast<size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(ReadWholeFileTest, ReadsUpToItsBound) {
  const weft::testing::TempDir dir;
  const std::string path = dir.WriteFile("x", "12345");
  EXPECT_THAT(ReadWholeFile(path, 5), IsOkAndHolds("12345"));
  EXPECT_THAT(ReadWholeFile(path, 4),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more than 4 B")));
  EXPECT_THAT(ReadWholeFile("/dev/zero", 1 << 16),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more than 64 KiB")));
}

TEST(ReadWholeFileTest, WhatCannotBeReadIsNamed) {
  const weft::testing::TempDir dir;
  EXPECT_THAT(ReadWholeFile(dir.File("none"), 5),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       dir.File("none") + ": cannot be read: No such file or directory"));
  EXPECT_THAT(ReadWholeFile(dir.path(), 5), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(WriteWholeFileTest, ReplacesTheFileAndLeavesNothingElse) {
  const weft::testing::TempDir dir;
  const std::string path = dir.WriteFile("x", "old");
  ASSERT_OK(WriteWholeFile(path, {"ne", "w"}));
  EXPECT_EQ(ReadFile(path), "new");
  EXPECT_EQ(EntriesOf(dir.path()), 1u);
}

TEST(WriteWholeFileTest, AFailureLeavesTheOldFileAndNothingElse) {
  const weft::testing::TempDir dir;
  fs::create_directory(dir.File("folder"));
  const absl::Status status = WriteWholeFile(dir.File("folder"), {"new"});
  EXPECT_TRUE(IsCannotWrite(status)) << status;
  EXPECT_TRUE(IsCannotWrite(WriteWholeFile(dir.File("none/x"), {"new"})));
  EXPECT_EQ(EntriesOf(dir.path()), 1u);
}

TEST(WriteWholeFileTest, FollowsALinkAndWritesToADeviceInPlace) {
  const weft::testing::TempDir dir;
  const std::string path = dir.WriteFile("x", "old");
  fs::create_symlink(path, dir.File("link"));
  ASSERT_OK(WriteWholeFile(dir.File("link"), {"new"}));
  EXPECT_TRUE(fs::is_symlink(dir.File("link")));
  EXPECT_EQ(ReadFile(path), "new");
  ASSERT_OK(WriteWholeFile("/dev/null", {"gone"}));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(CanonicalPathTest, IsEqualForTwoNamesOfOneFile) {
  const weft::testing::TempDir dir;
  const std::string path = dir.WriteFile("x", "");
  fs::create_symlink(path, dir.File("link"));
  EXPECT_EQ(CanonicalPath(dir.path() + "/./a/../x"), CanonicalPath(path));
  EXPECT_EQ(CanonicalPath(dir.File("link")), CanonicalPath(path));
  EXPECT_EQ(CanonicalPath(dir.path() + "/./none"), CanonicalPath(dir.File("none")));
  EXPECT_NE(CanonicalPath(dir.File("none")), CanonicalPath(path));
}

}  // namespace
}  // namespace weft::cli
