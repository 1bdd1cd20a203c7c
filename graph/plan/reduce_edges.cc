// Transitive reduction: a predecessor that can be reached backwards from another predecessor is
// dropped. For each vertex its predecessors are taken from the latest to the earliest; the search
// back from one that is kept goes no further than the earliest. That visits few vertices in graphs
// that people and programs make; where it would visit many, it stops and keeps what is left, which
// is correct and only costs edges.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "graph/plan/pass_pipeline.h"

namespace weft::plan {
namespace {

// Edges followed in all: this many, and so many more for each there is (2^20 take about 5 ms); then so
// many a vertex.
constexpr uint64_t kFreeVisits = uint64_t{1} << 20;
constexpr uint64_t kVisitsPerEdge = 16;
constexpr uint64_t kFewVisits = 64;

class Reduction {
 public:
  explicit Reduction(const PlanState& state)
      : graph_(state.dependencies),
        position_(state.position),
        reached_from_(graph_.vertex_count(), 0),
        visits_left_(kFreeVisits + kVisitsPerEdge * graph_.predecessors.size()) {}

  ir::Digraph Run() {
    ir::Digraph result;
    result.begin.reserve(graph_.begin.size());
    result.predecessors.reserve(graph_.predecessors.size());
    for (uint32_t v = 0; v < graph_.vertex_count(); ++v) {
      const absl::Span<const uint32_t> all = graph_.PredecessorsOf(v);
      if (all.size() < 2) {
        result.predecessors.insert(result.predecessors.end(), all.begin(), all.end());
      } else {
        Reduce(v, all, result.predecessors);
      }
      result.EndVertex();
    }
    return result;
  }

 private:
  void Reduce(uint32_t v, absl::Span<const uint32_t> all, std::vector<uint32_t>& kept) {
    sorted_.assign(all.begin(), all.end());
    std::sort(sorted_.begin(), sorted_.end(),
              [this](uint32_t a, uint32_t b) { return position_[a] > position_[b]; });
    const uint32_t earliest = position_[sorted_.back()];
    const size_t kept_before = kept.size();
    vertex_visits_ = 0;
    for (const uint32_t p : sorted_) {
      if (reached_from_[p] == v + 1) continue;
      kept.push_back(p);
      if (p != sorted_.back()) SearchBack(p, v, earliest);
    }
    std::reverse(kept.begin() + static_cast<std::ptrdiff_t>(kept_before), kept.end());
  }

  bool MayVisit() {
    ++vertex_visits_;
    if (visits_left_ == 0) return vertex_visits_ <= kFewVisits;
    --visits_left_;
    return true;
  }

  // Marks what comes before `from`, back to position `earliest`.
  void SearchBack(uint32_t from, uint32_t v, uint32_t earliest) {
    stack_.assign(1, from);
    while (!stack_.empty()) {
      const uint32_t u = stack_.back();
      stack_.pop_back();
      for (const uint32_t p : graph_.PredecessorsOf(u)) {
        if (!MayVisit()) return;
        if (position_[p] < earliest || reached_from_[p] == v + 1) continue;
        reached_from_[p] = v + 1;
        stack_.push_back(p);
      }
    }
  }

  const ir::Digraph& graph_;
  const std::vector<uint32_t>& position_;
  std::vector<uint32_t> reached_from_;  // by vertex: 1 + the last v whose search marked it
  std::vector<uint32_t> sorted_;
  std::vector<uint32_t> stack_;
  uint64_t visits_left_;
  uint64_t vertex_visits_ = 0;
};

}  // namespace

absl::Status ReduceEdges(PlanState& state) {
  ir::Digraph reduced = Reduction(state).Run();
  state.plan.counts.transitive =
      state.dependencies.predecessors.size() - reduced.predecessors.size();
  state.dependencies = std::move(reduced);
  return absl::OkStatus();
}

absl::Status KeepEdges(PlanState& state) {
  state.keeps_all_edges = true;
  return absl::OkStatus();
}

}  // namespace weft::plan
