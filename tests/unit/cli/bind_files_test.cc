#include "client/cli/bind_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "client/cli/npy.h"
#include "client/cli/png.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace weft::cli {
namespace {

using kernels::DType;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using weft::testing::IsOkAndHolds;
using weft::testing::StatusIs;

class BindFilesTest : public ::testing::Test {
 protected:
  std::string WriteNpy(const std::string& name, const ArrayType& type) {
    return dir_.WriteFile(name, MakeNpyHeader(type) + std::string(*BytesOf(type), 'x'));
  }
  JobFile Job(const std::string& text) {
    auto file = ReadJobFile(dir_.WriteFile("job.textproto", text));
    EXPECT_OK(file);
    return file.ok() ? *file : JobFile();
  }
  // A job with one u8 [2, 3] buffer that `node` fills or reads.
  JobFile JobWith(const std::string& nodes) {
    return Job("buffers { name: 'x' shape: [2, 3] }" + nodes);
  }

  weft::testing::TempDir dir_;
};

TEST_F(BindFilesTest, FilesOfAJobAreRelativeToIt) {
  dir_.WriteFile("in.raw", "abcdef");
  JobFile file = JobWith("nodes { upload { dst { buffer: 'x' } file: 'in.raw' } }");
  EXPECT_THAT(BindInputs(file, {}), IsOkAndHolds(ElementsAre(dir_.File("in.raw"))));
  EXPECT_EQ(file.job.nodes(0).upload().data(), "abcdef");
}

TEST_F(BindFilesTest, NpyAndPngMatchTheirView) {
  WriteNpy("in.npy", {DType::kU8, {2, 3, 1}});
  ASSERT_OK_AND_ASSIGN(const std::string png, EncodePng("", {DType::kU8, {2, 3}}, "abcdef"));
  dir_.WriteFile("in.png", png);
  JobFile file = JobWith(
      "nodes { upload { dst { buffer: 'x' } file: 'in.npy' } }"
      "nodes { upload { dst { buffer: 'x' } file: 'in.png' } }");
  EXPECT_OK(BindInputs(file, {}));
  EXPECT_EQ(file.job.nodes(0).upload().data(), "xxxxxx");
  EXPECT_EQ(file.job.nodes(1).upload().data(), "abcdef");
}

TEST_F(BindFilesTest, InputsGivenByHandReplaceTheJobsOwn) {
  const std::string other = dir_.WriteFile("other.raw", "ABCDEF");
  JobFile file = JobWith(
      "nodes { name: 'up' upload { dst { buffer: 'x' } file: 'none.raw' } }"
      "nodes { upload { dst { buffer: 'x' } data: 'inline' } }");
  EXPECT_OK(BindInputs(file, {{"up", other}, {"node1", other}}));
  EXPECT_EQ(file.job.nodes(0).upload().data(), "ABCDEF");
  EXPECT_EQ(file.job.nodes(1).upload().data(), "ABCDEF");
}

TEST_F(BindFilesTest, EveryMisfitIsAViolationThatNamesNodeFileAndBuffer) {
  WriteNpy("f32.npy", {DType::kF32, {2, 3}});
  WriteNpy("wide.npy", {DType::kU8, {3, 2}});
  dir_.WriteFile("short.raw", "abc");
  dir_.WriteFile("bad.png", "no picture");
  JobFile file = JobWith(
      "nodes { name: 'a' upload { dst { buffer: 'x' } file: 'f32.npy' } }"
      "nodes { name: 'b' upload { dst { buffer: 'x' } file: 'wide.npy' } }"
      "nodes { name: 'c' upload { dst { buffer: 'x' } file: 'short.raw' } }"
      "nodes { name: 'd' upload { dst { buffer: 'x' } file: 'none.raw' } }"
      "nodes { name: 'e' upload { dst { buffer: 'x' } file: 'bad.png' } }");
  const auto violations = ViolationsOf(BindInputs(file, {}).status());
  ASSERT_EQ(violations.size(), 5u);
  const std::vector<std::vector<std::string>> expected = {
      {"node \"a\"", "f32.npy", "f32 [2, 3]", "u8 [2, 3] (buffer \"x\")"},
      {"node \"b\"", "wide.npy", "u8 [3, 2]"},
      {"node \"c\"", "short.raw", "3 bytes", "uploads 6"},
      {"node \"d\"", "none.raw", "No such file"},
      {"node \"e\"", "bad.png", "not a readable PNG"}};
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(violations[i].field, absl::StrCat("nodes[", i, "].upload.file"));
    for (const std::string& part : expected[i]) {
      EXPECT_THAT(violations[i].description, HasSubstr(part));
    }
  }
}

