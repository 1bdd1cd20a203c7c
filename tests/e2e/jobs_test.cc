// The life of jobs and buffers, as the command line shows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/e2e/run_program.h"
#include "tests/e2e/weft_fixture.h"
#include "tests/testing/status_matchers.h"

namespace weft::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using testing::StatusIs;

class JobsTest : public WeftTest {
 protected:
  void SetUp() override { StartDaemon(); }

  // `weft submit`; the id it prints.
  std::string Submit(const std::string& job) {
    const ProgramResult submit = Weft({"submit", dir_.WriteFile("submit.textproto", job)});
    EXPECT_EQ(submit.exit_code, 0) << submit.err;
    return std::string(absl::StripAsciiWhitespace(submit.out));
  }
  void PutFloats(const std::string& name, const std::vector<float>& values) {
    const std::string bytes(reinterpret_cast<const char*>(values.data()),
                            values.size() * sizeof(float));
    const ProgramResult put =
        Weft({"put", name, dir_.WriteFile(name + ".raw", bytes), "--dtype=f32"});
    ASSERT_EQ(put.exit_code, 0) << put.err;
  }
  std::vector<float> GetFloats(const std::string& name) {
    const std::string file = dir_.File(name + ".got");
    const ProgramResult get = Weft({"get", name, file});
    EXPECT_EQ(get.exit_code, 0) << get.err;
    const std::string bytes = testing::ReadFile(file);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    return values;
  }
};

TEST_F(JobsTest, ASubmittedJobIsWaitedForWatchedAndShown) {
  const std::string id = Submit(testing::CanaryJobText());
  const ProgramResult wait = Weft({"wait", id, "--out-dir=" + dir_.path()});
  EXPECT_EQ(wait.exit_code, 0) << wait.err;
  EXPECT_EQ(testing::ReadFile(dir_.File("sum.npy")).size(), 128u + sizeof(float));
  const ProgramResult watch = Weft({"watch", id});
  EXPECT_EQ(watch.exit_code, 0) << watch.err;
  EXPECT_THAT(watch.out, HasSubstr("SUCCEEDED"));
  const ProgramResult show = Weft({"show", id, "--plan"});
  EXPECT_EQ(show.exit_code, 0) << show.err;
  EXPECT_THAT(show.out, HasSubstr("canary"));
  EXPECT_THAT(show.out, HasSubstr("lane"));
}

TEST_F(JobsTest, ASemaphoreOfOneJobHoldsTheNodesOfAnother) {
  ASSERT_OK_AND_ASSIGN(const client::Buffer semaphore,
                       Connect().CreateBuffer({"semaphore", v1::DATA_TYPE_U64, {1}}));
  const std::string declaration = "buffers { name: \"s\" shared: \"semaphore\" } ";
  const std::string waiting = Submit(declaration + R"(
      nodes { name: "wait" wait { semaphore { buffer: "s" } value: 3 } }
      nodes { name: "behind" after: "wait" empty {} })");
  const std::string too_little = Submit(declaration + R"(
      nodes { signal { semaphore { buffer: "s" } value: 2 } })");
  EXPECT_EQ(Weft({"wait", too_little}).exit_code, 0);
  EXPECT_EQ(Weft({"wait", waiting, "--timeout=0.2"}).exit_code, kStopped);
  const std::string enough = Submit(declaration + R"(
      nodes { signal { semaphore { buffer: "s" } value: 5 } })");
  EXPECT_EQ(Weft({"wait", enough}).exit_code, 0);
  EXPECT_EQ(Weft({"wait", waiting}).exit_code, 0);
  // A signal never lowers the value: who waits for 5 goes on.
  const std::string lower = Submit(declaration + R"(
      nodes { signal { semaphore { buffer: "s" } value: 1 } })");
  EXPECT_EQ(Weft({"wait", lower}).exit_code, 0);
  const std::string late = Submit(declaration + R"(
      nodes { wait { semaphore { buffer: "s" } value: 5 } })");
  EXPECT_EQ(Weft({"wait", late}).exit_code, 0);
}

TEST_F(JobsTest, WaitingMayTimeOutAndTheJobGoesOn) {
  const std::string id = Submit(SpinJob(700'000'000));
  EXPECT_EQ(Weft({"wait", id, "--timeout=0.05"}).exit_code, kStopped);
  EXPECT_EQ(Weft({"wait", id}).exit_code, 0);
}

