#include "client/cli/app.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "client/cli/npy.h"
#include "client/mock_connection.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace weft::cli {
namespace {

using ::testing::_;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Return;
using ::testing::StrictMock;

class AppTest : public ::testing::Test {
 protected:
  // Runs `weft` with these arguments on a mocked connection.
  ExitCode Run(const std::vector<std::string>& arguments) {
    out_.str("");
    err_.str("");
    return RunApp(arguments, environment_);
  }
  v1::JobResult Result(v1::JobState state) {
    v1::JobResult result;
    result.mutable_info()->set_id("7");
    result.mutable_info()->set_state(state);
    return result;
  }
  // Submit answers with job 7, Wait with `result`.
  void ExpectJob(const v1::JobResult& result) {
    v1::SubmitResponse submitted;
    submitted.set_job_id("7");
    v1::WaitResponse waited;
    *waited.mutable_result() = result;
    EXPECT_CALL(*connection_, Submit).WillOnce([this, submitted](const auto& request) {
      submitted_ = request;
      return submitted;
    });
    EXPECT_CALL(*connection_, Wait).WillOnce(Return(waited));
  }
  // A job that uploads in.raw and downloads it again.
  std::string WriteJob() {
    dir_.WriteFile("in.raw", "abcd");
    return dir_.WriteFile("job.textproto", R"(
      buffers { name: "x" shape: 4 }
      nodes { name: "up" upload { dst { buffer: "x" } file: "in.raw" } }
      nodes { name: "down" download { src { buffer: "x" } output: "y" file: "out.npy" } })");
  }

  weft::testing::TempDir dir_;
  std::ostringstream out_;
  std::ostringstream err_;
  std::shared_ptr<StrictMock<client::MockConnection>> connection_ =
      std::make_shared<StrictMock<client::MockConnection>>();
  std::string connected_to_;
  Environment environment_ = {
      .out = out_, .err = err_, .connector = [this](const std::string& socket) {
        connected_to_ = socket;
        return connection_;
      }};
  v1::SubmitRequest submitted_;
};

TEST_F(AppTest, HelpNamesEveryCommandAndEveryExitStatus) {
  ASSERT_EQ(Run({"--help"}), ExitCode::kOk);
  for (const std::string& name : CommandNames()) {
    EXPECT_THAT(out_.str(), HasSubstr("\n  " + name + " "));
  }
  for (const ExitCodeMeaning& row : ExitCodeMeanings()) {
    EXPECT_THAT(out_.str(), HasSubstr(std::string(row.meaning)));
  }
}

TEST_F(AppTest, HelpOfACommandNamesEachOfItsOptions) {
  const std::string page = HelpMarkdown();
  for (const auto& command : MakeCommands()) {
    const std::string name = command->info().name;
    ASSERT_EQ(Run({name, "--help"}), ExitCode::kOk) << name;
    const std::string help = out_.str();
    EXPECT_THAT(help, HasSubstr(command->info().summary));
    for (const Option& option : command->options()) {
      EXPECT_THAT(
          help, HasSubstr(option.kind == Option::Kind::kOption ? "--" + option.name : option.name));
    }
    EXPECT_THAT(page, HasSubstr("## weft " + name + "\n\n```\n" + help));
  }
}

TEST_F(AppTest, EveryListingHasJson) {
  for (const char* name : {"run", "submit", "wait", "watch", "jobs", "show", "cancel", "buffers",
                           "put", "get", "devices", "kernels", "kernel", "status"}) {
    EXPECT_THAT(HelpText(name), HasSubstr("--json")) << name;
  }
}

TEST_F(AppTest, CompletionScriptsKnowEveryCommandAndOption) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    ASSERT_EQ(Run({"completion", shell}), ExitCode::kOk);
    const std::string script = out_.str();
    for (const auto& command : MakeCommands()) {
      EXPECT_THAT(script, HasSubstr(command->info().name)) << shell;
      for (const Option& option : command->options()) {
        if (option.kind != Option::Kind::kOption) continue;
        const bool known = absl::StrContains(script, "--" + option.name) ||
                           absl::StrContains(script, "-l " + option.name);
        EXPECT_TRUE(known) << shell << " " << command->info().name << " --" << option.name;
      }
    }
  }
}

