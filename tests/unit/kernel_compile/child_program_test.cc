#include "kernels/compile/child_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/testing/status_matchers.h"

namespace weft::kernels {
namespace {

ProgramCommand Shell(const std::string& script) {
  ProgramCommand command;
  command.arguments = {"/bin/sh", "-c", script};
  command.environment = {"PATH=/usr/bin:/bin", "WORD=there"};
  command.folder = "/";
  return command;
}

TEST(ChildProgramTest, KeepsBothOutputsAndTheStatus) {
  ASSERT_OK_AND_ASSIGN(const auto result, RunProgram(Shell("pwd; echo $WORD >&2; exit 3")));
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_EQ(result.output, "/\nthere\n");
}

TEST(ChildProgramTest, HasNoInput) {
  ASSERT_OK_AND_ASSIGN(const auto result, RunProgram(Shell("cat; echo end")));
  EXPECT_EQ(result.output, "end\n");
}

TEST(ChildProgramTest, OutputIsBounded) {
  ProgramCommand command = Shell("yes | head -c 1000000");
  command.max_output_bytes = 100;
  ASSERT_OK_AND_ASSIGN(const auto result, RunProgram(command));
  EXPECT_EQ(result.output.size(), 100u);
}

TEST(ChildProgramTest, DeathBySignalIsNegative) {
  ASSERT_OK_AND_ASSIGN(const auto result, RunProgram(Shell("kill -9 $$")));
  EXPECT_EQ(result.exit_status, -9);
}

TEST(ChildProgramTest, ChildrenDieWithTheProgramWhenTimeIsUp) {
  ProgramCommand command = Shell("sleep 100 & sleep 100");
  command.time_limit = absl::Milliseconds(50);
  EXPECT_EQ(RunProgram(command).status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(ChildProgramTest, ProgramThatIsNotThereIsAnError) {
  ProgramCommand command = Shell("");
  command.arguments = {"/no/such/program"};
  EXPECT_EQ(RunProgram(command).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace weft::kernels
