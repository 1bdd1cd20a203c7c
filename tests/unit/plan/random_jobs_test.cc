// Random jobs, each plan checked pair by pair against what program order asks for. Shares no code with
// the planner or its verifier.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/plan/render.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/plan/plan_job.h"

namespace weft::plan {
namespace {

using testing::PlannedJob;
using Matrix = std::vector<std::vector<bool>>;

constexpr int kBuffers = 5;
constexpr uint64_t kBufferBytes = 4096;

class JobMaker {
 public:
  explicit JobMaker(uint64_t seed) : random_(seed) {}

  v1::Job Make() {
    v1::Job job;
    const int buffers = 2 + Below(kBuffers);
    for (int i = 0; i < buffers; ++i) {
      v1::BufferDecl& decl = *job.add_buffers();
      decl.set_name(absl::StrCat("b", i));
      decl.add_shape(kBufferBytes);
      if (Below(4) == 0) decl.set_shared(absl::StrCat("s", Below(2)));
      if (decl.has_shared()) decl.set_data_type(v1::DATA_TYPE_U8);
    }
    if (Below(6) == 0) job.mutable_options()->set_ordering(v1::ORDERING_EXPLICIT);
    job.mutable_options()->set_max_lanes(static_cast<uint32_t>(Below(5)));
    // Nodes that write all scratch first, so that every later read is allowed.
    for (int i = 0; i < buffers; ++i) {
      v1::Node& node = *job.add_nodes();
      node.mutable_fill()->mutable_dst()->set_buffer(absl::StrCat("b", i));
    }
    for (int i = Below(30); i > 0; --i) AddNode(job);
    return job;
  }

 private:
  int Below(int limit) { return static_cast<int>(random_() % static_cast<uint64_t>(limit)); }

  void SetView(const v1::Job& job, v1::View& view, int blocks) {
    view.set_buffer(job.buffers(Below(job.buffers_size())).name());
    view.set_offset_bytes(256 * static_cast<uint64_t>(Below(16 - blocks + 1)));
    view.set_size_bytes(256 * static_cast<uint64_t>(blocks));
  }

  void AddKernel(const v1::Job& job, v1::Node& node, const char* name,
                 const std::vector<const char*>& arguments) {
    v1::KernelNode& kernel = *node.mutable_kernel();
    kernel.set_kernel(name);
    const int blocks = 1 + Below(6);
    for (const char* argument : arguments) {
      v1::Argument& out = *kernel.add_args();
      out.set_name(argument);
      SetView(job, *out.mutable_view(), blocks);
    }
  }

  void AddNode(v1::Job& job) {
    const int index = job.nodes_size();
    v1::Node node;
    switch (Below(8)) {
      case 0:
        AddKernel(job, node, "update", {"x"});
        break;
      case 1:
        AddKernel(job, node, "map", {"src", "dst"});
        break;
      case 2:
        AddKernel(job, node, "zip", {"a", "b", "dst"});
        break;
      case 3:
        AddKernel(job, node, "total", {"src", "dst"});
        break;
      case 4:
        SetView(job, *node.mutable_fill()->mutable_dst(), 1 + Below(16));
        break;
      case 5:
        SetView(job, *node.mutable_upload()->mutable_dst(), 1 + Below(16));
        break;
      case 6:
        SetView(job, *node.mutable_download()->mutable_src(), 1 + Below(16));
        break;
      default:
        node.mutable_empty();
    }
    if (Below(4) == 0) node.add_after(absl::StrCat("node", Below(index)));
    *job.add_nodes() = node;
  }

