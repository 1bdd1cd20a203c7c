// Boxes, rows, pinned and managed buffers, prefetches and advice. What is refused, and how it reads,
// is in tests/jobs/bad.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"
#include "graph/ir/assumed_device.h"
#include "graph/ir/job_file.h"
#include "graph/ir/validate.h"
#include "tests/testing/status_matchers.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

using ::testing::HasSubstr;
using testing::kInvalid;
using ::testing::SizeIs;
using testing::StatusIs;

class MemoryNodeTest : public ::testing::Test {
 protected:
  absl::StatusOr<Graph> Check(absl::string_view text) const {
    WEFT_ASSIGN_OR_RETURN(const v1::Job job, ParseJob(text, JobFormat::kText));
    JobContext context;
    context.devices = devices_;
    context.limits = limits_;
    return ValidateJob(job, context);
  }
  // A job with a matrix of 8 rows of 16 bytes that is wholly written, and one node more.
  absl::StatusOr<Graph> OnMatrix(absl::string_view node) const {
    return Check(absl::StrCat(R"(
        buffers { name: "m" shape: 128 } buffers { name: "tile" shape: 32 }
        nodes { fill { dst { buffer: "m" } } } nodes { fill { dst { buffer: "tile" } } })",
                              node));
  }

  std::vector<cuda::DeviceInfo> devices_ = {AssumedDevice()};
  Limits limits_;
};

TEST_F(MemoryNodeTest, BoxIsReadByWhatItsRowsReachOver) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, OnMatrix(R"(
      nodes { copy { src { buffer: "m" offset_bytes: 20 } dst { buffer: "tile" }
                     box { width_bytes: 8 rows: 4 src_pitch_bytes: 16 } } })"));
  ASSERT_THAT(graph.uses, SizeIs(4));
  EXPECT_EQ(graph.uses[2].range, (ByteRange{20, 3 * 16 + 8}));
  EXPECT_EQ(graph.runs[graph.uses[2].runs], (Runs{8, 4, 16, 1, 0}));
  EXPECT_EQ(graph.uses[3].range, (ByteRange{0, 32}));
  EXPECT_EQ(graph.uses[3].access, Access::kWrite);
}

TEST_F(MemoryNodeTest, BoxWithoutGapsIsAPlainCopy) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, OnMatrix(R"(
      nodes { copy { src { buffer: "m" } dst { buffer: "tile" }
                     box { width_bytes: 8 rows: 2 slices: 2 } } })"));
  const auto& copy = std::get<CopyOp>(graph.nodes[2].op);
  EXPECT_FALSE(copy.box.has_value());
  EXPECT_EQ(copy.src.range, (ByteRange{0, 32}));
  EXPECT_EQ(graph.uses[2].runs, Use::kAllBytes);
}

