// What profilers see: a job's own timeline as a trace, and the names of its nodes through NVTX.
#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <cstdlib>
#include <set>
#include <string>

#include "tests/e2e/weft_fixture.h"
#include "tests/testing/status_matchers.h"

namespace weft::e2e {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

// Of a test and all that it starts.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), /*overwrite=*/1);
  }
  ~ScopedVariable() { unsetenv(name_); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
};

constexpr char kJob[] = R"(
  name: "profiled"
  buffers { name: "x" data_type: DATA_TYPE_F32 shape: 1024 }
  nodes { name: "make" kernel { kernel: "fill" args { name: "dst" view { buffer: "x" } } } }
  nodes { name: "read" download { src { buffer: "x" } } }
)";

class ProfileTest : public WeftTest {
 protected:
  google::protobuf::Struct TraceOf(const std::string& job) {
    const std::string file = dir_.File("trace.json");
    EXPECT_EQ(Weft({"trace", job, "-o", file}).exit_code, 0);
    google::protobuf::Struct trace;
    EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(testing::ReadFile(file), &trace).ok());
    return trace;
  }
};

TEST_F(ProfileTest, AProfiledJobHasATraceWithEveryNode) {
  StartDaemon();
  const std::string job = dir_.WriteFile("job.textproto", kJob);
  const ProgramResult submit = Weft({"submit", job, "--profile"});
  ASSERT_EQ(submit.exit_code, 0) << submit.err;
  const google::protobuf::Struct trace = TraceOf(submit.out.substr(0, submit.out.find('\n')));
  std::set<std::string> boxes;
  for (const auto& event : trace.fields().at("traceEvents").list_value().values()) {
    const auto& fields = event.struct_value().fields();
    if (fields.at("ph").string_value() != "X") continue;
    boxes.insert(fields.at("cat").string_value() + " " + fields.at("name").string_value());
    if (fields.at("name").string_value() != "make") continue;
    const double occupancy =
        fields.at("args").struct_value().fields().at("occupancy").number_value();
    EXPECT_GT(occupancy, 0);
    EXPECT_LE(occupancy, 1);
  }
  EXPECT_THAT(boxes, ::testing::UnorderedElementsAre("kernel make", "download read"));
}

TEST_F(ProfileTest, AJobThatWasNotProfiledSaysHow) {
  StartDaemon();
  const ProgramResult submit = Weft({"submit", dir_.WriteFile("job.textproto", kJob)});
  const ProgramResult trace = Weft({"trace", submit.out.substr(0, submit.out.find('\n'))});
  EXPECT_NE(trace.exit_code, 0);
  EXPECT_THAT(trace.err, HasSubstr("submit it with --profile"));
}

TEST_F(ProfileTest, ProfilersSeeJobsAndNodesByTheirNames) {
  const std::string log = dir_.File("ranges.txt");
  const ScopedVariable tool("NVTX_INJECTION64_PATH", WEFT_TEST_NVTX_TOOL);
  const ScopedVariable file("WEFT_TEST_NVTX_LOG", log);
  StartDaemon();
  ASSERT_EQ(RunJob(kJob).exit_code, 0);                 // as a graph or through streams
  ASSERT_EQ(RunJob(kJob, {"--profile"}).exit_code, 0);  // through streams
  EXPECT_THAT(testing::ReadFile(log), AllOf(HasSubstr("weft profiled\n"), HasSubstr("weft make\n"),
                                            HasSubstr("weft read\n")));
}

}  // namespace
}  // namespace weft::e2e
