#include "base/log.h"

#include <gtest/gtest.h>

#include <string>

namespace weft::log {
namespace {

TEST(LogTest, LevelsHaveTheNamesOfTheSetting) {
  EXPECT_EQ(LevelNamed("debug"), Level::kDebug);
  EXPECT_EQ(LevelNamed("info"), Level::kInfo);
  EXPECT_EQ(LevelNamed("warning"), Level::kWarning);
  EXPECT_EQ(LevelNamed("error"), Level::kError);
}

TEST(LogTest, ALineIsTheEventAndItsFieldsAndSplitsBack) {
  ::testing::internal::CaptureStderr();
  Init("log_test", Level::kInfo);
  Debug("not wanted");
  Info("buffer made", {{"bytes", "12"}, {"name", "a \"b\"\n"}, {"empty", ""}});
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find("not wanted"), std::string::npos);
  EXPECT_NE(text.find(R"(] buffer made bytes=12 name="a \"b\"\n" empty="")"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace weft::log