TEST_F(AppTest, WrongUsageIsExitStatus2WithTheNearestName) {
  EXPECT_EQ(Run({}), ExitCode::kBadInput);
  EXPECT_EQ(Run({"rnu"}), ExitCode::kBadInput);
  EXPECT_THAT(err_.str(), HasSubstr("Did you mean \"run\"?"));
  EXPECT_EQ(Run({"run", "--out-dri=x", "job.textproto"}), ExitCode::kBadInput);
  EXPECT_THAT(err_.str(),
              AllOf(HasSubstr("Did you mean \"--out-dir\"?"), HasSubstr("weft run --help")));
  EXPECT_EQ(Run({"run"}), ExitCode::kBadInput);
  EXPECT_EQ(Run({"jobs", "--limit=-1"}), ExitCode::kBadInput);
  EXPECT_EQ(Run({"jobs", "--state=done"}), ExitCode::kBadInput);
  EXPECT_EQ(Run({"completion", "tcsh"}), ExitCode::kBadInput);
  EXPECT_EQ(Run({"run", "x.textproto", "--driver=cpu"}), ExitCode::kBadInput);
}

TEST_F(AppTest, TheSocketMayStandBeforeAndBehindTheCommand) {
  EXPECT_CALL(*connection_, ListDevices).WillRepeatedly(Return(v1::ListDevicesResponse()));
  EXPECT_EQ(Run({"--socket=/a", "devices"}), ExitCode::kOk);
  EXPECT_EQ(connected_to_, "/a");
  EXPECT_EQ(Run({"devices", "--socket", "/b"}), ExitCode::kOk);
  EXPECT_EQ(connected_to_, "/b");
}

TEST_F(AppTest, RunSendsInputsAndWritesOutputs) {
  v1::JobResult result = Result(v1::JOB_STATE_SUCCEEDED);
  v1::JobOutput& output = *result.add_outputs();
  output.set_name("y");
  output.add_shape(4);
  output.set_data("dcba");
  output.set_file("/etc/passwd");  // what a server says of files counts for nothing
  ExpectJob(result);
  EXPECT_EQ(Run({"run", WriteJob()}), ExitCode::kOk);
  EXPECT_EQ(submitted_.job().nodes(0).upload().data(), "abcd");
  EXPECT_FALSE(submitted_.request_id().empty());
  const std::string written = weft::testing::ReadFile(dir_.File("out.npy"));
  EXPECT_EQ(written, MakeNpyHeader({kernels::DType::kU8, {4}}) + "dcba");
  EXPECT_THAT(out_.str(), HasSubstr("y  u8 [4]  " + dir_.File("out.npy")));
}

TEST_F(AppTest, RunAsksForATimelineAndPrintsIt) {
  v1::JobResult result = Result(v1::JOB_STATE_SUCCEEDED);
  result.add_timeline()->set_node("up");
  ExpectJob(result);
  EXPECT_EQ(Run({"run", WriteJob(), "--timeline=-", "--device=1", "--json"}), ExitCode::kOk);
  EXPECT_TRUE(submitted_.job().options().collect_timeline());
  EXPECT_EQ(submitted_.job().options().device(), 1u);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("NODE"), HasSubstr("JOB_STATE_SUCCEEDED")));
}

TEST_F(AppTest, TraceWritesAProfiledJobAndRefusesAnother) {
  v1::WaitResponse waited;
  *waited.mutable_result() = Result(v1::JOB_STATE_SUCCEEDED);
  EXPECT_CALL(*connection_, Wait).WillOnce(Return(waited));
  EXPECT_EQ(Run({"trace", "7"}), ExitCode::kRefused);
  EXPECT_THAT(err_.str(), HasSubstr("submit it with --profile"));
  waited.mutable_result()->add_timeline()->set_node("up");
  EXPECT_CALL(*connection_, Wait).WillOnce(Return(waited));
  EXPECT_EQ(Run({"trace", "7", "-o", dir_.File("t.json")}), ExitCode::kOk);
  EXPECT_THAT(weft::testing::ReadFile(dir_.File("t.json")), HasSubstr("traceEvents"));
}

