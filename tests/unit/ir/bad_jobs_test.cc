// Every file of tests/jobs/bad is refused with the message that expected.txt has for it. Run with
// WEFT_UPDATE_EXPECTED=1 to write that file anew, and read the difference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/ir/assumed_device.h"
#include "graph/ir/job_file.h"
#include "graph/ir/validate.h"
#include "tests/testing/status_matchers.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(WEFT_SOURCE_DIR) / "tests/jobs/bad";

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

std::vector<std::string> BadFiles() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".txt" && entry.path().extension() != ".md") {
      names.push_back(entry.path().filename());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

// "file: message" by file.
std::map<std::string, std::string> Expected() {
  std::map<std::string, std::string> expected;
  for (const absl::string_view line : absl::StrSplit(ReadFile(kFolder / "expected.txt"), '\n')) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(line, absl::MaxSplits(": ", 1));
    if (!line.empty()) expected.insert(parts);
  }
  return expected;
}

absl::Status Refusal(const std::string& file) {
  WEFT_ASSIGN_OR_RETURN(const JobFormat format, FormatFromPath(file));
  WEFT_ASSIGN_OR_RETURN(const v1::Job job, ParseJob(ReadFile(kFolder / file), format));
  const std::vector<cuda::DeviceInfo> devices = {AssumedDevice()};
  return ValidateJob(job, {.devices = devices}).status();
}

std::string FirstLine(const absl::Status& status) {
  return std::string(status.message().substr(0, status.message().find('\n')));
}

class BadJobTest : public ::testing::TestWithParam<std::string> {};

TEST_P(BadJobTest, IsRefusedWithTheExpectedMessage) {
  const absl::Status status = Refusal(GetParam());
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_EQ(FirstLine(status), Expected()[GetParam()]);
}

INSTANTIATE_TEST_SUITE_P(Files, BadJobTest, ::testing::ValuesIn(BadFiles()),
                         [](const ::testing::TestParamInfo<std::string>& file) {
                           std::string name = file.param;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); },
                               '_');
                           return name;
                         });

TEST(BadJobsTest, ExpectedHasExactlyTheFilesThatExist) {
  const std::vector<std::string> files = BadFiles();
  if (std::getenv("WEFT_UPDATE_EXPECTED") != nullptr) {
    std::ofstream out(kFolder / "expected.txt");
    for (const std::string& file : files) out << file << ": " << FirstLine(Refusal(file)) << "\n";
  }
  std::vector<std::string> expected;
  for (const auto& [file, message] : Expected()) expected.push_back(file);
  EXPECT_EQ(expected, files);
}

}  // namespace
}  // namespace weft::ir
