#include "graph/ir/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ir/assumed_device.h"
#include "graph/ir/job_file.h"
#include "graph/ir/upload_bytes.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/ir/small_kernels.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::kInvalid;
using ::testing::SizeIs;
using testing::StatusIs;

class ValidateTest : public ::testing::Test {
 protected:
  absl::StatusOr<Graph> Check(absl::string_view text) const {
    WEFT_ASSIGN_OR_RETURN(const v1::Job job, ParseJob(text, JobFormat::kText));
    return ValidateJob(job, context_);
  }
  // "field: description" of every violation.
  std::vector<std::string> Violations(absl::string_view text) const {
    std::vector<std::string> all;
    for (const FieldViolation& violation : ViolationsOf(Check(text).status())) {
      all.push_back(absl::StrCat(violation.field, ": ", violation.description));
    }
    return all;
  }

  std::vector<cuda::DeviceInfo> devices_ = {AssumedDevice()};
  JobContext context_ = {
      .devices = devices_,
      .resolver = [](const SharedRequest& request) -> absl::StatusOr<SharedBuffer> {
        if (request.reference == "secret") return absl::PermissionDeniedError("it is another's");
        if (request.reference != "frames" && request.reference != "#7") {
          return absl::NotFoundError("there is no such buffer");
        }
        return SharedBuffer{BufferId(7), kernels::DType::kF32, {4, 8}, 128, 0};
      },
      .registry = &testing::SmallKernels()};
};

TEST_F(ValidateTest, FillsDefaults) {
  ASSERT_OK_AND_ASSIGN(Graph graph,
                       Check("buffers { name: \"b\" } nodes { fill { dst { buffer: \"b\" } } }"));
  EXPECT_EQ(graph.nodes[0].name, "node0");
  EXPECT_EQ(graph.buffers[0].dtype, kernels::DType::kU8);
  EXPECT_THAT(graph.buffers[0].shape, ElementsAre(1));
  EXPECT_EQ(std::get<FillOp>(graph.nodes[0].op).pattern_bytes, 1);
}