TEST_F(AppTest, EndsOfAJobHaveTheirExitStatus) {
  const std::vector<std::pair<v1::JobState, ExitCode>> expected = {
      {v1::JOB_STATE_FAILED, ExitCode::kJobFailed},
      {v1::JOB_STATE_CANCELLED, ExitCode::kStopped},
      {v1::JOB_STATE_DEADLINE_EXCEEDED, ExitCode::kStopped},
      {v1::JOB_STATE_ABORTED, ExitCode::kAborted}};
  for (const auto& [state, code] : expected) {
    v1::JobResult result = Result(state);
    result.mutable_info()->mutable_error()->set_message("because");
    ExpectJob(result);
    EXPECT_EQ(Run({"run", WriteJob()}), code) << v1::JobState_Name(state);
    EXPECT_THAT(err_.str(), AllOf(HasSubstr("weft run: job 7"), HasSubstr("because")));
  }
}

TEST_F(AppTest, ARefusedJobIsExitStatus2WithALineForEachFault) {
  EXPECT_CALL(*connection_, Submit)
      .WillOnce(Return(InvalidArgumentError(
          {{"nodes[0].kernel.args[0]", "node \"blur\", argument \"sigma\": is 500, at most 100"},
           {"nodes[1]", "node \"up\": unknown buffer \"z\""}})));
  EXPECT_EQ(Run({"run", WriteJob()}), ExitCode::kBadInput);
  EXPECT_THAT(err_.str(),
              AllOf(HasSubstr("\n  nodes[0].kernel.args[0]: node \"blur\", argument \"sigma\""),
                    HasSubstr("\n  nodes[1]: node \"up\"")));
}

TEST_F(AppTest, ErrorsOfTheServerHaveTheirExitStatus) {
  const std::vector<std::pair<absl::StatusCode, ExitCode>> expected = {
      {absl::StatusCode::kInvalidArgument, ExitCode::kBadInput},
      {absl::StatusCode::kUnavailable, ExitCode::kNoServer},
      {absl::StatusCode::kDeadlineExceeded, ExitCode::kStopped},
      {absl::StatusCode::kNotFound, ExitCode::kRefused},
      {absl::StatusCode::kPermissionDenied, ExitCode::kRefused},
      {absl::StatusCode::kResourceExhausted, ExitCode::kNoResources},
      {absl::StatusCode::kInternal, ExitCode::kInternal}};
  for (const auto& [status, code] : expected) {
    EXPECT_CALL(*connection_, GetJob).WillOnce(Return(absl::Status(status, "why")));
    EXPECT_EQ(Run({"show", "7"}), code) << absl::StatusCodeToString(status);
    EXPECT_EQ(err_.str(), "weft show: why\n");
  }
}

TEST_F(AppTest, AnOutputThatCannotBeWrittenIsExitStatus8) {
  v1::JobResult result = Result(v1::JOB_STATE_SUCCEEDED);
  v1::JobOutput& output = *result.add_outputs();
  output.set_name("y");
  output.add_shape(1);
  output.set_data("a");
  ExpectJob(result);
  EXPECT_EQ(Run({"run", WriteJob(), "--output=y=" + dir_.path()}), ExitCode::kOutput);
}

TEST_F(AppTest, AnOutputBehindOneThatCannotBeWrittenIsWritten) {
  v1::JobResult result = Result(v1::JOB_STATE_SUCCEEDED);
  for (const char* name : {"y", "z"}) {
    v1::JobOutput& output = *result.add_outputs();
    output.set_name(name);
    output.add_shape(1);
    output.set_data("a");
  }
  ExpectJob(result);
  const std::string job = dir_.WriteFile("two.textproto", R"(
      buffers { name: "x" shape: 1 }
      nodes { fill { dst { buffer: "x" } } }
      nodes { download { src { buffer: "x" } output: "y" } }
      nodes { download { src { buffer: "x" } output: "z" } })");
  EXPECT_EQ(Run({"run", job, "--output=y=" + dir_.path(), "--output=z=" + dir_.File("z.raw")}),
            ExitCode::kOutput);
  EXPECT_EQ(weft::testing::ReadFile(dir_.File("z.raw")), "a");
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("y  u8 [1]  not written to " + dir_.path()),
                                HasSubstr("z  u8 [1]  " + dir_.File("z.raw"))));
}

