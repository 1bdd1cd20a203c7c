// Graphs that nodes run, conditionals and semaphores: the uses that follow from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ir/assumed_device.h"
#include "graph/ir/byte_set.h"
#include "graph/ir/job_file.h"
#include "graph/ir/validate.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/ir/small_kernels.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::IsOk;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

// Copies half of `p` to the other; writes `q` first and reads it then.
constexpr char kGraph[] = R"(
    buffers { name: "b" shape: 64 } buffers { name: "c" shape: 64 }
    buffers { name: "v" data_type: DATA_TYPE_U32 }
    graphs {
      name: "g"
      buffers { name: "p" shape: 16 parameter {} }
      buffers { name: "q" shape: 8 parameter {} }
      buffers { name: "s" shape: 8 }
      nodes { copy { src { buffer: "p" size_bytes: 8 } dst { buffer: "p" offset_bytes: 8 } } }
      nodes { fill { dst { buffer: "q" } } }
      nodes { copy { src { buffer: "q" } dst { buffer: "s" } } }
    }
    graphs { name: "nothing" nodes { empty {} } }
    graphs { name: "fill8" buffers { name: "q" shape: 8 parameter {} }
             nodes { fill { dst { buffer: "q" } } } }
    nodes { name: "b" fill { dst { buffer: "b" } } } nodes { name: "c" fill { dst { buffer: "c" } } }
    nodes { name: "v" fill { dst { buffer: "v" } pattern_bytes: 4 } })";
constexpr char kBind[] = R"(
    bindings { parameter: "p" view { buffer: "b" offset_bytes: 32 size_bytes: 16 } }
    bindings { parameter: "q" view { buffer: "c" size_bytes: 8 } })";

class FlowTest : public ::testing::Test {
 protected:
  absl::StatusOr<Graph> Check(const std::string& nodes) const {
    WEFT_ASSIGN_OR_RETURN(const v1::Job job,
                          ParseJob(absl::StrCat(kGraph, nodes), JobFormat::kText));
    return ValidateJob(job, {.devices = devices_, .registry = &testing::SmallKernels()});
  }
  // "r b[0,4)", "w …", "m …" (a write that may not happen) of the last node but `from_end`.
  std::vector<std::string> UsesOfLast(const std::string& nodes) const {
    absl::StatusOr<Graph> graph = Check(nodes);
    EXPECT_THAT(graph.status(), IsOk());
    std::vector<std::string> uses;
    if (!graph.ok()) return uses;
    for (const Use& use : graph->UsesOf(graph->nodes.back())) {
      const char* kind = kernels::Writes(use.access) ? "w " : "r ";
      if (use.kind == UseKind::kMaybe) kind = "m ";
      if (use.kind == UseKind::kSemaphore) kind = "s ";
      uses.push_back(absl::StrCat(kind, graph->buffer(use.storage).name, "[", use.range.offset, ",",
                                  use.range.end(), ")"));
    }
    return uses;
  }

  std::vector<cuda::DeviceInfo> devices_ = {AssumedDevice()};
};

TEST_F(FlowTest, ANodeUsesWhatItsGraphUsesOfTheBoundViews) {
  EXPECT_THAT(UsesOfLast(absl::StrCat("nodes { graph { graph: \"g\" ", kBind, "} }")),
              UnorderedElementsAre("r b[32,40)", "w b[40,48)", "w c[0,8)"));
}

TEST_F(FlowTest, ABodyThatMayNotRunMayNotWrite) {
  EXPECT_THAT(
      UsesOfLast(absl::StrCat("nodes { conditional { kind: KIND_IF value { buffer: \"v\" } ",
                              "bodies { graph: \"g\" ", kBind, "} } }")),
      UnorderedElementsAre("r v[0,4)", "r b[32,40)", "m b[40,48)", "m c[0,8)"));
}

TEST_F(FlowTest, IfAndElseWriteForCertainWhatBothWrite) {
  EXPECT_THAT(UsesOfLast(R"(nodes { conditional { kind: KIND_IF value { buffer: "v" }
      bodies { graph: "fill8" bindings { parameter: "q" view { buffer: "c" size_bytes: 8 } } }
      bodies { graph: "fill8" bindings { parameter: "q" view { buffer: "c" offset_bytes: 4 size_bytes: 8 } } } } })"),
              UnorderedElementsAre("r v[0,4)", "w c[4,8)", "m c[0,12)"));
}