TEST_F(BindFilesTest, APartOfABufferTakesAnyShapeOfItsSize) {
  WriteNpy("in.npy", {DType::kU8, {2, 2}});
  JobFile file = JobWith(
      "nodes { upload { dst { buffer: 'x' offset_bytes: 2 } file: 'in.npy' } }"
      "nodes { upload { dst { buffer: 'x' size_bytes: 4 } file: 'in.npy' } }");
  EXPECT_OK(BindInputs(file, {}));
  JobFile wrong = JobWith("nodes { upload { dst { buffer: 'x' size_bytes: 5 } file: 'in.npy' } }");
  EXPECT_THAT(BindInputs(wrong, {}), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(BindFilesTest, WhatOnlyTheServerKnowsIsLeftToIt) {
  WriteNpy("in.npy", {DType::kF64, {7}});
  JobFile file =
      Job("buffers { name: 'x' shared: 'weights' }"
          "nodes { upload { dst { buffer: 'x' } file: 'in.npy' } }"
          "nodes { upload { dst { buffer: 'nowhere' } file: 'in.npy' } }"
          "nodes { download { src { buffer: 'x' } file: 'out.png' } }");
  EXPECT_OK(BindInputs(file, {}));
  EXPECT_OK(PlanOutputs(file, {}, "", {}));
}

TEST_F(BindFilesTest, UnknownNamesAreRefusedWithTheNearest) {
  JobFile file =
      JobWith("nodes { name: 'upload_x' upload { dst { buffer: 'x' } data: '123456' } }");
  EXPECT_THAT(BindInputs(file, {{"uplaod_x", "f"}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"upload_x\"?")));
  EXPECT_THAT(PlanOutputs(file, {}, "", {{"y", "f"}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no output \"y\"")));
}

TEST_F(BindFilesTest, BindingsAreNameEqualsFile) {
  EXPECT_THAT(ParseBindings("input", {"a=b=c", "d=e"}),
              IsOkAndHolds(UnorderedElementsAre(Pair("a", "b=c"), Pair("d", "e"))));
  for (const char* text : {"a", "=b", "a=", ""}) {
    EXPECT_THAT(ParseBindings("input", {text}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("NODE=FILE")));
  }
  EXPECT_THAT(ParseBindings("output", {"a=b", "a=c"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("twice")));
}

TEST_F(BindFilesTest, OutputsGoWhereJobFolderAndOptionsSay) {
  const JobFile file = JobWith(
      "nodes { download { src { buffer: 'x' } output: 'a' file: 'sub/a.png' } }"
      "nodes { name: 'b' download { src { buffer: 'x' } } }");
  EXPECT_THAT(PlanOutputs(file, {}, "", {}),
              IsOkAndHolds(UnorderedElementsAre(Pair("a", dir_.File("sub/a.png")))));
  EXPECT_THAT(PlanOutputs(file, {}, "/out", {}),
              IsOkAndHolds(UnorderedElementsAre(Pair("a", "/out/a.png"), Pair("b", "/out/b.npy"))));
  EXPECT_THAT(PlanOutputs(file, {}, "/out", {{"a", "z.raw"}}),
              IsOkAndHolds(UnorderedElementsAre(Pair("a", "z.raw"), Pair("b", "/out/b.npy"))));
}

TEST_F(BindFilesTest, OutputsNeverOverwriteInputsTheJobOrEachOther) {
  dir_.WriteFile("in.raw", "abcdef");
  std::filesystem::create_symlink(dir_.File("in.raw"), dir_.File("link.raw"));
  JobFile file = JobWith(
      "nodes { upload { dst { buffer: 'x' } file: 'in.raw' } }"
      "nodes { download { src { buffer: 'x' } output: 'a' file: './link.raw' } }"
      "nodes { download { src { buffer: 'x' } output: 'b' file: 'job.textproto' } }"
      "nodes { download { src { buffer: 'x' } output: 'c' file: 'out.raw' } }"
      "nodes { download { src { buffer: 'x' } output: 'd' file: 'none/../out.raw' } }");
  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> inputs, BindInputs(file, {}));
  const auto violations = ViolationsOf(PlanOutputs(file, inputs, "", {}).status());
  ASSERT_EQ(violations.size(), 3u);
  EXPECT_THAT(violations[0].description, AllOf(HasSubstr("\"a\""), HasSubstr("an input")));
  EXPECT_THAT(violations[1].description, AllOf(HasSubstr("\"b\""), HasSubstr("the job file")));
  EXPECT_THAT(violations[2].description, AllOf(HasSubstr("\"d\""), HasSubstr("output \"c\"")));
}

TEST_F(BindFilesTest, AnOutputThatItsFileCannotHoldIsRefusedBeforeTheJobRuns) {
  const JobFile file =
      Job("buffers { name: 'x' data_type: DATA_TYPE_F32 shape: [2, 3] }"
          "nodes { download { src { buffer: 'x' } output: 'a' file: 'a.png' } }");
  EXPECT_THAT(PlanOutputs(file, {}, "", {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("a.png"), HasSubstr("f32 [2, 3]"))));
}

TEST_F(BindFilesTest, WritesOutputsWithMissingFolders) {
  v1::JobOutput output;
  output.set_data_type(v1::DATA_TYPE_I16);
  output.add_shape(2);
  output.set_data("abcd");
  const std::string path = dir_.File("a/b/c.npy");
  ASSERT_OK(WriteOutput(path, output));
  ASSERT_OK_AND_ASSIGN(const Array array, ReadArray(path, 100));
  EXPECT_EQ(array.type, (ArrayType{DType::kI16, {2}}));
  EXPECT_EQ(array.bytes, "abcd");
}

TEST_F(BindFilesTest, ASyntaxErrorNamesFileLineAndColumn) {
  EXPECT_THAT(ReadJobFile(dir_.WriteFile("bad.textproto", "name: 'x'\nnodez {}")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("bad.textproto"), HasSubstr("line 2"))));
  EXPECT_THAT(ReadJobFile("x.job"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(".textproto")));
}

}  // namespace
}  // namespace weft::cli
