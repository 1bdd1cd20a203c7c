// Jobs of hundreds of thousands of nodes, on a thread with a stack of 1 MiB: nothing may recurse
// over them or take more than near-linear time. The limits are far above what an optimised build
// takes, so that only another order of growth fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/plan/plan_job.h"

namespace weft::plan {
namespace {

using testing::IsOk;
using testing::PlannedJob;
using testing::StatusIs;

#if defined(__has_feature)  // clang's way of telling
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WEFT_SLOW_BUILD
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(WEFT_SLOW_BUILD)
constexpr int kNodes = 30'000;  // the sanitizers make these tests 10 to 20 times slower
#else
constexpr int kNodes = 300'000;
#endif
constexpr size_t kStackBytes = 1 << 20;

// Runs `body` on a thread with a stack of 1 MiB.
void OnSmallStack(const std::function<void()>& body) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, kStackBytes), 0);
  pthread_t thread = {};
  const auto run = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(
      pthread_create(&thread, &attributes, run, const_cast<void*>(static_cast<const void*>(&body))),
      0);
  pthread_attr_destroy(&attributes);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
}

std::string Chain(int nodes) {
  std::string text =
      "buffers { name: \"x\" data_type: DATA_TYPE_F32 shape: 256 }\n"
      "nodes { name: \"n0\" fill { dst { buffer: \"x\" } } }\n";
  for (int i = 1; i < nodes; ++i) {
    absl::StrAppend(
        &text, "nodes { name: \"n", i, "\" after: \"n", i - 1,
        "\" kernel { kernel: \"update\" args { name: \"x\" view { buffer: \"x\" } } } }\n");
  }
  return text;
}

TEST(LargeJobsTest, LongChainIsParsedValidatedAndPlanned) {
  const std::string text = Chain(kNodes);
  OnSmallStack([&text] {
    const absl::Duration start = Clock::Real().Now();
    ASSERT_OK_AND_ASSIGN(const v1::Job job, ir::ParseJob(text, ir::JobFormat::kText));
    const absl::Duration parsed = Clock::Real().Now();
    ASSERT_OK_AND_ASSIGN(const PlannedJob planned, testing::PlanJob(job));
    const absl::Duration done = Clock::Real().Now();
    EXPECT_EQ(planned.plan.lane_count(), 1);
    EXPECT_EQ(planned.plan.order.size(), static_cast<size_t>(kNodes));
    ::testing::Test::RecordProperty("parse_ms",
                                    static_cast<int>(absl::ToInt64Milliseconds(parsed - start)));
    ::testing::Test::RecordProperty("plan_ms",
                                    static_cast<int>(absl::ToInt64Milliseconds(done - parsed)));
  });
}

TEST(LargeJobsTest, LongChainInJsonIsParsed) {
  std::string text = "{\"nodes\": [";
  for (int i = 0; i < kNodes; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ",", "{\"name\": \"n", i, "\", \"empty\": {}}");
  }
  absl::StrAppend(&text, "]}");
  OnSmallStack([&text] { EXPECT_THAT(ir::ParseJob(text, ir::JobFormat::kJson), IsOk()); });
}

TEST(LargeJobsTest, LongCycleIsFoundAndNamed) {
  v1::Job job;
  for (int i = 0; i < kNodes; ++i) {
    v1::Node& node = *job.add_nodes();
    node.add_after(absl::StrCat("node", (i + 1) % kNodes));
    node.mutable_empty();
  }
  OnSmallStack([&job] {
    const absl::Status status = testing::PlanJob(job).status();
    EXPECT_THAT(status,
                StatusIs(absl::StatusCode::kInvalidArgument,
                         ::testing::HasSubstr(absl::StrCat("order of ", kNodes, " nodes"))));
    EXPECT_LT(status.message().size(), 1000);
  });
}

