// What copies and fills of rows, prefetches and advice are refused for, and what is just allowed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "graph/ir/assumed_device.h"
#include "graph/ir/job_file.h"
#include "graph/ir/validate.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/ir/small_kernels.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

using ::testing::HasSubstr;
using testing::IsOk;
using testing::kInvalid;
using testing::StatusIs;

// 2^40 bytes, the most that a buffer has.
constexpr char kLargest[] = "buffers { name: 'big' shape: 1099511627776 } ";

class MemoryNodeBoundsTest : public ::testing::Test {
 protected:
  absl::StatusOr<Graph> Check(absl::string_view text) const {
    WEFT_ASSIGN_OR_RETURN(const v1::Job job, ParseJob(text, JobFormat::kText));
    return ValidateJob(
        job, {.devices = absl::MakeConstSpan(&device_, 1), .registry = &testing::SmallKernels()});
  }

  // Copies a box out of a buffer of 100 bytes into another, at these offsets.
  absl::StatusOr<Graph> Box(absl::string_view box, int src_offset = 0, int dst_offset = 0) const {
    return Check(absl::Substitute(
        R"(buffers { name: 'a' shape: 100 } buffers { name: 'b' shape: 100 }
           nodes { name: 'set' fill { dst { buffer: 'a' } } }
           nodes { name: 'n' copy { src { buffer: 'a' offset_bytes: $1 }
                                    dst { buffer: 'b' offset_bytes: $2 } box { $0 } } })",
        box, src_offset, dst_offset));
  }

  // Copies a box inside one buffer of 100 bytes.
  absl::StatusOr<Graph> BoxWithin(absl::string_view box, int src_offset, int dst_offset) const {
    return Check(absl::Substitute(
        R"(buffers { name: 'a' shape: 100 }
           nodes { name: 'set' fill { dst { buffer: 'a' } } }
           nodes { name: 'n' copy { src { buffer: 'a' offset_bytes: $1 }
                                    dst { buffer: 'a' offset_bytes: $2 } box { $0 } } })",
        box, src_offset, dst_offset));
  }

  absl::StatusOr<Graph> FillRows(absl::string_view fields, int offset = 0) const {
    return Check(absl::Substitute(R"(buffers { name: 'a' shape: 100 }
        nodes { name: 'n' fill { dst { buffer: 'a' offset_bytes: $1 } $0 } })",
                                  fields, offset));
  }

  // A node over the managed buffer 'm', the pinned 'p' and the scratch buffer 's', 256 bytes each.
  absl::StatusOr<Graph> OnMemories(absl::string_view node) const {
    return Check(absl::StrCat(R"(buffers { name: 'm' shape: 256 managed {} }
                                 buffers { name: 'p' shape: 256 pinned {} }
                                 buffers { name: 's' shape: 256 } )",
                              "nodes { name: 'n' ", node, " }"));
  }

  cuda::DeviceInfo device_ = AssumedDevice();
};

TEST_F(MemoryNodeBoundsTest, ARowThatEndsBehindTheViewIsRefused) {
  EXPECT_THAT(Box("width_bytes: 10 rows: 10 src_pitch_bytes: 10"), IsOk());
  EXPECT_THAT(Box("width_bytes: 10 rows: 10 src_pitch_bytes: 11"),
              StatusIs(kInvalid, HasSubstr("copy.src")));
  EXPECT_THAT(Box("width_bytes: 10 rows: 9 dst_pitch_bytes: 11", 0, 3),
              StatusIs(kInvalid, HasSubstr("copy.dst")));
}

TEST_F(MemoryNodeBoundsTest, ExtentsBeyond64BitsAreRefused) {
  for (const char* box : {"width_bytes: 1 rows: 18446744073709551615 src_pitch_bytes: 2",
                          "width_bytes: 18446744073709551615 rows: 2",
                          "width_bytes: 1 rows: 4294967296 slices: 4294967296",
                          "width_bytes: 1 slices: 2 src_pitch_bytes: 18446744073709551615 "
                          "src_slice_rows: 18446744073709551615"}) {
    EXPECT_THAT(Box(box), StatusIs(kInvalid)) << box;
  }
  EXPECT_THAT(
      FillRows("width_bytes: 1 rows: 18446744073709551615 pitch_bytes: 18446744073709551615"),
      StatusIs(kInvalid));
}

TEST_F(MemoryNodeBoundsTest, ABoxMayFillTheLargestBuffer) {
  device_.max_pitch_bytes = 0;  // not known
  const auto rows = [&](const char* width) {
    return Check(absl::StrCat(kLargest,
                              "nodes { name: 'n' fill { dst { buffer: 'big' } width_bytes: ", width,
                              " rows: 1048576 pitch_bytes: 1048576 } }"));
  };
  EXPECT_THAT(rows("1048575"), IsOk());
  EXPECT_THAT(rows("1048577"), StatusIs(kInvalid));  // wider than the pitch
  EXPECT_THAT(
      Check(absl::StrCat(kLargest, R"(nodes { name: 'n' fill { dst { buffer: 'big' offset_bytes: 2 }
                                              width_bytes: 1048575 rows: 1048576 pitch_bytes: 1048576 } })")),
      StatusIs(kInvalid));
}

TEST_F(MemoryNodeBoundsTest, APitchBelowTheWidthIsRefused) {
  EXPECT_THAT(Box("width_bytes: 8 rows: 2 src_pitch_bytes: 7"),
              StatusIs(kInvalid, HasSubstr("copy.box.src_pitch_bytes")));
  EXPECT_THAT(Box("width_bytes: 8 rows: 2 dst_pitch_bytes: 7"),
              StatusIs(kInvalid, HasSubstr("copy.box.dst_pitch_bytes")));
  EXPECT_THAT(FillRows("width_bytes: 8 rows: 2 pitch_bytes: 7"),
              StatusIs(kInvalid, HasSubstr("fill.pitch_bytes")));
}

