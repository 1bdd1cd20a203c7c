#include "client/cli/output.h"

#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "base/clock.h"
#include "base/error_context.h"
#include "client/cli/progress.h"
#include "client/cli/timeline.h"
#include "client/cli/trace.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace weft::cli {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(TableTest, AlignsByCharactersAndLeavesNoTrailingSpaces) {
  Table table({{"NAME"}, {"µs", Table::Align::kRight}, {"NOTE"}});
  table.AddRow({"é", "10", ""});
  table.AddRow({"long", "9", "x"});
  std::ostringstream out;
  table.Print(out);
  EXPECT_EQ(out.str(),
            "NAME  µs  NOTE\n"
            "é     10\n"
            "long   9  x\n");
}

TEST(PrintableTest, ControlCharactersCannotReachTheTerminal) {
  EXPECT_EQ(Printable("a\nb\x1b[2J\x7fµ"), "a\\nb\\x1b[2J\\x7fµ");
}

TEST(FormatTest, FiguresHaveTheirUnit) {
  EXPECT_EQ(FormatBytes(12), "12 B");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatBytes(uint64_t{64} << 20), "64 MiB");
  EXPECT_EQ(FormatBytes(~uint64_t{0}), "16777216 TiB");
  EXPECT_EQ(FormatNanoseconds(0), "0");
  EXPECT_EQ(FormatNanoseconds(850), "850 ns");
  EXPECT_EQ(FormatNanoseconds(12'300), "12.3 µs");
  EXPECT_EQ(FormatNanoseconds(4'560'000), "4.56 ms");
  EXPECT_EQ(FormatNanoseconds(1'230'000'000), "1.23 s");
  EXPECT_EQ(FormatUnixTime(0), "-");
  EXPECT_EQ(FormatState(v1::JOB_STATE_DEADLINE_EXCEEDED), "DEADLINE_EXCEEDED");
  EXPECT_EQ(FormatDataType(v1::DATA_TYPE_BF16), "bf16");
  EXPECT_EQ(FormatDataType(v1::DATA_TYPE_UNSPECIFIED), "u8");
}

TEST(JsonTest, KeepsTheNamesOfTheProto) {
  v1::JobInfo info;
  info.set_queued_ns(5);
  info.set_state(v1::JOB_STATE_QUEUED);
  const std::string json = ToJson(info, JsonStyle::kOneLine);
  EXPECT_THAT(json, HasSubstr(R"("state":"JOB_STATE_QUEUED")"));
  EXPECT_THAT(json, HasSubstr(R"("queued_ns":"5")"));
}

TEST(JsonTest, FieldsOfZeroAreThere) {
  EXPECT_EQ(ToJson(v1::ListJobsResponse(), JsonStyle::kOneLine),
            "{\"jobs\":[],\"next_page_token\":\"\"}\n");
}

TEST(PrintErrorTest, EveryViolationHasItsLine) {
  std::ostringstream err;
  PrintError(err, "weft run",
             InvalidArgumentError({{"nodes[0]", "node \"a\": wrong"}, {"nodes[1]", "too"}}));
  EXPECT_EQ(err.str(),
            "weft run: 2 faults:\n"
            "  nodes[0]: node \"a\": wrong\n"
            "  nodes[1]: too\n");
}

TEST(PrintErrorTest, LinesOfAMessageAreSetOffAndCannotSteerTheTerminal) {
  std::ostringstream err;
  PrintError(err, "weft", absl::UnavailableError("it said:\na\x1b[2J\nb\n"));
  EXPECT_EQ(err.str(), "weft: it said:\n  a\\x1b[2J\n  b\n");
}

v1::JobResult WithTimeline() {
  v1::JobResult result;
  result.mutable_info()->set_id("7");
  const auto add = [&result](const char* node, uint32_t lane, uint64_t start, uint64_t end) {
    v1::NodeTiming& timing = *result.add_timeline();
    timing.set_node(node);
    timing.set_lane(lane);
    timing.set_start_ns(start);
    timing.set_end_ns(end);
  };
  add("late", 1, 50'000, 100'000);
  add("early", 0, 0, 50'000);
  add("instant", 1, 100'000, 100'000);
  result.mutable_timeline(1)->set_kind("kernel");
  result.mutable_timeline(1)->set_occupancy(0.5F);
  return result;
}

TEST(TimelineTest, ListsNodesByTheirStartOnOneScale) {
  EXPECT_EQ(TimelineText(WithTimeline()),
            "NODE     LANE  START µs  END µs  OCC  0 … 100.0 µs\n"
            "early       0       0.0    50.0  50%  ####################\n"
            "late        1      50.0   100.0    -                      ####################\n"
            "instant     1     100.0   100.0    -                                         #\n"
            "busy 100.0 µs of 100.0 µs; the nodes' own times add up to 100.0 µs\n");
}

TEST(TraceTest, WhatOverlapsIsBusyOnce) {
  v1::JobResult result;
  const auto add = [&result](uint64_t start, uint64_t end) {
    v1::NodeTiming& timing = *result.add_timeline();
    timing.set_start_ns(start);
    timing.set_end_ns(end);
  };
  add(10, 40);
  add(0, 30);   // overlaps the first
  add(15, 20);  // within both
  add(60, 70);  // after a gap
  add(9, 5);    // of a broken server
  const BusyTime time = BusyTimeOf(result);
  EXPECT_EQ(time.busy_ns, 50u);
  EXPECT_EQ(time.sum_ns, 75u);
  EXPECT_EQ(time.wall_ns, 70u);
}

TEST(TraceTest, ANodeIsABoxInTheRowOfItsLane) {
  google::protobuf::Struct trace;
  ASSERT_TRUE(
      google::protobuf::util::JsonStringToMessage(ChromeTrace(WithTimeline()), &trace).ok());
  const auto& events = trace.fields().at("traceEvents").list_value().values();
  ASSERT_EQ(events.size(), 6);  // the names of the job and of two lanes, and three nodes
  const auto& early = events[4].struct_value().fields();
  EXPECT_EQ(early.at("ph").string_value(), "X");
  EXPECT_EQ(early.at("name").string_value(), "early");
  EXPECT_EQ(early.at("cat").string_value(), "kernel");
  EXPECT_EQ(early.at("tid").number_value(), 0);
  EXPECT_EQ(early.at("ts").number_value(), 0);
  EXPECT_EQ(early.at("dur").number_value(), 50);
  EXPECT_EQ(early.at("args").struct_value().fields().at("occupancy").number_value(), 0.5);
}

TEST(TimelineTest, TheEndingChoosesTheFormat) {
  const weft::testing::TempDir dir;
  std::ostringstream out;
  ASSERT_OK(WriteTimeline(WithTimeline(), dir.File("t.json"), out));
  EXPECT_THAT(weft::testing::ReadFile(dir.File("t.json")),
              AllOf(HasSubstr("\"timeline\""), HasSubstr("\"end_ns\": \"100000\"")));
  ASSERT_OK(WriteTimeline(WithTimeline(), "-", out));
  EXPECT_THAT(out.str(), HasSubstr("early"));
}

TEST(ProgressTest, TheLineNamesJobStateAndTime) {
  v1::JobInfo info;
  info.set_id("7");
  info.set_name("edges\n");
  info.set_state(v1::JOB_STATE_RUNNING);
  info.set_node_count(12);
  info.set_lane_count(1);
  EXPECT_EQ(ProgressLine::Text(info, absl::Milliseconds(1250)),
            "job 7 (edges\\n): running for 1.2 s, 12 nodes in 1 lane");
}

TEST(ProgressTest, TheLineIsWipedAtTheEnd) {
  std::ostringstream terminal;
  {
    ProgressLine line(terminal, Clock::Real());
    v1::JobInfo info;
    info.set_id("7");
    info.set_state(v1::JOB_STATE_RUNNING);
    line.Update(info);
  }
  EXPECT_THAT(terminal.str(), AllOf(EndsWith("\r\x1b[K"), Not(HasSubstr("\n"))));
}

}  // namespace
}  // namespace weft::cli