TEST_F(ValidateTest, KernelUsesAreTheBytesThatItTouches) {
  ASSERT_OK_AND_ASSIGN(Graph graph, Check(R"(
      buffers { name: "x" data_type: DATA_TYPE_F32 shape: 100 }
      nodes { kernel { kernel: "produce" args { name: "n" i64: 10 }
                       args { name: "dst" view { buffer: "x" offset_bytes: 40 } } } })"));
  ASSERT_THAT(graph.uses, SizeIs(1));
  EXPECT_EQ(graph.uses[0].range, (ByteRange{40, 40}));
  EXPECT_EQ(graph.uses[0].access, Access::kWrite);
  EXPECT_EQ(graph.views[0].range, (ByteRange{40, 360}));
}

TEST_F(ValidateTest, SharedBufferTakesItsOwnTypeAndShape) {
  ASSERT_OK_AND_ASSIGN(Graph graph, Check(R"(buffers { name: "b" shared: "frames" }
      nodes { name: "d" download { src { buffer: "b" } } })"));
  EXPECT_EQ(graph.outputs[0].name, "d");
  EXPECT_EQ(graph.outputs[0].dtype, kernels::DType::kF32);
  EXPECT_THAT(graph.outputs[0].shape, ElementsAre(4, 8));
}

TEST_F(ValidateTest, AnOutputIsDeliveredAtTheEndUnlessTheJobSaysOtherwise) {
  ASSERT_OK_AND_ASSIGN(Graph graph, Check(R"(buffers { name: "b" shared: "frames" }
      nodes { download { src { buffer: "b" } } }
      nodes { download { src { buffer: "b" } delivery: DELIVERY_AT_END } }
      nodes { download { src { buffer: "b" } delivery: DELIVERY_WHEN_READY } })"));
  EXPECT_FALSE(IsHostOutput(graph.nodes[0].op));
  EXPECT_FALSE(IsHostOutput(graph.nodes[1].op));
  EXPECT_TRUE(IsHostOutput(graph.nodes[2].op));
  EXPECT_EQ(graph.outputs[2].delivery, Delivery::kWhenReady);
}

TEST_F(ValidateTest, OneHostOutputTooManyIsReportedOnce) {
  std::string job = "buffers { name: 'b' shared: 'frames' } ";
  for (size_t i = 0; i < kMaxHostOutputs; ++i) {
    job += "nodes { download { src { buffer: 'b' } delivery: DELIVERY_WHEN_READY } } ";
  }
  EXPECT_OK(Check(job).status());
  for (int i = 0; i < 2; ++i) {
    job += "nodes { download { src { buffer: 'b' } delivery: DELIVERY_WHEN_READY } } ";
  }
  const absl::Status refused = Check(job).status();
  EXPECT_THAT(refused, StatusIs(kInvalid, HasSubstr("one more than the 1024 outputs")));
  EXPECT_EQ(ViolationsOf(refused).size(), 1u);
}

TEST_F(ValidateTest, SharedBufferMayBeDescribedAnewButMustFit) {
  ASSERT_OK_AND_ASSIGN(Graph graph,
                       Check(R"(buffers { name: "a" shared: "frames" data_type: DATA_TYPE_F64 }
               buffers { name: "b" shared: "frames" data_type: DATA_TYPE_U8 shape: 100 }
               nodes { empty {} })"));
  EXPECT_THAT(graph.buffers[0].shape, ElementsAre(16));
  EXPECT_EQ(graph.buffers[1].size_bytes, 100);
  EXPECT_THAT(
      Check(R"(buffers { name: "a" shared: "frames" shape: 33 } nodes { empty {} })"),
      StatusIs(kInvalid, HasSubstr("declared with 132 bytes, but the shared buffer has 128")));
}

TEST_F(ValidateTest, TwoDeclarationsOfOneSharedBufferHaveOneStorage) {
  ASSERT_OK_AND_ASSIGN(Graph graph, Check(R"(
      buffers { name: "a" shared: "frames" } buffers { name: "s" }
      buffers { name: "b" shared: "#7" }
      nodes { fill { dst { buffer: "b" } } })"));
  EXPECT_EQ(graph.buffers[2].storage, BufferIndex(0));
  EXPECT_EQ(graph.uses[0].storage, BufferIndex(0));
  EXPECT_THAT(Check(R"(
      buffers { name: "a" shared: "frames" } buffers { name: "b" shared: "#7" }
      nodes { copy { src { buffer: "a" } dst { buffer: "b" } } })"),
              StatusIs(kInvalid, HasSubstr("share bytes [0, 128)")));
}

TEST_F(ValidateTest, CodeIsTheResolversWhenNothingElseIsWrong) {
  EXPECT_THAT(Check("buffers { name: \"b\" shared: \"frame\" } nodes { empty {} }"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("buffers[0].shared")));
  EXPECT_THAT(Check("buffers { name: \"b\" shared: \"secret\" } nodes { empty {} }"),
              StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(Check("buffers { name: \"b\" shared: \"frame\" } nodes {}"), StatusIs(kInvalid));
}

TEST_F(ValidateTest, DescribedJobGivesTheSameGraphWithoutTheResolver) {
  v1::Job job = *ParseJob(R"(
      buffers { name: "a" shared: "frames" }
      buffers { name: "b" shared: "frames" data_type: DATA_TYPE_U8 }
      nodes { name: "d" download { src { buffer: "a" } } }
      nodes { name: "u" upload { dst { buffer: "b" size_bytes: 2 } data: "ab" } })",
                          JobFormat::kText);
  ASSERT_OK_AND_ASSIGN(Graph first, ValidateJob(job, context_));
  DescribeSharedBuffers(first, job);
  TakeUploadBytes(job);
  ASSERT_OK_AND_ASSIGN(Graph second,
                       ValidateJob(job, {.devices = devices_, .uploads = UploadData::kStripped}));
  ASSERT_EQ(second.buffers.size(), first.buffers.size());
  for (size_t i = 0; i < first.buffers.size(); ++i) {
    EXPECT_EQ(second.buffers[i].shape, first.buffers[i].shape);
    EXPECT_EQ(second.buffers[i].dtype, first.buffers[i].dtype);
    EXPECT_EQ(second.buffers[i].storage, first.buffers[i].storage);
  }
  EXPECT_EQ(second.outputs[0].shape, first.outputs[0].shape);
}

TEST_F(ValidateTest, WithoutAServerSharedBuffersMustBeDeclared) {
  const v1::Job job =
      *ParseJob("buffers { name: \"b\" shared: \"s\" } nodes { empty {} }", JobFormat::kText);
  EXPECT_THAT(ValidateJob(job, {.devices = devices_}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("data_type and shape")));
}

TEST_F(ValidateTest, ReportsAllViolationsNotJustTheFirst) {
  EXPECT_THAT(Violations(R"(
      buffers { name: "x" shape: 8 }
      nodes { name: "a b" fill { dst { buffer: "y" } } }
      nodes { name: "c" after: "d" fill { dst { buffer: "x" offset_bytes: 9 } pattern_bytes: 3 } }
      nodes { name: "c" })"),
              ElementsAre(HasSubstr("nodes[0].name: "), HasSubstr("nodes[2].name: "),
                          HasSubstr("nodes[0].fill.dst.buffer: "), HasSubstr("nodes[1].after[0]: "),
                          HasSubstr("nodes[1].fill.dst: "),
                          HasSubstr("nodes[1].fill.pattern_bytes: "), HasSubstr("nodes[2]: ")));
}

TEST_F(ValidateTest, ListsTheFirstViolationsAndCountsTheOthers) {
  context_.limits.max_reported = 2;
  const std::vector<std::string> all = Violations("nodes {} nodes {} nodes {} nodes {} nodes {}");
  EXPECT_THAT(all, ElementsAre(HasSubstr("nodes[0]"), HasSubstr("nodes[1]"),
                               HasSubstr("3 more faults are not listed")));
}

TEST_F(ValidateTest, EveryLimitIsChecked) {
  context_.limits.max_nodes = 1;
  EXPECT_THAT(Check("nodes { empty {} } nodes { empty {} }"),
              StatusIs(kInvalid, HasSubstr("2 nodes; the limit is 1")));
  context_.limits = {};
  context_.limits.max_buffers = 1;
  EXPECT_THAT(Check("buffers { name: \"a\" } buffers { name: \"b\" } nodes { empty {} }"),
              StatusIs(kInvalid, HasSubstr("2 buffers; the limit is 1")));
  context_.limits = {};
  context_.limits.max_arguments = 1;
  EXPECT_THAT(Check("nodes { kernel { kernel: \"map\" args {} args {} } }"),
              StatusIs(kInvalid, HasSubstr("2 arguments; the limit is 1")));
  context_.limits.max_after = 1;
  EXPECT_THAT(Check("nodes { name: \"n\" after: [\"a\", \"b\"] empty {} }"),
              StatusIs(kInvalid, HasSubstr("2 entries; the limit is 1")));
}

TEST_F(ValidateTest, OutputsOverTheLimitTogetherAreRefusedWithBothFigures) {
  context_.limits.max_output_bytes = 99;
  EXPECT_THAT(Violations(R"(buffers { name: "b" shape: 50 }
                            nodes { fill { dst { buffer: "b" } } }
                            nodes { name: "one" download { src { buffer: "b" } } }
                            nodes { name: "two" download { src { buffer: "b" } } })"),
              ElementsAre(AllOf(HasSubstr("100 bytes together"), HasSubstr("the limit is 99"))));
}

TEST_F(ValidateTest, SizesThatOverflowWhenAddedAreOutside) {
  EXPECT_THAT(Check(R"(buffers { name: "x" shape: 8 } nodes { fill { dst {
                       buffer: "x" offset_bytes: 18446744073709551615 size_bytes: 2 } } })"),
              StatusIs(kInvalid, HasSubstr("2 bytes from byte 18446744073709551615")));
  EXPECT_THAT(Check("buffers { name: \"x\" shape: [4294967296, 4294967296] } nodes { empty {} }"),
              StatusIs(kInvalid, HasSubstr("more than 1099511627776 bytes")));
}

TEST_F(ValidateTest, ZeroSizesAreNoOpsThatUseNothing) {
  ASSERT_OK_AND_ASSIGN(Graph graph, Check(R"(
      buffers { name: "x" data_type: DATA_TYPE_F32 shape: [0, 5] }
      buffers { name: "y" data_type: DATA_TYPE_F32 shape: 5 }
      nodes { kernel { kernel: "update" args { name: "x" view { buffer: "x" } } } }
      nodes { fill { dst { buffer: "y" offset_bytes: 20 } } }
      nodes { copy { src { buffer: "x" } dst { buffer: "y" shape: 0 } } }
      nodes { upload { dst { buffer: "x" } } }
      nodes { download { src { buffer: "x" } } })"));
  EXPECT_THAT(graph.uses, SizeIs(0));
  for (const Node& node : graph.nodes) EXPECT_TRUE(IsNoOp(node.op)) << node.name;
}

TEST_F(ValidateTest, ReadingScratchBytesThatNobodyWroteNamesTheBytes) {
  EXPECT_THAT(
      Check(R"(
      buffers { name: "x" shape: 8 }
      nodes { name: "w" fill { dst { buffer: "x" size_bytes: 4 } } }
      nodes { name: "w2" fill { dst { buffer: "x" offset_bytes: 6 } } }
      nodes { name: "r" download { src { buffer: "x" offset_bytes: 2 } } })"),
      StatusIs(kInvalid, HasSubstr("node \"r\" reads bytes [4, 6) of scratch buffer \"x\"")));
  EXPECT_THAT(Check(R"(
      buffers { name: "x" shape: 8 }
      nodes { name: "w" fill { dst { buffer: "x" size_bytes: 4 } } }
      nodes { name: "w2" fill { dst { buffer: "x" offset_bytes: 4 } } }
      nodes { name: "r" download { src { buffer: "x" offset_bytes: 2 } } })"),
              IsOk());
}

TEST_F(ValidateTest, WithExplicitOrderAnyWriterOfTheBytesWillDo) {
  constexpr absl::string_view kJob = R"(
      buffers { name: "x" shape: 8 } options { ordering: ORDERING_EXPLICIT }
      nodes { name: "r" after: "w" download { src { buffer: "x" } } }
      nodes { name: "w" fill { dst { buffer: "x" } } })";
  EXPECT_THAT(Check(kJob), IsOk());
}

TEST_F(ValidateTest, CycleIsNamedInOrder) {
  EXPECT_THAT(
      Check(
          "nodes { name: \"a\" after: \"c\" empty {} } nodes { name: \"b\" after: \"a\" empty {} }"
          "nodes { name: \"c\" after: \"b\" empty {} }"),
      StatusIs(kInvalid, HasSubstr("a -> b -> c -> a")));
}

TEST_F(ValidateTest, RepeatedAfterCountsOnce) {
  ASSERT_OK_AND_ASSIGN(Graph graph, Check("nodes { name: \"a\" empty {} }"
                                          "nodes { after: [\"a\", \"a\"] empty {} }"));
  EXPECT_THAT(graph.after, SizeIs(1));
}

TEST_F(ValidateTest, DeviceLimitsAreChecked) {
  const auto launch = [](absl::string_view shape) {
    return absl::StrCat(R"(buffers { name: "x" data_type: DATA_TYPE_F32 shape: 9 }
        nodes { kernel { kernel: "produce" args { name: "dst" view { buffer: "x" } } launch { )",
                        shape, " } } }");
  };
  EXPECT_THAT(Check(launch("grid_x: 1 grid_y: 1 grid_z: 1 block_x: 32 block_y: 1 block_z: 1")),
              IsOk());
  EXPECT_THAT(Check(launch("grid_x: 0 grid_y: 1 grid_z: 1 block_x: 32 block_y: 1 block_z: 1")),
              StatusIs(kInvalid, HasSubstr("grid: x is 0")));
  EXPECT_THAT(Check(launch("grid_x: 1 grid_y: 65536 grid_z: 1 block_x: 32 block_y: 1 block_z: 1")),
              StatusIs(kInvalid, HasSubstr("grid: y is 65536, above the device's limit of 65535")));
  EXPECT_THAT(Check(launch("grid_x: 1 grid_y: 1 grid_z: 1 block_x: 64 block_y: 64 block_z: 1")),
              StatusIs(kInvalid, HasSubstr("= 4096 threads, above the device's limit of 1024")));
  devices_[0].max_parameter_bytes = 8;
  EXPECT_THAT(Check(launch("grid_x: 1 grid_y: 1 grid_z: 1 block_x: 32 block_y: 1 block_z: 1")),
              StatusIs(kInvalid, HasSubstr("parameters: 16 bytes, above the device's limit of 8")));
}

TEST_F(ValidateTest, HostileNamesAreQuotedWithEscapesAndCut) {
  v1::Job job;
  job.add_nodes()->add_after(std::string(100000, '\x01'));
  job.mutable_nodes(0)->mutable_empty();
  const absl::Status status = ValidateJob(job, context_).status();
  EXPECT_THAT(status, StatusIs(kInvalid, HasSubstr("\\x01")));
  EXPECT_LT(status.message().size(), 600);
}

TEST_F(ValidateTest, UploadBytesAreCheckedWherePresent) {
  constexpr absl::string_view kJob =
      "buffers { name: \"x\" shape: 4 } nodes { upload { dst { buffer: \"x\" } } }";
  EXPECT_THAT(Check(kJob), StatusIs(kInvalid, HasSubstr("uploads 0 bytes into a view of 4")));
  context_.uploads = UploadData::kStripped;
  ASSERT_OK_AND_ASSIGN(Graph graph, Check(kJob));
  const std::string good = "abcd";
  const std::string bad = "abc";
  EXPECT_THAT(CheckUploadBytes(graph, {good}), IsOk());
  EXPECT_THAT(CheckUploadBytes(graph, {bad}),
              StatusIs(kInvalid, AllOf(HasSubstr("nodes[0].upload.data"), HasSubstr("3 bytes"))));
}

}  // namespace
}  // namespace weft::ir
