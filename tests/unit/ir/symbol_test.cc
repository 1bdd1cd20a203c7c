// Nodes that set variables of modules: their order with the kernels, and their inline bytes.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ir/assumed_device.h"
#include "graph/ir/upload_bytes.h"
#include "graph/ir/validate.h"
#include "tests/testing/status_matchers.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using weft::testing::StatusIs;

constexpr char kHead[] =
    "buffers { name: 'x' data_type: DATA_TYPE_F32 shape: 4 } "
    "modules { name: 'mine' cuda: 's' } modules { name: 'other' cuda: 's' } ";

std::string Launch(const std::string& module) {
  return absl::StrCat("nodes { user_kernel { module: '", module,
                      "' entry: 'k' launch { grid_x: 1 grid_y: 1 grid_z: 1 block_x: 1 block_y: 1 ",
                      "block_z: 1 } } } ");
}
std::string Set(const std::string& module, const std::string& rest = "data: '1234'") {
  return absl::StrCat("nodes { symbol { module: '", module, "' symbol: 'c' ", rest, " } } ");
}

v1::Job SymbolJob(const std::string& text) {
  v1::Job job;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &job));
  return job;
}

absl::StatusOr<Graph> ReadSymbols(const v1::Job& job, UploadData uploads = UploadData::kPresent) {
  const std::vector<cuda::DeviceInfo> devices = {AssumedDevice()};
  return ValidateJob(job, {.devices = devices, .uploads = uploads});
}

std::vector<uint32_t> AfterOf(const Graph& graph, uint32_t node) {
  std::vector<uint32_t> after;
  for (const NodeIndex before : graph.AfterOf(graph.nodes[node])) after.push_back(before.value());
  return after;
}

TEST(SymbolTest, KernelsComeBehindWhatSetTheVariablesBeforeThem) {
  ASSERT_OK_AND_ASSIGN(
      const Graph graph,
      ReadSymbols(SymbolJob(absl::StrCat(kHead, Launch("mine"), Set("mine"), Launch("mine"),
                                         Launch("mine"), Set("mine"), Launch("mine")))));
  EXPECT_THAT(AfterOf(graph, 0), IsEmpty());
  EXPECT_THAT(AfterOf(graph, 1), ElementsAre(0));
  EXPECT_THAT(AfterOf(graph, 2), ElementsAre(1));
  EXPECT_THAT(AfterOf(graph, 3), ElementsAre(1));
  EXPECT_THAT(AfterOf(graph, 4), ElementsAre(1, 2, 3));
  EXPECT_THAT(AfterOf(graph, 5), ElementsAre(4));
}

TEST(SymbolTest, ANodeThatRunsGraphsLaunchesTheirKernels) {
  const std::string graphs =
      absl::StrCat("graphs { name: 'inner' ", Launch("mine"),
                   "} graphs { name: 'outer' nodes { graph { graph: 'inner' } } } ");
  const std::string run = "nodes { graph { graph: 'outer' } } ";
  ASSERT_OK_AND_ASSIGN(
      const Graph graph,
      ReadSymbols(SymbolJob(absl::StrCat(kHead, graphs, run, Set("mine"), run, Set("other")))));
  EXPECT_THAT(AfterOf(graph, 1), ElementsAre(0));
  EXPECT_THAT(AfterOf(graph, 2), ElementsAre(1));
  EXPECT_THAT(AfterOf(graph, 3), IsEmpty());
}

TEST(SymbolTest, ModulesAreApart) {
  ASSERT_OK_AND_ASSIGN(const Graph graph,
                       ReadSymbols(SymbolJob(absl::StrCat(kHead, Set("mine"), Launch("other"),
                                                          Set("other"), Launch("mine")))));
  EXPECT_THAT(AfterOf(graph, 1), IsEmpty());
  EXPECT_THAT(AfterOf(graph, 2), ElementsAre(1));
  EXPECT_THAT(AfterOf(graph, 3), ElementsAre(0));
}

TEST(SymbolTest, WithExplicitOrderingNothingIsAdded) {
  ASSERT_OK_AND_ASSIGN(
      const Graph graph,
      ReadSymbols(SymbolJob(absl::StrCat(kHead, Set("mine"), Launch("mine"),
                                         "options { ordering: ORDERING_EXPLICIT }"))));
  EXPECT_THAT(AfterOf(graph, 1), IsEmpty());
}

TEST(SymbolTest, AViewIsReadByTheNode) {
  ASSERT_OK_AND_ASSIGN(
      const Graph graph,
      ReadSymbols(SymbolJob(absl::StrCat(
          kHead, "nodes { fill { dst { buffer: 'x' } } } ",
          Set("mine", "src { buffer: 'x' offset_bytes: 4 size_bytes: 8 } offset_bytes: 12")))));
  const auto& op = std::get<SymbolOp>(graph.nodes[1].op);
  EXPECT_EQ(op.size_bytes, 8u);
  EXPECT_EQ(op.offset_bytes, 12u);
  ASSERT_EQ(graph.UsesOf(NodeIndex(1)).size(), 1u);
  EXPECT_EQ(graph.UsesOf(NodeIndex(1))[0].range, (ByteRange{4, 8}));
  EXPECT_EQ(graph.UsesOf(NodeIndex(1))[0].access, Access::kRead);
}

TEST(SymbolTest, InlineBytesAreUploadsThatLeaveTheirSizeBehind) {
  v1::Job job = SymbolJob(
      absl::StrCat(kHead, Set("mine"), "nodes { upload { dst { buffer: 'x' } data: '", "0123456789",
                   "abcdef' } } ", Set("mine", "src { buffer: 'x' }"), Set("mine", "data: '56'")));
  const v1::Job whole = job;
  std::vector<std::string> bytes = TakeUploadBytes(job);
  EXPECT_THAT(bytes, ElementsAre("1234", "0123456789abcdef", "56"));
  ASSERT_OK_AND_ASSIGN(const Graph graph, ReadSymbols(job, UploadData::kStripped));
  EXPECT_EQ(graph.upload_count, 3u);
  EXPECT_EQ(UploadOf(graph.nodes[3].op), 2u);
  EXPECT_EQ(StagedBytes(graph.nodes[3].op), 2u);
  EXPECT_OK(CheckUploadBytes(graph, bytes));
  bytes[2] = "567";
  EXPECT_THAT(CheckUploadBytes(graph, bytes), StatusIs(absl::StatusCode::kInvalidArgument));
  bytes[2] = "56";
  RestoreUploadBytes(job, bytes);
  EXPECT_EQ(job.nodes(0).symbol().data(), whole.nodes(0).symbol().data());
}

}  // namespace
}  // namespace weft::ir
