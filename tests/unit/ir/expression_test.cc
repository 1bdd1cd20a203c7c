// Nodes that compute expressions: what they launch, read and write.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "graph/ir/assumed_device.h"
#include "graph/ir/limits.h"
#include "graph/ir/validate.h"
#include "tests/testing/status_matchers.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

using ::testing::HasSubstr;
using weft::testing::StatusIs;

constexpr char kBuffers[] =
    "buffers { name: 'x' data_type: DATA_TYPE_F32 shape: 4000 } "
    "buffers { name: 'y' data_type: DATA_TYPE_F32 shape: 4000 } "
    "buffers { name: 'one' data_type: DATA_TYPE_F64 shape: 1 } "
    "nodes { name: 'x' fill { dst { buffer: 'x' } } } "
    "nodes { name: 'one' fill { dst { buffer: 'one' } } } ";

std::string View(const std::string& name, const std::string& buffer) {
  return absl::StrCat("args { name: '", name, "' view { buffer: '", buffer, "' } } ");
}
std::string Compute(const std::string& text, const std::string& arguments) {
  return absl::StrCat("nodes { expression { text: '", text, "' ", arguments, "} } ");
}

absl::StatusOr<Graph> ReadExpressions(const std::string& text) {
  v1::Job job;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &job)) << text;
  const std::vector<cuda::DeviceInfo> devices = {AssumedDevice()};
  return ValidateJob(job, {.devices = devices, .uploads = UploadData::kPresent});
}

TEST(ExpressionNodeTest, LaunchesAKernelMadeOfIt) {
  ASSERT_OK_AND_ASSIGN(const Graph graph,
                       ReadExpressions(absl::StrCat(
                           kBuffers, "modules { name: 'mine' cuda: 's' } ",
                           Compute("z = a * x + one",
                                   absl::StrCat(View("x", "x"), View("z", "y"), View("one", "one"),
                                                "args { name: 'a' f64: 0.5 } ")))));
  ASSERT_EQ(graph.modules.size(), 2u);
  EXPECT_THAT(graph.modules[1].made, HasSubstr("__global__ void expression_0("));
  const auto& op = std::get<UserKernelOp>(graph.nodes[2].op);
  EXPECT_EQ(KindName(graph.nodes[2].op), "expression");
  EXPECT_EQ(op.module, 1u);
  EXPECT_EQ(op.entry, "expression_0");
  EXPECT_EQ(op.launch.grid.x, 4u);
  ASSERT_EQ(op.parameters.size(), 5u);  // z, a, x, one, the number of elements
  EXPECT_EQ(std::get<ScalarParameter>(op.parameters[1]).bits, 0x3f000000u);
  EXPECT_EQ(std::get<ScalarParameter>(op.parameters[4]).bits, 4000u);
  const auto uses = graph.UsesOf(graph.nodes[2]);
  ASSERT_EQ(uses.size(), 3u);
  EXPECT_EQ(uses.back().access, Access::kWrite);
}

TEST(ExpressionNodeTest, KernelsThatDifferInNumbersAndViewsAloneAreOne) {
  ASSERT_OK_AND_ASSIGN(
      const Graph graph,
      ReadExpressions(absl::StrCat(
          kBuffers,
          Compute("y = a * x", View("x", "x") + View("y", "y") + "args { name: 'a' i64: 1 } "),
          Compute("r = k * s", View("s", "y") + View("r", "x") + "args { name: 'k' f64: 2 } "),
          Compute("x = x + 1", View("x", "x")))));
  ASSERT_EQ(graph.modules.size(), 1u);
  EXPECT_EQ(std::get<UserKernelOp>(graph.nodes[3].op).entry, "expression_0");
  EXPECT_EQ(std::get<UserKernelOp>(graph.nodes[4].op).entry, "expression_1");
}

TEST(ExpressionNodeTest, WhatIsWrittenMayBeReadInPlace) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, ReadExpressions(absl::StrCat(
                                              kBuffers, Compute("x = x / 2", View("x", "x")))));
  const auto uses = graph.UsesOf(graph.nodes[2]);
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].access, Access::kRead);
  EXPECT_EQ(uses[1].access, Access::kWrite);
  // A scratch buffer that nothing has written cannot be.
  EXPECT_THAT(ReadExpressions(absl::StrCat(kBuffers, Compute("y = y / 2", View("y", "y")))),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("y")));
}

TEST(ExpressionNodeTest, AJobHasALimitedNumberOfThem) {
  std::string text = kBuffers;
  for (size_t i = 0; i <= kMaxExpressions; ++i) {
    text += Compute(absl::StrCat("y = x + ", i), View("x", "x") + View("y", "y"));
  }
  EXPECT_THAT(ReadExpressions(text),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("one expression too many")));
}

}  // namespace
}  // namespace weft::ir
