#include "server/daemon/config.h"

#include <google/protobuf/descriptor.h>

#include "server/daemon/command_line.h"
#include "server/daemon/executor_options.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"
#include "weft/config/v1/daemon_config.pb.h"

namespace weft::daemon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using weft::testing::StatusIs;

absl::StatusOr<CommandLine> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "weftd");
  return ParseCommandLine(static_cast<int>(arguments.size()), arguments.data());
}

TEST(ConfigTest, EveryFieldOfTheProtoIsASetting) {
  const auto* descriptor = config::v1::DaemonConfig::descriptor();
  ASSERT_EQ(static_cast<size_t>(descriptor->field_count()), Settings().size());
  for (int i = 0; i < descriptor->field_count(); ++i) {
    EXPECT_EQ(descriptor->field(i)->name(), Settings()[i].name);
  }
}

TEST(ConfigTest, DefaultsAreThoseOfTheProto) {
  ASSERT_OK_AND_ASSIGN(const CommandLine line, Parse({}));
  EXPECT_EQ(line.config.socket_mode(), 0600u);
  EXPECT_EQ(line.config.driver(), "auto");
  EXPECT_EQ(line.config.max_job_bytes(), 64u << 20);
  EXPECT_EQ(line.config.max_queued_jobs(), 4096u);
  EXPECT_EQ(line.config.drain_grace_ms(), 10000u);
  EXPECT_GE(line.config.cpu_workers(), 4u);
}

TEST(ConfigTest, AFlagOverridesTheFile) {
  const weft::testing::TempDir dir;
  const std::string file = dir.WriteFile("c", "max_nodes: 7\nmax_buffers: 8\ndevices: 3");
  const std::string flag = "--config=" + file;
  ASSERT_OK_AND_ASSIGN(const CommandLine line,
                       Parse({flag.c_str(), "--max-nodes=9", "--devices=0,1"}));
  EXPECT_EQ(line.config.max_nodes(), 9u);
  EXPECT_EQ(line.config.max_buffers(), 8u);
  EXPECT_THAT(line.config.devices(), ::testing::ElementsAre(0, 1));
}

TEST(ConfigTest, PermissionBitsMayBeOctal) {
  ASSERT_OK_AND_ASSIGN(const CommandLine line, Parse({"--socket-mode=0660"}));
  EXPECT_EQ(line.config.socket_mode(), 0660u);
}

TEST(ConfigTest, WhatPrintConfigPrintsGivesTheSameSettings) {
  ASSERT_OK_AND_ASSIGN(const CommandLine first,
                       Parse({"--print-config", "--devices=2,3", "--driver=cpu"}));
  ASSERT_EQ(first.action, CommandLine::Action::kPrint);
  Config again;
  ASSERT_OK(MergeConfigText(first.text, "printed", again));
  ASSERT_OK(FinishConfig(again));
  EXPECT_EQ(PrintConfig(again), first.text);
}

TEST(ConfigTest, AnUnknownSettingIsNamedWithItsPlaceAndTheNearest) {
  Config config;
  EXPECT_THAT(MergeConfigText("max_nodes: 1\nmax_node: 2", "f", config),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("f: line 2"), HasSubstr("Did you mean \"max_nodes\"?"))));
}

TEST(ConfigTest, EveryFaultIsReportedByItsFlag) {
  EXPECT_THAT(Parse({"--driver=metal", "--max-nodes=1000001", "--socket=relative"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("--driver: \"metal\""), HasSubstr("--max-nodes: 1000001"),
                             HasSubstr("--socket: \"relative\""))));
}

TEST(ConfigTest, ASocketPathThatCannotFitIsRefused) {
  const std::string flag = "--socket=/" + std::string(200, 'a');
  EXPECT_THAT(Parse({flag.c_str()}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("201 bytes")));
}

TEST(ConfigTest, AnUnknownFlagIsRefused) {
  EXPECT_THAT(Parse({"--no-such-flag"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--no-such-flag")));
}

TEST(ConfigTest, TextThatIsNoNumberIsRefused) {
  EXPECT_THAT(Parse({"--max-nodes=12x"}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Parse({"--max-nodes=-1"}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Parse({"--max-nodes=4294967296"}), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(ConfigTest, AMissingFileIsNotFound) {
  Config config;
  EXPECT_THAT(MergeConfigFile("/no/such/file", config), StatusIs(absl::StatusCode::kNotFound));
}

TEST(ExecutorOptionsTest, OneCpuExecutorForEachCpuDevice) {
  ASSERT_OK_AND_ASSIGN(const CommandLine line,
                       Parse({"--driver=cpu", "--cpu-devices=2", "--cpu-workers=3",
                              "--cpu-faults=cuMemCreate:1:OUT_OF_MEMORY;kernel:spin:HANG"}));
  ASSERT_OK_AND_ASSIGN(const auto executors, ExecutorOptions(line.config));
  ASSERT_EQ(executors.size(), 2u);
  EXPECT_EQ(executors[1].device, 1u);
  EXPECT_NE(executors[0].grpc_socket, executors[1].grpc_socket);
  EXPECT_THAT(executors[0].command.arguments, ::testing::Contains("--driver=cpu"));
  EXPECT_THAT(executors[0].command.environment,
              ::testing::ElementsAre("WEFT_HOSTCUDA=devices=2;workers=3;memory_mib=4096;"
                                     "fault=cuMemCreate:1:OUT_OF_MEMORY;fault=kernel:spin:HANG"));
}

TEST(ExecutorOptionsTest, AnExecutorLogsWhatTheDaemonLogs) {
  ASSERT_OK_AND_ASSIGN(const CommandLine line, Parse({"--driver=cpu", "--log-level=warning"}));
  ASSERT_OK_AND_ASSIGN(const auto executors, ExecutorOptions(line.config));
  EXPECT_THAT(executors[0].command.arguments, ::testing::Contains("--log-level=warning"));
}

TEST(ExecutorOptionsTest, GpusAreCountedByTheirDeviceFiles) {
  const weft::testing::TempDir dir;
  for (const char* name : {"nvidia0", "nvidia1", "nvidia2", "nvidiactl", "nvidia-uvm", "null"}) {
    dir.WriteFile(name, "");
  }
  EXPECT_EQ(CountGpus(dir.path(), nullptr), 3u);
  EXPECT_EQ(CountGpus(dir.path(), "1"), 1u);
  EXPECT_EQ(CountGpus(dir.path(), "2,0"), 2u);
  EXPECT_EQ(CountGpus(dir.path(), "0,-1,1"), 1u);
  EXPECT_EQ(CountGpus(dir.path(), ""), 0u);
}

}  // namespace
}  // namespace weft::daemon
