#include "graph/ir/job_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/testing/status_matchers.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::kInvalid;
using testing::StatusIs;

std::string Repeat(absl::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) absl::StrAppend(&out, text);
  return out;
}

TEST(FormatFromPathTest, KnowsEveryEnding) {
  EXPECT_EQ(*FormatFromPath("a/b.textproto"), JobFormat::kText);
  EXPECT_EQ(*FormatFromPath("b.PBTXT"), JobFormat::kText);
  EXPECT_EQ(*FormatFromPath("b.json"), JobFormat::kJson);
  EXPECT_EQ(*FormatFromPath("b.binpb"), JobFormat::kBinary);
}

TEST(FormatFromPathTest, RefusesOthersAndNamesThoseThatExist) {
  EXPECT_THAT(FormatFromPath("job.yaml"),
              StatusIs(kInvalid, AllOf(HasSubstr("job.yaml"), HasSubstr(".textproto"))));
}

TEST(ParseTextTest, ReadsAJob) {
  ASSERT_OK_AND_ASSIGN(v1::Job job,
                       ParseJob("name: \"j\" nodes { name: \"n\" empty {} }", JobFormat::kText));
  EXPECT_EQ(job.name(), "j");
  EXPECT_TRUE(job.nodes(0).has_empty());
}

TEST(ParseTextTest, UnknownFieldHasPlaceAndNearestName) {
  EXPECT_THAT(ParseJob("name: \"j\"\nnodes {\n  kernal {}\n}", JobFormat::kText),
              StatusIs(kInvalid,
                       "line 3, column 3: Node has no field \"kernal\". "
                       "Did you mean \"kernel\"?"));
}

TEST(ParseTextTest, ColumnsCountCharactersNotBytesOrTabStops) {
  EXPECT_THAT(ParseJob("name: \"äöü\" nods {}", JobFormat::kText),
              StatusIs(kInvalid, HasSubstr("line 1, column 13: ")));
  EXPECT_THAT(ParseJob("\t\tnods {}", JobFormat::kText),
              StatusIs(kInvalid, HasSubstr("line 1, column 3: ")));
}

TEST(ParseTextTest, UnknownEnumValueHasNearestName) {
  EXPECT_THAT(ParseJob("buffers { data_type: DATA_TYPE_F33 }", JobFormat::kText),
              StatusIs(kInvalid, AllOf(HasSubstr("DataType has no value \"DATA_TYPE_F33\""),
                                       HasSubstr("Did you mean \"DATA_TYPE_F32\"?"))));
}

TEST(ParseTextTest, FieldGivenTwiceIsAnError) {
  EXPECT_THAT(ParseJob("name: \"a\"\nname: \"b\"", JobFormat::kText),
              StatusIs(kInvalid, AllOf(HasSubstr("line 2"), HasSubstr("\"name\" is given twice"))));
}

TEST(ParseTextTest, NestingBombIsAnError) {
  const std::string bomb = Repeat("nodes { kernel { args { view {", 100000);
  EXPECT_THAT(ParseJob(bomb, JobFormat::kText), StatusIs(kInvalid));
}

TEST(ParseTextTest, EscapesMustMakeUtf8) {
  EXPECT_THAT(ParseJob("nodes { name: \"a\" }\nnodes { name: \"\\xff\" }", JobFormat::kText),
              StatusIs(kInvalid, HasSubstr("field nodes[1].name is \"\\xff\"")));
  EXPECT_THAT(ParseJob("nodes { upload { data: \"\\xff\\000\" } }", JobFormat::kText), IsOk());
}

TEST(ParseTextTest, EscapedSurrogatesMustComeInPairs) {
  for (const char* half : {"\\ud800", "\\udc00", "\\U0000d800", "\\ud800\" \"\\udc00"}) {
    const std::string text = absl::StrCat("nodes { }\nnodes {\n  name: \"a", half, "\" }");
    EXPECT_THAT(ParseJob(text, JobFormat::kText),
                StatusIs(kInvalid, HasSubstr("line 3, column 3: field nodes[1].name is \"a\\x")))
        << text;
  }
  EXPECT_THAT(ParseJob("name: \"\\ud83d\\ude00 \\U0001f600 \\u00e9\"", JobFormat::kText), IsOk());
}