TEST_F(AppTest, ATimelineThatCannotBeWrittenLosesNoOutput) {
  v1::JobResult result = Result(v1::JOB_STATE_SUCCEEDED);
  result.add_timeline()->set_node("up");
  v1::JobOutput& output = *result.add_outputs();
  output.set_name("y");
  output.add_shape(1);
  output.set_data("a");
  ExpectJob(result);
  EXPECT_EQ(Run({"run", WriteJob(), "--timeline=/nope/t"}), ExitCode::kOutput);
  EXPECT_THAT(err_.str(), HasSubstr("/nope/t"));
  EXPECT_THAT(out_.str(), HasSubstr("y  u8 [1]  " + dir_.File("out.npy")));
}

TEST_F(AppTest, AFailedJobIsExitStatus1ThoughItsTimelineCannotBeWrittenEither) {
  v1::JobResult result = Result(v1::JOB_STATE_FAILED);
  result.mutable_info()->mutable_error()->set_message("because");
  result.add_timeline()->set_node("up");
  ExpectJob(result);
  EXPECT_EQ(Run({"run", WriteJob(), "--timeline=/nope/t"}), ExitCode::kJobFailed);
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("because"), HasSubstr("/nope/t")));
}

TEST_F(AppTest, SubmitPrintsTheIdAlone) {
  v1::SubmitResponse response;
  response.set_job_id("12");
  EXPECT_CALL(*connection_, Submit).WillOnce(Return(response));
  EXPECT_EQ(Run({"submit", WriteJob()}), ExitCode::kOk);
  EXPECT_EQ(out_.str(), "12\n");
}

TEST_F(AppTest, WaitWritesOutputsUnderTheirNamesOnly) {
  v1::WaitResponse response;
  *response.mutable_result() = Result(v1::JOB_STATE_SUCCEEDED);
  v1::JobOutput& output = *response.mutable_result()->add_outputs();
  output.set_name("../../y");
  output.add_shape(1);
  output.set_data("a");
  EXPECT_CALL(*connection_, Wait).WillOnce(Return(response));
  EXPECT_EQ(Run({"wait", "7", "--out-dir", dir_.File("out")}), ExitCode::kOk);
  EXPECT_THAT(weft::testing::ReadFile(dir_.File("out/y.npy")), ::testing::EndsWith("a"));
}

TEST_F(AppTest, JobsFollowsPagesUpToItsLimit) {
  v1::ListJobsResponse first;
  first.add_jobs()->set_id("2");
  first.set_next_page_token("more");
  v1::ListJobsResponse second;
  second.add_jobs()->set_id("1");
  EXPECT_CALL(*connection_, ListJobs).WillOnce(Return(first)).WillOnce(Return(second));
  EXPECT_EQ(Run({"jobs", "--limit=0"}), ExitCode::kOk);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("\n2 "), HasSubstr("\n1 ")));
  EXPECT_CALL(*connection_, ListJobs).WillOnce(Return(first));
  EXPECT_EQ(Run({"jobs", "--limit=1", "--state=queued"}), ExitCode::kOk);
  EXPECT_THAT(err_.str(), HasSubstr("--limit 0"));
}

TEST_F(AppTest, PutMakesABufferOfTheFilesTypeAndGetReadsItBack) {
  const std::string file =
      dir_.WriteFile("w.npy", MakeNpyHeader({kernels::DType::kI16, {2}}) + "abcd");
  EXPECT_CALL(*connection_, GetBuffer).WillOnce(Return(absl::NotFoundError("none")));
  v1::BufferInfo info;
  EXPECT_CALL(*connection_, CreateBuffer).WillOnce([&info](const auto& request) {
    info.set_id(3);
    info.set_name(request.name());
    info.set_data_type(request.data_type());
    *info.mutable_shape() = request.shape();
    info.set_size_bytes(4);
    v1::CreateBufferResponse response;
    *response.mutable_buffer() = info;
    return response;
  });
  std::string sent;
  EXPECT_CALL(*connection_, Write(_, 0, _)).WillOnce([&sent](const auto&, uint64_t, auto bytes) {
    sent.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return v1::WriteBufferResponse();
  });
  EXPECT_EQ(Run({"put", "w", file}), ExitCode::kOk);
  EXPECT_EQ(sent, "abcd");
  EXPECT_EQ(info.data_type(), v1::DATA_TYPE_I16);

  v1::GetBufferResponse found;
  *found.mutable_buffer() = info;
  EXPECT_CALL(*connection_, GetBuffer).WillOnce(Return(found));
  EXPECT_CALL(*connection_, Read).WillOnce([](const auto&, const auto& chunk) {
    return chunk("abcd");
  });
  EXPECT_EQ(Run({"get", "w", dir_.File("back.npy")}), ExitCode::kOk);
  EXPECT_EQ(weft::testing::ReadFile(dir_.File("back.npy")), weft::testing::ReadFile(file));
}

