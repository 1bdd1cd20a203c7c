// Outputs that a server delivers while their job runs, on the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "client/cli/app.h"
#include "client/cli/elements.h"
#include "client/mock_connection.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace weft::cli {
namespace {

using ::testing::_;
using ::testing::HasSubstr;
using ::testing::Return;
using ::testing::StrictMock;

v1::JobOutput Output(v1::DataType type, const std::string& bytes, int64_t elements) {
  v1::JobOutput output;
  output.set_name("seen");
  output.set_data_type(type);
  output.add_shape(elements);
  output.set_data(bytes);
  return output;
}

class HostOutputTest : public ::testing::Test {
 protected:
  // A watch tells RUNNING, then the output, then looks with `meanwhile`, then FAILED.
  void ExpectWatch(std::function<void()> meanwhile = [] {}) {
    EXPECT_CALL(*connection_, Watch(_, _))
        .WillOnce([meanwhile](const auto&, const client::Connection::WatchCallback& tell) {
          v1::WatchResponse message;
          message.mutable_info()->set_state(v1::JOB_STATE_RUNNING);
          tell(message);
          message.Clear();
          *message.mutable_output() = Output(v1::DATA_TYPE_U8, "\1\2", 2);
          tell(message);
          meanwhile();
          message.Clear();
          message.mutable_info()->set_state(v1::JOB_STATE_FAILED);
          tell(message);
          return absl::OkStatus();
        });
  }
  ExitCode Run(const std::vector<std::string>& arguments) {
    return RunApp(arguments, environment_);
  }
  std::string ReadFile(const std::string& name) const {
    std::ifstream file(dir_.path() + "/" + name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  weft::testing::TempDir dir_;
  std::ostringstream out_;
  std::ostringstream err_;
  std::shared_ptr<StrictMock<client::MockConnection>> connection_ =
      std::make_shared<StrictMock<client::MockConnection>>();
  Environment environment_ = {
      .out = out_, .err = err_, .connector = [this](const std::string&) { return connection_; }};
};

TEST_F(HostOutputTest, WatchPrintsItAsItComes) {
  ExpectWatch();
  EXPECT_EQ(Run({"watch", "7"}), ExitCode::kJobFailed);
  EXPECT_THAT(out_.str(), HasSubstr("  output seen  u8 [2]  1 2\n"));
}

TEST_F(HostOutputTest, WatchPrintsItAsALineOfJson) {
  ExpectWatch();
  EXPECT_EQ(Run({"watch", "7", "--json"}), ExitCode::kJobFailed);
  EXPECT_THAT(out_.str(), HasSubstr("{\"name\":\"seen\",\"data_type\":\"DATA_TYPE_U8\""));
}

TEST_F(HostOutputTest, RunWritesItsFileWhileTheJobRuns) {
  const std::string job = dir_.WriteFile("job.textproto", R"(
      buffers { name: "x" shape: 2 }
      nodes { fill { dst { buffer: "x" } } }
      nodes { download { src { buffer: "x" } output: "seen" file: "seen.raw"
                         delivery: DELIVERY_WHEN_READY } })");
  v1::SubmitResponse submitted;
  submitted.set_job_id("7");
  v1::WaitResponse waited;
  waited.mutable_result()->mutable_info()->set_state(v1::JOB_STATE_FAILED);
  EXPECT_CALL(*connection_, Submit).WillOnce(Return(submitted));
  EXPECT_CALL(*connection_, Wait).WillOnce(Return(waited));
  ExpectWatch([this] { EXPECT_EQ(ReadFile("seen.raw"), "\1\2"); });
  EXPECT_EQ(Run({"run", job}), ExitCode::kJobFailed);
  EXPECT_EQ(ReadFile("seen.raw"), "\1\2");
}

TEST(ElementsTest, AreNumbersOfTheTypeAndCutAfterEight) {
  EXPECT_EQ(FormatElements(Output(v1::DATA_TYPE_I8, "\xff", 1)), "-1");
  EXPECT_EQ(FormatElements(Output(v1::DATA_TYPE_F32, std::string("\0\0\xc0\x3f", 4), 1)), "1.5");
  EXPECT_EQ(FormatElements(Output(v1::DATA_TYPE_U8, std::string(9, '\3'), 9)), "3 3 3 3 3 3 3 3 …");
  EXPECT_EQ(FormatElements(Output(v1::DATA_TYPE_F64, "short", 1)), "");
  EXPECT_EQ(FormatElements(Output(v1::DATA_TYPE_F16, "ab", 1)), "");
}

}  // namespace
}  // namespace weft::cli
