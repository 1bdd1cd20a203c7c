#include "graph/ir/json_file.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph/ir/json_scalar.h"
#include "tests/testing/status_matchers.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::kInvalid;
using testing::StatusIs;

absl::StatusOr<v1::Job> Parse(absl::string_view text) {
  v1::Job job;
  WEFT_RETURN_IF_ERROR(ParseJson(text, job));
  return job;
}

// The job with one argument whose value is `value`.
absl::StatusOr<v1::Argument> ParseArgument(absl::string_view value) {
  WEFT_ASSIGN_OR_RETURN(
      v1::Job job, Parse(absl::StrCat("{\"nodes\": [{\"kernel\": {\"args\": [{", value, "}]}}]}")));
  return job.nodes(0).kernel().args(0);
}

TEST(JsonFileTest, ReadsBothSpellingsOfFieldNames) {
  ASSERT_OK_AND_ASSIGN(v1::Job job, Parse(R"({"buffers": [{"dataType": "DATA_TYPE_F32"},
                                              {"data_type": 4, "shape": [1, "2"]}]})"));
  EXPECT_EQ(job.buffers(0).data_type(), v1::DATA_TYPE_F32);
  EXPECT_EQ(job.buffers(1).data_type(), v1::DATA_TYPE_F64);
  EXPECT_EQ(job.buffers(1).shape(1), 2);
}

TEST(JsonFileTest, SixtyFourBitIntegersMayBeStringsOrNumbers) {
  EXPECT_EQ(ParseArgument("\"i64\": \"9223372036854775807\"")->i64(), INT64_MAX);
  EXPECT_EQ(ParseArgument("\"i64\": -9223372036854775808")->i64(), INT64_MIN);
  EXPECT_EQ(ParseArgument("\"i64\": 1e3")->i64(), 1000);
  EXPECT_EQ(ParseArgument("\"i64\": 2.0")->i64(), 2);
}

TEST(JsonFileTest, IntegersThatDoNotFitOrHaveAFractionAreErrors) {
  for (const char* value : {"9223372036854775808", "1.5", "1e19", "\"\"", "\" 1\"", "\"1 \"",
                            "true", "1e999", "\"0x10\"", "[]", "\"NaN\""}) {
    EXPECT_THAT(ParseArgument(absl::StrCat("\"i64\": ", value)), StatusIs(kInvalid)) << value;
  }
  EXPECT_THAT(Parse(R"({"options": {"maxLanes": 4294967296}})"), StatusIs(kInvalid));
  EXPECT_THAT(Parse(R"({"options": {"maxLanes": -1}})"), StatusIs(kInvalid));
}

TEST(JsonFileTest, NanAndInfinitiesAreStrings) {
  EXPECT_TRUE(std::isnan(ParseArgument("\"f64\": \"NaN\"")->f64()));
  EXPECT_EQ(ParseArgument("\"f64\": \"Infinity\"")->f64(), INFINITY);
  EXPECT_EQ(ParseArgument("\"f64\": \"-Infinity\"")->f64(), -INFINITY);
  EXPECT_EQ(ParseArgument("\"f64\": \"1.5\"")->f64(), 1.5);
  for (const char* value : {"NaN", "Infinity", "-Infinity", "\"nan\"", "\"inf\"", "1e999"}) {
    EXPECT_THAT(ParseArgument(absl::StrCat("\"f64\": ", value)), StatusIs(kInvalid)) << value;
  }
}

TEST(JsonFileTest, BytesAreBase64OfBothAlphabets) {
  const auto parse = [](absl::string_view data) {
    return Parse(absl::StrCat("{\"nodes\": [{\"upload\": {\"data\": \"", data, "\"}}]}"));
  };
  EXPECT_EQ(parse("+/8=")->nodes(0).upload().data(), "\xfb\xff");
  EXPECT_EQ(parse("-_8")->nodes(0).upload().data(), "\xfb\xff");
  EXPECT_THAT(parse("*"), StatusIs(kInvalid, HasSubstr("base64")));
}