  std::mt19937_64 random_;
};

// Which node has ended before which starts, by lanes and event edges alone: transitive closure.
Matrix EndedBefore(const Plan& plan) {
  const size_t n = plan.nodes.size();
  Matrix before(n, std::vector<bool>(n, false));
  for (size_t v = 0; v < n; ++v) {
    for (const NodeIndex u : plan.WaitsOf(plan.nodes[v])) before[u.value()][v] = true;
    if (const auto u = plan.BeforeInLane(plan.nodes[v])) before[u->value()][v] = true;
  }
  for (size_t k = 0; k < n; ++k) {
    for (size_t u = 0; u < n; ++u) {
      for (size_t v = 0; before[u][k] && v < n; ++v) before[u][v] = before[u][v] || before[k][v];
    }
  }
  return before;
}

bool Conflict(const ir::Use& a, const ir::Use& b) {
  const bool writes = kernels::Writes(a.access) || kernels::Writes(b.access);
  return writes && a.storage == b.storage && a.range.offset < b.range.offset + b.range.size &&
         b.range.offset < a.range.offset + a.range.size;
}

// Bytes of scratch memory and the nodes that use them.
struct Piece {
  ByteRange range;
  std::vector<uint32_t> nodes;
};

std::vector<Piece> PiecesOf(const PlannedJob& job) {
  std::vector<Piece> pieces;
  for (size_t b = 0; b < job.graph.buffers.size(); ++b) {
    Piece piece;
    for (const ir::Use& use : job.graph.uses) {
      if (use.storage.value() == b) piece.nodes.push_back(use.node.value());
    }
    if (job.graph.buffers[b].shared.has_value() || piece.nodes.empty()) continue;
    piece.range = {*job.plan.scratch.buffer_offsets[b], job.graph.buffers[b].size_bytes};
    pieces.push_back(piece);
  }
  for (uint32_t v = 0; v < job.plan.nodes.size(); ++v) {
    if (!job.plan.nodes[v].workspace.empty()) pieces.push_back({job.plan.nodes[v].workspace, {v}});
  }
  return pieces;
}

bool AllBefore(const Piece& a, const Piece& b, const Matrix& before) {
  for (const uint32_t u : a.nodes) {
    for (const uint32_t v : b.nodes) {
      if (!before[u][v]) return false;
    }
  }
  return true;
}

void CheckOrder(const PlannedJob& job, const Matrix& before) {
  for (size_t v = 0; v < before.size(); ++v) ASSERT_FALSE(before[v][v]) << "cycle at " << v;
  for (uint32_t v = 0; v < before.size(); ++v) {
    for (const NodeIndex u : job.graph.AfterOf(job.graph.nodes[v])) {
      ASSERT_TRUE(before[u.value()][v]) << "after: " << u.value() << " -> " << v;
    }
  }
  if (job.graph.options.ordering == ir::Ordering::kExplicit) return;
  for (const ir::Use& a : job.graph.uses) {
    for (const ir::Use& b : job.graph.uses) {
      if (a.node >= b.node || !Conflict(a, b)) continue;
      ASSERT_TRUE(before[a.node.value()][b.node.value()])
          << "data: " << a.node.value() << " -> " << b.node.value();
    }
  }
}

void CheckMemory(const PlannedJob& job, const Matrix& before) {
  const std::vector<Piece> pieces = PiecesOf(job);
  for (size_t a = 0; a < pieces.size(); ++a) {
    ASSERT_LE(pieces[a].range.offset + pieces[a].range.size, job.plan.scratch.size_bytes);
    for (size_t b = a + 1; b < pieces.size(); ++b) {
      if (!pieces[a].range.overlaps(pieces[b].range)) continue;
      ASSERT_TRUE(AllBefore(pieces[a], pieces[b], before) ||
                  AllBefore(pieces[b], pieces[a], before));
    }
  }
}

TEST(RandomJobsTest, EveryPlanKeepsProgramOrderAndLiveMemory) {
  int planned = 0;
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    const v1::Job job = JobMaker(seed).Make();
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    PlanOptions options;
    if (seed % 5 == 0) options.passes = *PassSwitches::Parse("-reduce_edges");
    const absl::StatusOr<PlannedJob> result = testing::PlanJob(job, options);
    // In-place views that overlap in part, and the like, are refused: not every random job is good.
    if (!result.ok()) {
      ASSERT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument) << result.status();
      continue;
    }
    ++planned;
    const Matrix before = EndedBefore(result->plan);
    ASSERT_NO_FATAL_FAILURE(CheckOrder(*result, before)) << RenderText(result->graph, result->plan);
    ASSERT_NO_FATAL_FAILURE(CheckMemory(*result, before))
        << RenderText(result->graph, result->plan);
  }
  EXPECT_GT(planned, 300);
}

}  // namespace
}  // namespace weft::plan