TEST_F(MemoryNodeTest, BoxesOfOneBufferMayInterleave) {
  EXPECT_OK(OnMatrix(R"(
      nodes { copy { src { buffer: "m" } dst { buffer: "m" offset_bytes: 8 }
                     box { width_bytes: 8 rows: 8 src_pitch_bytes: 16 dst_pitch_bytes: 16 } } })"));
}

TEST_F(MemoryNodeTest, BoxesOfOneBufferMayLieApartWithAnyPitch) {
  EXPECT_OK(OnMatrix(R"(
      nodes { copy { src { buffer: "m" } dst { buffer: "m" offset_bytes: 64 }
                     box { width_bytes: 4 rows: 4 src_pitch_bytes: 16 dst_pitch_bytes: 5 } } })"));
}

TEST_F(MemoryNodeTest, GapsOfABoxDoNotCountAsWritten) {
  const absl::string_view kJob = R"(
      buffers { name: "m" shape: 64 } buffers { name: "tile" shape: 16 }
      nodes { fill { dst { buffer: "tile" } } }
      nodes { copy { src { buffer: "tile" } dst { buffer: "m" }
                     box { width_bytes: 4 rows: 4 dst_pitch_bytes: 16 } } }
      nodes { name: "read" download { src { buffer: "m" offset_bytes: 16 size_bytes: $0 } } })";
  EXPECT_OK(Check(absl::StrReplaceAll(kJob, {{"$0", "4"}})));
  EXPECT_THAT(Check(absl::StrReplaceAll(kJob, {{"$0", "8"}})),
              StatusIs(kInvalid, HasSubstr("reads bytes [20, 24)")));
}

TEST_F(MemoryNodeTest, GapsOfABoxNeedNotBeWrittenToReadIt) {
  EXPECT_OK(Check(R"(
      buffers { name: "m" shape: 64 } buffers { name: "tile" shape: 16 }
      nodes { fill { dst { buffer: "m" } width_bytes: 4 rows: 4 pitch_bytes: 16 } }
      nodes { copy { src { buffer: "m" } dst { buffer: "tile" }
                     box { width_bytes: 4 rows: 4 src_pitch_bytes: 16 } } })"));
}

TEST_F(MemoryNodeTest, RowsBeyondWhatIsLookedAtCountAsWritten) {
  EXPECT_OK(Check(R"(
      buffers { name: "m" shape: 4194304 }
      nodes { fill { dst { buffer: "m" } width_bytes: 1 rows: 1048576 pitch_bytes: 4 } }
      nodes { download { src { buffer: "m" offset_bytes: 4 size_bytes: 4 } } })"));
}

TEST_F(MemoryNodeTest, FillOfRowsThatTouchIsAPlainFill) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, OnMatrix(R"(
      nodes { fill { dst { buffer: "m" offset_bytes: 16 } width_bytes: 8 rows: 3 } })"));
  const auto& fill = std::get<FillOp>(graph.nodes[2].op);
  EXPECT_FALSE(fill.rows.has_value());
  EXPECT_EQ(fill.dst.range, (ByteRange{16, 24}));
}

TEST_F(MemoryNodeTest, PrefetchIsOrderedAsAWriteAndNeedsNoBytes) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, Check(R"(
      buffers { name: "x" shape: 64 managed {} }
      nodes { prefetch { view { buffer: "x" } } }
      nodes { prefetch { view { buffer: "x" size_bytes: 8 } to: LOCATION_HOST } })"));
  EXPECT_EQ(graph.buffers[0].memory, MemoryKind::kManaged);
  ASSERT_THAT(graph.uses, SizeIs(2));
  EXPECT_EQ(graph.uses[0].access, Access::kReadWrite);
  EXPECT_EQ(std::get<PrefetchOp>(graph.nodes[0].op).to, Location::kDevice);
  EXPECT_EQ(std::get<PrefetchOp>(graph.nodes[1].op).to, Location::kHost);
}

TEST_F(MemoryNodeTest, PrefetchDoesNotCountAsAWrite) {
  EXPECT_THAT(Check(R"(
                  buffers { name: "x" shape: 64 managed {} }
                  nodes { prefetch { view { buffer: "x" } } }
                  nodes { name: "n" download { src { buffer: "x" } } })"),
              StatusIs(kInvalid, HasSubstr("of managed buffer \"x\"")));
}

TEST_F(MemoryNodeTest, AdviceUsesNoBytes) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, Check(R"(
      buffers { name: "x" shape: 64 managed {} }
      nodes { advise { view { buffer: "x" } advice: ADVICE_ACCESSED_BY location: LOCATION_HOST } })"));
  EXPECT_THAT(graph.uses, SizeIs(0));
  EXPECT_TRUE(IsNoOp(graph.nodes[0].op));
}

TEST_F(MemoryNodeTest, ManagedBuffersNeedADeviceThatSharesThem) {
  devices_[0].concurrent_managed_access = false;
  EXPECT_THAT(Check(R"(buffers { name: "x" shape: 64 managed {} }
                       nodes { fill { dst { buffer: "x" } } })"),
              StatusIs(kInvalid, HasSubstr("device 0 has no concurrent access to managed memory")));
}

TEST_F(MemoryNodeTest, PinnedBuffersAreLimited) {
  limits_.max_pinned_bytes = 100;
  const absl::string_view kJob = R"(
      buffers { name: "x" shape: 50 pinned {} } buffers { name: "y" shape: $0 pinned {} }
      nodes { fill { dst { buffer: "x" } } })";
  EXPECT_OK(Check(absl::StrReplaceAll(kJob, {{"$0", "50"}})));
  EXPECT_THAT(Check(absl::StrReplaceAll(kJob, {{"$0", "51"}})),
              StatusIs(kInvalid, HasSubstr("101 bytes together; the limit is 100")));
}

TEST_F(MemoryNodeTest, PitchIsHeldToTheDevice) {
  devices_[0].max_pitch_bytes = 15;
  EXPECT_THAT(OnMatrix(R"(
                  nodes { fill { dst { buffer: "m" } width_bytes: 8 rows: 4 pitch_bytes: 16 } })"),
              StatusIs(kInvalid, HasSubstr("the device's limit is 15")));
  EXPECT_THAT(OnMatrix(R"(
                  nodes { copy { src { buffer: "m" } dst { buffer: "tile" }
                                 box { width_bytes: 8 rows: 4 src_pitch_bytes: 16 } } })"),
              StatusIs(kInvalid, HasSubstr("the device's limit is 15")));
}

}  // namespace
}  // namespace weft::ir