TEST_F(MemoryNodeBoundsTest, SlicesThatOverlapAreRefused) {
  EXPECT_THAT(Box("width_bytes: 2 rows: 3 slices: 2 dst_slice_rows: 2"),
              StatusIs(kInvalid, HasSubstr("copy.box.dst_slice_rows")));
}

TEST_F(MemoryNodeBoundsTest, RowsNeedAWidth) {
  EXPECT_THAT(Box("rows: 2"), StatusIs(kInvalid, HasSubstr("copy.box.width_bytes")));
  EXPECT_THAT(FillRows("rows: 2"), StatusIs(kInvalid, HasSubstr("fill.width_bytes")));
}

TEST_F(MemoryNodeBoundsTest, RowsOfOneBufferThatShareBytesAreRefused) {
  EXPECT_THAT(BoxWithin("width_bytes: 5 rows: 9 src_pitch_bytes: 10 dst_pitch_bytes: 10", 0, 4),
              StatusIs(kInvalid, HasSubstr("share bytes")));
  EXPECT_THAT(BoxWithin("width_bytes: 5 rows: 8 src_pitch_bytes: 10 dst_pitch_bytes: 10", 0, 16),
              StatusIs(kInvalid, HasSubstr("share bytes")));
}

TEST_F(MemoryNodeBoundsTest, EntangledRowsWithDifferentPitchesAreRefused) {
  EXPECT_THAT(BoxWithin("width_bytes: 1 rows: 5 src_pitch_bytes: 10 dst_pitch_bytes: 7", 0, 1),
              StatusIs(kInvalid, HasSubstr("different pitches")));
  // Apart as wholes: the pitches do not matter.
  EXPECT_THAT(BoxWithin("width_bytes: 1 rows: 5 src_pitch_bytes: 10 dst_pitch_bytes: 7", 0, 41),
              IsOk());
}

TEST_F(MemoryNodeBoundsTest, RowsOfAFillKeepToThePattern) {
  EXPECT_THAT(FillRows("pattern_bytes: 4 width_bytes: 8 rows: 3 pitch_bytes: 12", 4), IsOk());
  EXPECT_THAT(FillRows("pattern_bytes: 4 width_bytes: 6 rows: 3 pitch_bytes: 12"),
              StatusIs(kInvalid));
  EXPECT_THAT(FillRows("pattern_bytes: 4 width_bytes: 8 rows: 3 pitch_bytes: 10"),
              StatusIs(kInvalid));
  EXPECT_THAT(FillRows("pattern_bytes: 4 width_bytes: 8 rows: 3 pitch_bytes: 12", 2),
              StatusIs(kInvalid));
}

TEST_F(MemoryNodeBoundsTest, OneRowIsAPlainFill) {
  ASSERT_OK_AND_ASSIGN(const Graph graph, FillRows("width_bytes: 8 pitch_bytes: 50", 4));
  const auto& op = std::get<FillOp>(graph.nodes[0].op);
  EXPECT_FALSE(op.rows.has_value());
  EXPECT_EQ(op.dst.range, (ByteRange{4, 8}));
}

TEST_F(MemoryNodeBoundsTest, OnlyManagedBuffersArePrefetched) {
  EXPECT_THAT(OnMemories("prefetch { view { buffer: 'm' } to: LOCATION_HOST }"), IsOk());
  for (const char* buffer : {"p", "s"}) {
    EXPECT_THAT(OnMemories(absl::StrCat("prefetch { view { buffer: '", buffer, "' } }")),
                StatusIs(kInvalid, HasSubstr("managed {}")));
  }
}

TEST_F(MemoryNodeBoundsTest, AdviceIsForManagedBuffers) {
  EXPECT_THAT(OnMemories("advise { view { buffer: 'm' } advice: ADVICE_READ_MOSTLY }"), IsOk());
  EXPECT_THAT(OnMemories("advise { view { buffer: 'p' } advice: ADVICE_READ_MOSTLY }"),
              StatusIs(kInvalid, HasSubstr("managed {}")));
}

TEST_F(MemoryNodeBoundsTest, AdviceHasAKind) {
  EXPECT_THAT(OnMemories("advise { view { buffer: 'm' } }"),
              StatusIs(kInvalid, HasSubstr("advise.advice")));
}

TEST_F(MemoryNodeBoundsTest, AdviceThatHasNoLocationTakesNone) {
  for (const char* advice : {"READ_MOSTLY", "NOT_READ_MOSTLY", "NO_PREFERRED_LOCATION"}) {
    EXPECT_THAT(OnMemories(absl::StrCat("advise { view { buffer: 'm' } advice: ADVICE_", advice,
                                        " location: LOCATION_HOST }")),
                StatusIs(kInvalid, HasSubstr("advise.location")));
  }
  EXPECT_THAT(OnMemories("advise { view { buffer: 'm' } advice: ADVICE_ACCESSED_BY "
                         "location: LOCATION_HOST }"),
              IsOk());
}

TEST_F(MemoryNodeBoundsTest, PinnedBytesMustBeWrittenBeforeTheyAreRead) {
  EXPECT_THAT(OnMemories("copy { src { buffer: 'p' } dst { buffer: 's' } }"),
              StatusIs(kInvalid, HasSubstr("pinned")));
}

}  // namespace
}  // namespace weft::ir