TEST_F(AppTest, PutRefusesAFileThatDoesNotFitTheBuffer) {
  v1::GetBufferResponse found;
  found.mutable_buffer()->set_size_bytes(8);
  EXPECT_CALL(*connection_, GetBuffer).WillOnce(Return(found));
  EXPECT_EQ(Run({"put", "w", dir_.WriteFile("x.raw", "abcd")}), ExitCode::kBadInput);
  EXPECT_EQ(Run({"put", "w", dir_.File("x.raw"), "--dtype=i16", "--shape=3"}), ExitCode::kBadInput);
  EXPECT_EQ(Run({"put", "w", dir_.File("x.raw"), "--dtype=f31"}), ExitCode::kBadInput);
  EXPECT_THAT(err_.str(), HasSubstr("\"f32\"?"));
  EXPECT_EQ(Run({"put", "w", dir_.File("x.raw"), "--shape=2,x"}), ExitCode::kBadInput);
}

TEST_F(AppTest, PlanNeedsNoServer) {
  EXPECT_EQ(Run({"plan", WriteJob()}), ExitCode::kOk);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("up"), HasSubstr("down")));
  EXPECT_EQ(Run({"plan", WriteJob(), "--dot"}), ExitCode::kOk);
  EXPECT_THAT(out_.str(), HasSubstr("digraph"));
  EXPECT_EQ(Run({"plan", WriteJob(), "--plan-passes=-reduce_egdes"}), ExitCode::kBadInput);
  EXPECT_EQ(Run({"plan", WriteJob(), "--pass-times"}), ExitCode::kOk);
}

TEST_F(AppTest, PlanForAServerUsesItsDeviceAndBuffers) {
  v1::ListDevicesResponse devices;
  v1::DeviceInfo& device = *devices.add_devices();
  device.set_total_memory_bytes(1 << 20);
  device.set_max_lanes(2);
  device.set_max_threads_per_block(1024);
  EXPECT_CALL(*connection_, ListDevices).WillOnce(Return(devices));
  v1::GetBufferResponse found;
  found.mutable_buffer()->set_id(3);
  found.mutable_buffer()->set_data_type(v1::DATA_TYPE_U8);
  found.mutable_buffer()->add_shape(4);
  found.mutable_buffer()->set_size_bytes(4);
  EXPECT_CALL(*connection_, GetBuffer).WillOnce(Return(found));
  const std::string job = dir_.WriteFile("shared.textproto", R"(
    buffers { name: "x" shared: "weights" }
    nodes { name: "down" download { src { buffer: "x" } } })");
  EXPECT_EQ(Run({"plan", job, "--server"}), ExitCode::kOk) << err_.str();
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("at most 2 lanes"), HasSubstr("4 bytes")));
  EXPECT_EQ(Run({"plan", job}), ExitCode::kBadInput);  // nobody to ask for type and shape
}

TEST_F(AppTest, PlanPrintsEveryFaultOfAJob) {
  const std::string job = dir_.WriteFile("bad.textproto", R"(
    nodes { name: "a" after: "b" empty {} }
    nodes { name: "c" download { src { buffer: "x" } } })");
  EXPECT_EQ(Run({"plan", job}), ExitCode::kBadInput);
  EXPECT_THAT(err_.str(),
              AllOf(HasSubstr("2 faults"), HasSubstr("nodes[0]"), HasSubstr("nodes[1]")));
}

TEST_F(AppTest, KernelsAreListedAndExplained) {
  ASSERT_EQ(Run({"kernels"}), ExitCode::kOk);
  EXPECT_THAT(out_.str(), HasSubstr("\naxpy "));
  ASSERT_EQ(Run({"kernels", "axpy"}), ExitCode::kOk);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("axpy: "), HasSubstr("ARGUMENT")));
  ASSERT_EQ(Run({"kernels", "--json"}), ExitCode::kOk);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("\"kernels\": ["), HasSubstr("\"is_buffer\": true")));
  EXPECT_EQ(Run({"kernels", "axpi"}), ExitCode::kRefused);
  EXPECT_THAT(err_.str(), HasSubstr("axpy"));
}