TEST_F(FlowTest, ASwitchWritesNothingForCertain) {
  EXPECT_THAT(UsesOfLast(R"(nodes { conditional { kind: KIND_SWITCH value { buffer: "v" }
      bodies { graph: "fill8" bindings { parameter: "q" view { buffer: "c" size_bytes: 8 } } }
      bodies { graph: "fill8" bindings { parameter: "q" view { buffer: "c" size_bytes: 8 } } } } })"),
              UnorderedElementsAre("r v[0,4)", "m c[0,8)"));
}

TEST_F(FlowTest, SemaphoresAreNoData) {
  EXPECT_THAT(UsesOfLast("nodes { signal { semaphore { buffer: \"b\" size_bytes: 8 } value: 1 } }"),
              ElementsAre("s b[0,8)"));
}

TEST_F(FlowTest, ReadOnlyParametersMayShareBytes) {
  EXPECT_THAT(Check(R"(
      graphs { name: "r" buffers { name: "a" shape: 8 parameter {} } buffers { name: "z" shape: 8 parameter {} }
               buffers { name: "t" shape: 8 }
               nodes { copy { src { buffer: "a" } dst { buffer: "t" } } } nodes { copy { src { buffer: "z" } dst { buffer: "t" } } } }
      nodes { graph { graph: "r" bindings { parameter: "a" view { buffer: "b" size_bytes: 8 } }
                      bindings { parameter: "z" view { buffer: "b" offset_bytes: 4 size_bytes: 8 } } } })"),
              IsOk());
}

TEST_F(FlowTest, AWaitComesBehindTheSignalOfItsValue) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, Check(R"(
      nodes { name: "wait" wait { semaphore { buffer: "b" size_bytes: 8 } value: 2 } }
      nodes { name: "more" signal { semaphore { buffer: "b" size_bytes: 8 } value: 3 } }
      nodes { name: "just" signal { semaphore { buffer: "b" size_bytes: 8 } value: 2 } })"));
  EXPECT_THAT(graph.AfterOf(graph.nodes[3]), ElementsAre(NodeIndex(5)));
}

TEST_F(FlowTest, AWaitForAnotherJobStandsAlone) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, Check(R"(
      nodes { name: "ping" signal { semaphore { buffer: "b" size_bytes: 8 } value: 1 } }
      nodes { name: "wait" after: "ping" wait { semaphore { buffer: "b" size_bytes: 8 } value: 2 } }
      nodes { name: "pong" after: "wait" signal { semaphore { buffer: "b" size_bytes: 8 } value: 3 } })"));
  EXPECT_THAT(graph.AfterOf(graph.nodes[4]), ElementsAre(NodeIndex(3)));
}

TEST_F(FlowTest, NodesAreCountedForEveryRun) {
  ASSERT_OK_AND_ASSIGN(const Graph graph,
                       Check(absl::StrCat("nodes { graph { graph: \"g\" ", kBind, "} } ",
                                          "nodes { graph { graph: \"nothing\" } }")));
  EXPECT_EQ(graph.expanded_nodes, 5 + 3 + 1);
  EXPECT_EQ(graph.depth, 1);
}

TEST(ByteSetTest, RangesThatTouchBecomeOne) {
  ByteSet set;
  set.Add({8, 8});
  set.Add({0, 8});
  std::vector<ByteRange> ranges;
  set.ForEach([&](ByteRange range) { ranges.push_back(range); });
  EXPECT_THAT(ranges, ElementsAre(ByteRange{0, 16}));
}

TEST(ByteSetTest, GapsAreWhatIsMissing) {
  ByteSet set;
  set.Add({4, 4});
  std::vector<ByteRange> gaps;
  set.ForEachGap({0, 16}, [&](ByteRange gap) { gaps.push_back(gap); });
  EXPECT_THAT(gaps, ElementsAre(ByteRange{0, 4}, ByteRange{8, 8}));
}

TEST(ByteSetTest, CommonIsWhatBothHave) {
  ByteSet a, b;
  a.Add({0, 10});
  a.Add({20, 10});
  b.Add({5, 20});
  std::vector<ByteRange> common;
  a.Common(b).ForEach([&](ByteRange range) { common.push_back(range); });
  EXPECT_THAT(common, ElementsAre(ByteRange{5, 5}, ByteRange{20, 5}));
}

}  // namespace
}  // namespace weft::ir
