// Every job of golden/ has the plan that the .txt file beside it shows. Run with
// WEFT_UPDATE_EXPECTED=1 to write those files anew, and read the difference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "graph/plan/render.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/plan/plan_job.h"

namespace weft::plan {
namespace {

const std::filesystem::path kFolder =
    std::filesystem::path(WEFT_SOURCE_DIR) / "tests/unit/plan/golden";

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

std::vector<std::string> Jobs() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".textproto") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class GoldenPlanTest : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenPlanTest, IsAsShown) {
  ASSERT_OK_AND_ASSIGN(const testing::PlannedJob planned,
                       testing::PlanText(ReadFile(kFolder / (GetParam() + ".textproto"))));
  const std::string text = RenderText(planned.graph, planned.plan);
  const std::filesystem::path expected = kFolder / (GetParam() + ".txt");
  if (std::getenv("WEFT_UPDATE_EXPECTED") != nullptr) std::ofstream(expected) << text;
  EXPECT_EQ(text, ReadFile(expected));
}

INSTANTIATE_TEST_SUITE_P(Jobs, GoldenPlanTest, ::testing::ValuesIn(Jobs()),
                         [](const ::testing::TestParamInfo<std::string>& job) {
                           return job.param;
                         });

}  // namespace
}  // namespace weft::plan