// N writers of parts of one buffer, then N readers of all of it: N × N conflicts.
TEST(LargeJobsTest, AllToAllDependenciesAreJoined) {
  const int half = 1500;  // enough for more conflicts than are kept apart
  v1::Job job;
  v1::BufferDecl& buffer = *job.add_buffers();
  buffer.set_name("x");
  buffer.add_shape(half);
  for (int i = 0; i < half; ++i) {
    v1::View& view = *job.add_nodes()->mutable_fill()->mutable_dst();
    view.set_buffer("x");
    view.set_offset_bytes(static_cast<uint64_t>(i));
    view.set_size_bytes(1);
  }
  for (int i = 0; i < half; ++i)
    job.add_nodes()->mutable_download()->mutable_src()->set_buffer("x");
  for (int i = 0; i < half; ++i) *job.add_nodes() = job.nodes(i);
  for (int i = 0; i < half; ++i) *job.add_nodes() = job.nodes(half + i);
  for (int i = 0; i < half; ++i) {
    const std::string name = absl::StrCat("late", i);
    job.mutable_nodes(3 * half + i)->mutable_download()->set_output(name);
  }
  OnSmallStack([&job] {
    ASSERT_OK_AND_ASSIGN(const PlannedJob planned, testing::PlanJob(job));
    EXPECT_GT(planned.plan.counts.joins, 0);
    EXPECT_LT(planned.plan.counts.dependencies, 1'500'000);  // instead of 6,750,000
  });
}

// N readers of parts of a shared buffer, then N readers of all of it: no conflict at all, yet N × N
// pieces to note.
TEST(LargeJobsTest, ManyReadersOfManyPartsAreQuick) {
  v1::Job job;
  v1::BufferDecl& buffer = *job.add_buffers();
  buffer.set_name("x");
  buffer.set_shared("x");
  buffer.set_data_type(v1::DATA_TYPE_U8);
  buffer.add_shape(kNodes);
  const int half = kNodes / 10;
  for (int i = 0; i < 2 * half; ++i) {
    v1::View& view = *job.add_nodes()->mutable_download()->mutable_src();
    view.set_buffer("x");
    if (i >= half) continue;
    view.set_offset_bytes(static_cast<uint64_t>(i));
    view.set_size_bytes(1);
  }
  OnSmallStack([&job] {
    ASSERT_OK_AND_ASSIGN(const PlannedJob planned, testing::PlanJob(job, {}, Verify::kOff));
    EXPECT_EQ(planned.plan.lane_count(), 8);
  });
}

// N readers of all of a shared buffer, then N readers of parts of it, then one writer of all of it:
// it has 2 N readers to wait for, but N pieces, of which each has N + 1 readers.
TEST(LargeJobsTest, AWriterOfManyPartsWithManyReadersIsQuick) {
  v1::Job job;
  v1::BufferDecl& buffer = *job.add_buffers();
  buffer.set_name("x");
  buffer.set_shared("x");
  buffer.set_data_type(v1::DATA_TYPE_U8);
  const int half = kNodes / 2;
  buffer.add_shape(half);
  for (int i = 0; i < 2 * half; ++i) {
    v1::View& view = *job.add_nodes()->mutable_download()->mutable_src();
    view.set_buffer("x");
    if (i < half) continue;
    view.set_offset_bytes(static_cast<uint64_t>(i - half));
    view.set_size_bytes(1);
  }
  job.add_nodes()->mutable_fill()->mutable_dst()->set_buffer("x");
  OnSmallStack([&job, half] {
    ASSERT_OK_AND_ASSIGN(const PlannedJob planned, testing::PlanJob(job, {}, Verify::kOff));
    EXPECT_EQ(planned.plan.counts.joins, 0);
    EXPECT_EQ(planned.plan.counts.dependencies, 2 * half);
  });
}

// Every node has a workspace: as many pieces of scratch memory as nodes.
TEST(LargeJobsTest, ManyWorkspacesArePlaced) {
  v1::Job job;
  for (const char* name : {"x", "y"}) {
    v1::BufferDecl& buffer = *job.add_buffers();
    buffer.set_name(name);
    buffer.add_shape(1024);
  }
  job.add_nodes()->mutable_fill()->mutable_dst()->set_buffer("x");
  for (int i = 0; i < kNodes / 4; ++i) {
    v1::KernelNode& kernel = *job.add_nodes()->mutable_kernel();
    kernel.set_kernel("total");
    v1::Argument& src = *kernel.add_args();
    src.set_name("src");
    src.mutable_view()->set_buffer("x");
    v1::Argument& dst = *kernel.add_args();
    dst.set_name("dst");
    dst.mutable_view()->set_buffer("y");
    dst.mutable_view()->set_offset_bytes(static_cast<uint64_t>(i) % 1024);
    dst.mutable_view()->set_size_bytes(1);
  }
  OnSmallStack([&job] {
    ASSERT_OK_AND_ASSIGN(const PlannedJob planned, testing::PlanJob(job));
    EXPECT_LT(planned.plan.scratch.size_bytes, 64 * 1024);
  });
}

}  // namespace
}  // namespace weft::plan