TEST_F(AppTest, SecondsThatAreNoNumberAreBadInput) {
  EXPECT_EQ(Run({"wait", "7", "--timeout=nan"}), ExitCode::kBadInput);
  EXPECT_EQ(Run({"status", "--wait=nan"}), ExitCode::kBadInput);
}

TEST_F(AppTest, StatusWaitsUntilEveryDeviceServes) {
  v1::GetStatusResponse none;
  v1::GetStatusResponse starting;
  starting.mutable_status()->add_devices()->set_executor_state(v1::EXECUTOR_STATE_STARTING);
  v1::GetStatusResponse serving;
  serving.mutable_status()->add_devices()->set_executor_state(v1::EXECUTOR_STATE_SERVING);
  EXPECT_CALL(*connection_, GetStatus)
      .WillOnce(Return(absl::UnavailableError("no weftd")))
      .WillOnce(Return(none))
      .WillOnce(Return(starting))
      .WillOnce(Return(serving));
  EXPECT_EQ(Run({"status", "--wait=60"}), ExitCode::kOk);
}

TEST_F(AppTest, StatusWhoseWaitIsOverIsExitStatus3) {
  v1::GetStatusResponse down;
  down.mutable_status()->add_devices()->set_executor_state(v1::EXECUTOR_STATE_DOWN);
  EXPECT_CALL(*connection_, GetStatus).WillRepeatedly(Return(down));
  EXPECT_EQ(Run({"status", "--wait=0.001"}), ExitCode::kNoServer);
  EXPECT_THAT(err_.str(), HasSubstr("does not serve with all its devices"));
}

TEST_F(AppTest, StatusShowsLimits) {
  v1::GetStatusResponse response;
  v1::Limit& limit = *response.mutable_status()->add_limits();
  limit.set_name("max_job_bytes");
  limit.set_limit(uint64_t{64} << 20);
  limit.set_unit("bytes");
  EXPECT_CALL(*connection_, GetStatus).WillOnce(Return(response));
  EXPECT_EQ(Run({"status"}), ExitCode::kOk);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("max_job_bytes"), HasSubstr("64 MiB")));
}

TEST_F(AppTest, KernelInfoTellsWhatIsInPtxWithoutAServer) {
  const std::string file = dir_.WriteFile(
      "k.ptx",
      ".version 8.4\n.target sm_80\n.address_size 64\n.const .align 4 .b8 table[64];\n"
      ".visible .entry _Z5scaleIfEvPT_S0_i(.param .u64 a, .param .f32 b, .param .u32 c) "
      ".maxntid 128 { ret; }\n");
  ASSERT_EQ(Run({"kernel", "info", file}), ExitCode::kOk) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("compute_80"));
  EXPECT_THAT(out_.str(), HasSubstr("void scale<float>(float*, float, int)  8 4 4"));
  EXPECT_THAT(out_.str(), HasSubstr("constant table: 64 B"));
  ASSERT_EQ(Run({"kernel", "info", file, "--json"}), ExitCode::kOk);
  EXPECT_THAT(out_.str(), HasSubstr("\"max_threads_per_block\": 128"));
}

TEST_F(AppTest, KernelRefusesWhatItCannotCompileOrRead) {
  EXPECT_EQ(Run({"kernel", "build", "k.ptx"}), ExitCode::kBadInput);
  EXPECT_THAT(err_.str(), HasSubstr("only files that end in .cu"));
  const std::string file = dir_.WriteFile("k.cubin", "\177ELF, and nothing more");
  EXPECT_EQ(Run({"kernel", "info", file}), ExitCode::kBadInput);
  EXPECT_THAT(err_.str(), HasSubstr("is no cubin"));
  EXPECT_EQ(Run({"kernel", "info", file, "--arch", "hopper"}), ExitCode::kBadInput);
  EXPECT_THAT(err_.str(), HasSubstr("is no architecture"));
}

}  // namespace
}  // namespace weft::cli
