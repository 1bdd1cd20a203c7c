// Library nodes: calls found by name, arguments bound, uses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "graph/ir/assumed_device.h"
#include "graph/ir/job_file.h"
#include "graph/ir/validate.h"
#include "tests/testing/status_matchers.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// A product of 2 × 3 and 3 × 4, with more arguments.
std::string Product(absl::string_view more = "") {
  return absl::StrCat(R"(
    buffers { name: "a" data_type: DATA_TYPE_F32 shape: [2, 3] }
    buffers { name: "b" data_type: DATA_TYPE_F32 shape: [3, 4] }
    buffers { name: "d" data_type: DATA_TYPE_F32 shape: [2, 4] }
    nodes { name: "set_a" fill { dst { buffer: "a" } } }
    nodes { name: "set_b" fill { dst { buffer: "b" } } }
    nodes { name: "n" library { call: "blas.matmul"
      args { name: "a" view { buffer: "a" } } args { name: "b" view { buffer: "b" } }
      args { name: "d" view { buffer: "d" } } )",
                      more, " } }");
}

absl::StatusOr<Graph> CheckLibrary(const std::string& text) {
  WEFT_ASSIGN_OR_RETURN(const v1::Job job, ParseJob(text, JobFormat::kText));
  const std::vector<cuda::DeviceInfo> devices = {AssumedDevice()};
  return ValidateJob(job, {.devices = devices});
}

std::vector<std::string> LibraryViolations(const std::string& text) {
  std::vector<std::string> all;
  for (const FieldViolation& violation : ViolationsOf(CheckLibrary(text).status())) {
    all.push_back(absl::StrCat(violation.field, ": ", violation.description));
  }
  return all;
}

TEST(LibraryNodeTest, UsesAreWhatTheCallTouches) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, CheckLibrary(Product()));
  const Node& node = graph.nodes[2];
  const auto& op = std::get<LibraryOp>(node.op);
  EXPECT_EQ(op.schema->name, "blas.matmul");
  EXPECT_EQ(KindName(node.op), "library");
  EXPECT_THAT(graph.ViewsOf(op), SizeIs(3));
  std::vector<std::pair<uint64_t, Access>> uses;
  for (const Use& use : graph.UsesOf(node)) uses.emplace_back(use.range.size, use.access);
  EXPECT_THAT(uses, ElementsAre(std::pair(24u, Access::kRead), std::pair(48u, Access::kRead),
                                std::pair(32u, Access::kWrite)));
}

TEST(LibraryNodeTest, NothingToDoIsANoOp) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, CheckLibrary(Product("args { name: \"batch\" i64: 0 }")));
  EXPECT_TRUE(IsNoOp(graph.nodes[2].op));
}

TEST(LibraryNodeTest, AnUnknownCallIsRefusedWithTheNearest) {
  EXPECT_THAT(LibraryViolations("nodes { name: \"n\" library { call: \"blas.matmull\" } }"),
              ElementsAre(HasSubstr("nodes[0].library.call: node \"n\" makes the unknown call "
                                    "\"blas.matmull\"")));
}

TEST(LibraryNodeTest, ViolationsNameTheArgumentsPlace) {
  EXPECT_THAT(LibraryViolations(Product("args { name: \"epilogue\" text: \"tanh\" }")),
              ElementsAre(HasSubstr("nodes[2].library.args[3]: node \"n\", argument \"epilogue\": "
                                    "\"tanh\" is none of none, relu")));
  EXPECT_THAT(LibraryViolations(Product("args { name: \"bias\" view { buffer: \"x\" } }")),
              ElementsAre(HasSubstr("nodes[2].library.args[3].view")));
}

TEST(LibraryNodeTest, AKernelOfThatNameIsNoCall) {
  EXPECT_THAT(LibraryViolations("nodes { name: \"n\" library { call: \"matmul\" } }"),
              ElementsAre(HasSubstr("unknown call")));
}

}  // namespace
}  // namespace weft::ir