TEST_F(JobsTest, AQueuedJobIsCancelledAtOnce) {
  ASSERT_OK_AND_ASSIGN(const client::Buffer mark,
                       Connect().CreateBuffer({"mark", v1::DATA_TYPE_U64, {2}}));
  // Long enough for two programs to start meanwhile, with sanitizers on a busy machine.
  const std::string running = Submit(SpinJob(4'000'000'000, "mark"));
  const std::string queued = Submit(SpinJob(0, "mark"));  // needs the same bytes
  const ProgramResult cancel = Weft({"cancel", queued});
  EXPECT_EQ(cancel.exit_code, 0) << cancel.err;
  EXPECT_EQ(Weft({"wait", queued}).exit_code, kStopped);
  EXPECT_EQ(Weft({"cancel", queued}).exit_code, kRefused);  // it has ended
  EXPECT_EQ(Weft({"wait", running}).exit_code, 0);
}

TEST_F(JobsTest, ListingsComeInPagesNewestFirst) {
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(Submit(testing::CanaryJobText()));
  const client::Client client = Connect();
  std::vector<std::string> listed;
  v1::ListJobsRequest request;
  request.set_page_size(2);
  int pages = 0;
  do {
    ASSERT_OK_AND_ASSIGN(const v1::ListJobsResponse page, client.connection().ListJobs(request));
    EXPECT_LE(page.jobs_size(), 2);
    for (const v1::JobInfo& job : page.jobs()) listed.push_back(job.id());
    request.set_page_token(page.next_page_token());
    ++pages;
  } while (!request.page_token().empty());
  EXPECT_EQ(pages, 3);
  EXPECT_EQ(listed, std::vector<std::string>(ids.rbegin(), ids.rend()));
  request.set_page_token("nonsense");
  EXPECT_THAT(client.connection().ListJobs(request), StatusIs(absl::StatusCode::kInvalidArgument));

  const ProgramResult all = Weft({"jobs", "--limit=3", "--json"});
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr(ids[4]));
  EXPECT_THAT(all.out, Not(HasSubstr("\"" + ids[0] + "\"")));
}

TEST_F(JobsTest, AFailedLookupIsRefused) {
  for (const char* command : {"wait", "watch", "show", "cancel"}) {
    const ProgramResult run = Weft({command, "j12345"});
    EXPECT_EQ(run.exit_code, kRefused) << command << ": " << run.err;
    EXPECT_EQ(Weft({command, "12345"}).exit_code, kBadInput) << command;  // not how ids read
  }
  EXPECT_EQ(Weft({"get", "nobody", dir_.File("x")}).exit_code, kRefused);
}

TEST_F(JobsTest, BuffersAreFilledReadListedAndDeleted) {
  PutFloats("numbers", {1, 2, 3});
  EXPECT_THAT(GetFloats("numbers"), ElementsAre(1, 2, 3));
  const ProgramResult listed = Weft({"buffers"});
  EXPECT_THAT(listed.out, HasSubstr("numbers"));
  EXPECT_THAT(Weft({"buffers", "--json"}).out, HasSubstr("\"numbers\""));
  PutFloats("numbers", {4, 5, 6});
  EXPECT_THAT(GetFloats("numbers"), ElementsAre(4, 5, 6));
  EXPECT_EQ(Weft({"delete", "numbers"}).exit_code, 0);
  EXPECT_EQ(Weft({"delete", "numbers"}).exit_code, kRefused);
  EXPECT_EQ(AwaitStatus([](const v1::ServerStatus&) { return true; }).buffers(), 0u);
}

TEST_F(JobsTest, JobsOfSeveralProcessesOnOneBufferRunOneAfterAnother) {
  PutFloats("x", {1});
  const std::string job = dir_.WriteFile("doubling.textproto", DoublingJob("x"));
  std::vector<std::unique_ptr<BackgroundProgram>> clients;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(std::make_unique<BackgroundProgram>(WeftArguments({"run", job})));
  }
  for (const auto& client : clients) {
    const ProgramResult run = client->Wait();
    EXPECT_EQ(run.exit_code, 0) << run.err;
  }
  EXPECT_THAT(GetFloats("x"), ElementsAre(64));
}

TEST_F(JobsTest, EveryListingIsJsonWhenAskedFor) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"devices"}, {"kernels"}, {"jobs"}, {"buffers"}, {"status"}}) {
    std::vector<std::string> arguments = command;
    arguments.push_back("--json");
    const ProgramResult run = Weft(arguments);
    EXPECT_EQ(run.exit_code, 0) << command[0] << ": " << run.err;
    EXPECT_EQ(run.out.substr(0, 1), "{") << command[0];
  }
}

TEST_F(JobsTest, AJobFileMayBeTextJsonOrBinary) {
  const v1::Job job = testing::CanaryJob();
  const std::string json = R"json({"nodes": [{"name": "nothing", "empty": {}}]})json";
  for (const std::string& file : {dir_.WriteFile("canary.pbtxt", testing::CanaryJobText()),
                                  dir_.WriteFile("empty.json", json),
                                  dir_.WriteFile("canary.binpb", job.SerializeAsString())}) {
    const ProgramResult run = Weft({"run", file});
    EXPECT_EQ(run.exit_code, 0) << file << ": " << run.err;
  }
}

}  // namespace
}  // namespace weft::e2e