TEST(ParseTextTest, TextThatIsNotUtf8IsPlacedInListsToo) {
  EXPECT_THAT(ParseJob("nodes { after: \"a\"\n\tafter: [\"b\", \"\\ud800\"] }", JobFormat::kText),
              StatusIs(kInvalid, HasSubstr("line 2, column 2: field nodes[0].after[2] is")));
}

TEST(ParseTextTest, TrailingGarbageIsAnError) {
  EXPECT_THAT(ParseJob("name: \"j\" }", JobFormat::kText), StatusIs(kInvalid, HasSubstr("line 1")));
}

TEST(ParseTextTest, NanAndInfinitiesAreNumbers) {
  ASSERT_OK_AND_ASSIGN(
      v1::Job job,
      ParseJob("nodes { kernel { args { f64: nan } args { f64: -inf } } }", JobFormat::kText));
  EXPECT_TRUE(std::isnan(job.nodes(0).kernel().args(0).f64()));
  EXPECT_EQ(job.nodes(0).kernel().args(1).f64(), -INFINITY);
}

TEST(ParseJobTest, EmptyFileIsAnErrorInEveryFormat) {
  for (const JobFormat format : {JobFormat::kText, JobFormat::kJson, JobFormat::kBinary}) {
    EXPECT_THAT(ParseJob("", format), StatusIs(kInvalid, HasSubstr("is empty")));
  }
}

TEST(ParseJobTest, FileOverTheLimitIsAnErrorWithBothFigures) {
  Limits limits;
  limits.max_job_bytes = 10;
  EXPECT_THAT(ParseJob("name: \"12345\"", JobFormat::kText, limits),
              StatusIs(kInvalid, AllOf(HasSubstr("13 bytes"), HasSubstr("limit is 10"))));
}

TEST(ParseJobTest, BytesThatAreNotUtf8HaveTheirPlace) {
  EXPECT_THAT(ParseJob("name: \"ok\"\n# \xc3\x28", JobFormat::kText),
              StatusIs(kInvalid, HasSubstr("line 2, column 3: byte 0xc3 is not UTF-8")));
  EXPECT_THAT(ParseJob("{\"name\": \"\xed\xa0\x80\"}", JobFormat::kJson), StatusIs(kInvalid));
}

TEST(ParseBinaryTest, ReadsWhatWasWritten) {
  v1::Job job;
  job.set_name("j");
  job.add_nodes()->mutable_empty();
  ASSERT_OK_AND_ASSIGN(v1::Job back, ParseJob(job.SerializeAsString(), JobFormat::kBinary));
  EXPECT_EQ(back.SerializeAsString(), job.SerializeAsString());
}

TEST(ParseBinaryTest, CutOffMessageIsAnError) {
  v1::Job job;
  job.add_nodes()->set_name("a long enough name");
  std::string bytes = job.SerializeAsString();
  bytes.pop_back();
  EXPECT_THAT(ParseJob(bytes, JobFormat::kBinary), StatusIs(kInvalid, HasSubstr("cut off")));
}

TEST(ParseBinaryTest, UnknownFieldNumberIsAnErrorWithItsPath) {
  v1::Job job;
  job.add_nodes();
  job.add_nodes();
  job.GetReflection()->MutableUnknownFields(job.mutable_nodes(1))->AddVarint(77, 1);
  EXPECT_THAT(ParseJob(job.SerializeAsString(), JobFormat::kBinary),
              StatusIs(kInvalid, HasSubstr("nodes[1] has an unknown field number 77")));
}

TEST(ParseBinaryTest, TextUnderABinaryNameIsRecognised) {
  EXPECT_THAT(ParseJob("nodes { name: \"n\" }", JobFormat::kBinary),
              StatusIs(kInvalid, HasSubstr("looks like text")));
}

TEST(ParseBinaryTest, NestingBombIsAnError) {
  // Groups inside groups, which the wire format allows to nest without lengths.
  EXPECT_THAT(ParseJob(std::string(1000000, '\x0b'), JobFormat::kBinary), StatusIs(kInvalid));
}

}  // namespace
}  // namespace weft::ir