TEST(JsonFileTest, NullIsAsIfLeftOut) {
  ASSERT_OK_AND_ASSIGN(v1::Job job, Parse(R"({"name": null, "nodes": null, "options": null})"));
  EXPECT_FALSE(job.has_options());
  EXPECT_THAT(Parse(R"({"nodes": [null]})"), StatusIs(kInvalid));
}

TEST(JsonFileTest, UnknownFieldHasPlaceAndNearestName) {
  EXPECT_THAT(Parse("{\n  \"nodes\": [{\"kernal\": {}}]\n}"),
              StatusIs(kInvalid,
                       "line 2, column 14: Node has no field \"kernal\". "
                       "Did you mean \"kernel\"?"));
  EXPECT_THAT(Parse(R"({"buffers": [{"datatype": 1}]})"),
              StatusIs(kInvalid, HasSubstr("Did you mean \"dataType\"?")));
}

TEST(JsonFileTest, UnknownEnumValueHasPlaceAndNearestName) {
  EXPECT_THAT(Parse("{\"buffers\": [{\"dataType\": \"F33\"}]}"),
              StatusIs(kInvalid,
                       "line 1, column 27: DataType has no value \"F33\". "
                       "Did you mean \"DATA_TYPE_F32\"?"));
}

TEST(JsonFileTest, FieldGivenTwiceIsAnErrorInEitherSpelling) {
  EXPECT_THAT(Parse(R"({"name": "a", "name": "b"})"),
              StatusIs(kInvalid, HasSubstr("\"name\" is given twice")));
  EXPECT_THAT(Parse(R"({"buffers": [{"dataType": 1, "data_type": 1}]})"),
              StatusIs(kInvalid, HasSubstr("given twice")));
}

TEST(JsonFileTest, TwoFieldsOfAChoiceAreAnError) {
  EXPECT_THAT(ParseArgument("\"i64\": 1, \"f64\": 2"),
              StatusIs(kInvalid, HasSubstr("excludes field \"i64\"")));
  EXPECT_THAT(ParseArgument("\"i64\": null, \"f64\": 2"), IsOk());
}

TEST(JsonFileTest, SyntaxErrorsHaveTheirPlace) {
  EXPECT_THAT(Parse("{\"name\": \"a\",\n}"), StatusIs(kInvalid, HasSubstr("line 2, column 1: ")));
  EXPECT_THAT(Parse("{\"name\" \"a\"}"), StatusIs(kInvalid, HasSubstr("expected \":\"")));
  EXPECT_THAT(Parse("{} {}"), StatusIs(kInvalid, HasSubstr("expected the end of the file")));
  EXPECT_THAT(Parse("[]"), StatusIs(kInvalid, HasSubstr("expected \"{\"")));
  EXPECT_THAT(Parse("{\"nodes\": {}}"), StatusIs(kInvalid, HasSubstr("expected \"[\"")));
  EXPECT_THAT(Parse("{\"name\": \"a"), StatusIs(kInvalid, HasSubstr("no end")));
  EXPECT_THAT(Parse("{'name': 'a'}"), StatusIs(kInvalid, HasSubstr("double quotes")));
  for (const char* text :
       {"{", "{\"nodes\": [", "{\"name\": 01}", "{\"name\": +1}", "{\"a\":\"\\",
        "{\"name\": \"\\u12\"}", "{\"name\": \"\\ud800\"}", "{\"name\": \"\n\"}",
        "{\"name\": \"\\udc00\\ud800\"}", "{\"name\": \"\\x\"}", "{\"name\":-}"}) {
    EXPECT_THAT(Parse(text), StatusIs(kInvalid, HasSubstr("line "))) << text;
  }
}

TEST(JsonFileTest, EscapesAreDecoded) {
  EXPECT_EQ(Parse(R"({"name": "\u00e4\ud83d\ude00\n\/"})")->name(), "\xc3\xa4\xf0\x9f\x98\x80\n/");
}

TEST(JsonFileTest, ByteOrderMarkIsSkipped) {
  EXPECT_THAT(Parse("\xef\xbb\xbf{\"name\": \"a\"}"), IsOk());
}

TEST(JsonFileTest, NestingBombsAreErrors) {
  std::string objects;
  for (int i = 0; i < 100000; ++i) absl::StrAppend(&objects, "{\"nodes\": [");
  EXPECT_THAT(Parse(objects), StatusIs(kInvalid));
  EXPECT_THAT(Parse(absl::StrCat("{\"nodes\": ", std::string(100000, '['))), StatusIs(kInvalid));
}

// protobuf's own reader is the reference for what a value means.
class JsonDifferentialTest : public ::testing::TestWithParam<const char*> {};

TEST_P(JsonDifferentialTest, AgreesWithProtobuf) {
  const std::string text =
      absl::StrCat("{\"nodes\": [{\"kernel\": {\"args\": [{", GetParam(), "}]}}]}");
  v1::Job theirs;
  const bool accepted = google::protobuf::util::JsonStringToMessage(text, &theirs).ok();
  const absl::StatusOr<v1::Job> ours = Parse(text);
  ASSERT_EQ(ours.ok(), accepted) << ours.status();
  if (accepted) {
    EXPECT_EQ(ours->SerializeAsString(), theirs.SerializeAsString());
  }
}

INSTANTIATE_TEST_SUITE_P(Values, JsonDifferentialTest,
                         ::testing::Values("\"i64\": 5", "\"i64\": \"-5\"", "\"i64\": 1.25",
                                           "\"i64\": \"9223372036854775808\"", "\"i64\": \"abc\"",
                                           "\"f64\": 0.1", "\"f64\": \"1e308\"", "\"f64\": 1e-400",
                                           "\"f64\": -0.0", "\"f64\": \"-Infinity\"",
                                           "\"f64\": \"Inf\"", "\"f64\": true", "\"name\": 5",
                                           "\"name\": \"\\u20ac\"",
                                           "\"view\": {\"offsetBytes\": \"18446744073709551615\"}",
                                           "\"view\": {\"offsetBytes\": -1}",
                                           "\"view\": {\"sizeBytes\": 1e2}", "\"view\": []",
                                           "\"view\": {\"shape\": [1, \"2\", 3.0]}"));

TEST(JsonFileTest, ReadsWhatProtobufPrints) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    v1::Job job;
    job.set_name(absl::StrCat("j\"\\\n\xe2\x82\xac", round));
    v1::BufferDecl& buffer = *job.add_buffers();
    buffer.set_data_type(static_cast<v1::DataType>(random() % 13));
    buffer.add_shape(static_cast<int64_t>(random()));
    v1::KernelNode& kernel = *job.add_nodes()->mutable_kernel();
    kernel.add_args()->set_i64(static_cast<int64_t>(random()));
    double real = 0;
    const uint64_t bits = random();
    std::memcpy(&real, &bits, sizeof real);
    if (std::isnan(real)) real = std::numeric_limits<double>::quiet_NaN();
    kernel.add_args()->set_f64(real);
    kernel.mutable_launch()->set_grid_x(static_cast<uint32_t>(random()));
    std::string bytes(random() % 9, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    job.add_nodes()->mutable_upload()->set_data(bytes);
    job.mutable_options()->set_collect_timeline(random() % 2 == 0);
    std::string text;
    ASSERT_TRUE(google::protobuf::util::MessageToJsonString(job, &text).ok());
    ASSERT_OK_AND_ASSIGN(v1::Job back, Parse(text));
    EXPECT_EQ(back.SerializeAsString(), job.SerializeAsString()) << text;
  }
}

}  // namespace
}  // namespace weft::ir
