// Nodes with the same waits before them are one segment; waits are segments of their own. In a graph,
// nodes that no CUDA graph can hold are cut out too: level by level, a level being how many of them
// stand one behind the other.
//
// Of each lane the waits before a node are its first so many, because a lane is an order. So the
// waits before a node are a number a lane, and the pass is linear in nodes and edges (times lanes).
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "graph/plan/choose_launch.h"
#include "graph/plan/pass_pipeline.h"

namespace weft::plan {
namespace {

// What segment a node is in. Sorted so that a segment stands behind those that it comes after: more
// waits before it, or as many and a higher level, or the same and a kind that comes later.
using SegmentKey = std::vector<uint32_t>;

class SegmentCutter {
 public:
  explicit SegmentCutter(PlanState& state)
      : plan_(state.plan), lanes_(state.plan.lane_count()), kinds_(state.plan.nodes.size()) {
    for (uint32_t v = 0; v < kinds_.size(); ++v) {
      kinds_[v] = KindOf(state, v);
      is_cut_ = is_cut_ || kinds_[v] != Segment::Kind::kNodes;
    }
  }

  void Run() {
    if (!is_cut_) return;
    SortIntoSegments();
    Connect();
  }

 private:
  static Segment::Kind KindOf(const PlanState& state, uint32_t v) {
    const ir::Node& node = state.graph.nodes[v];
    if (state.plan.nodes[v].is_no_op) return Segment::Kind::kNodes;
    if (std::holds_alternative<ir::SemaphoreWaitOp>(node.op)) return Segment::Kind::kWait;
    const bool is_graph = state.plan.launch.mode == LaunchMode::kGraph;
    return is_graph && !GraphCanHold(node, state.device) ? Segment::Kind::kIssued
                                                         : Segment::Kind::kNodes;
  }

  template <typename Visit>
  void ForEachBefore(const PlannedNode& node, Visit&& visit) const {
    if (const std::optional<NodeIndex> before = plan_.BeforeInLane(node)) visit(before->value());
    for (const NodeIndex waited : plan_.WaitsOf(node)) visit(waited.value());
  }

  // By node: how many waits of each lane come before it.
  uint32_t* WaitsBefore(uint32_t v) { return &waits_before_[size_t{v} * lanes_]; }

  void Collect(uint32_t v) {
    uint32_t* const waits = WaitsBefore(v);
    ForEachBefore(plan_.nodes[v], [&](uint32_t before) {
      const uint32_t* const theirs = WaitsBefore(before);
      for (uint32_t l = 0; l < lanes_; ++l) waits[l] = std::max(waits[l], theirs[l]);
      const uint32_t own = plan_.nodes[before].lane.value();
      if (kinds_[before] == Segment::Kind::kWait)
        waits[own] = std::max(waits[own], theirs[own] + 1);
      const bool is_issued = kinds_[before] == Segment::Kind::kIssued;
      levels_[v] = std::max(levels_[v], levels_[before] + uint32_t{is_issued});
    });
  }

  SegmentKey KeyOf(uint32_t v) {
    const uint32_t* const waits = WaitsBefore(v);
    SegmentKey key = {0, levels_[v], static_cast<uint32_t>(kinds_[v])};
    for (uint32_t l = 0; l < lanes_; ++l) key[0] += waits[l];
    key.insert(key.end(), waits, waits + lanes_);
    if (kinds_[v] == Segment::Kind::kWait) key.push_back(v);
    return key;
  }

  void SortIntoSegments() {
    waits_before_.assign(kinds_.size() * lanes_, 0);
    levels_.assign(kinds_.size(), 0);
    std::map<SegmentKey, std::vector<NodeIndex>> segments;
    for (const NodeIndex n : plan_.order) {
      Collect(n.value());
      segments[KeyOf(n.value())].push_back(n);
    }
    plan_.segment_nodes.reserve(kinds_.size());
    for (const auto& [key, nodes] : segments) {
      Segment segment;
      segment.kind = kinds_[nodes.front().value()];
      segment.nodes = {static_cast<uint32_t>(plan_.segment_nodes.size()),
                       static_cast<uint32_t>(nodes.size())};
      for (const NodeIndex n : nodes) {
        plan_.nodes[n.value()].segment = static_cast<uint32_t>(plan_.segments.size());
        plan_.segment_nodes.push_back(n);
      }
      plan_.segments.push_back(segment);
    }
  }

  void Connect() {
    std::vector<uint32_t> before;
    for (uint32_t s = 0; s < plan_.segments.size(); ++s) {
      Segment& segment = plan_.segments[s];
      before.clear();
      for (const NodeIndex n : plan_.NodesOf(segment)) {
        ForEachBefore(plan_.node(n), [&](uint32_t v) {
          if (plan_.nodes[v].segment != s) before.push_back(plan_.nodes[v].segment);
        });
      }
      std::sort(before.begin(), before.end());
      before.erase(std::unique(before.begin(), before.end()), before.end());
      segment.after = {static_cast<uint32_t>(plan_.segment_after.size()),
                       static_cast<uint32_t>(before.size())};
      plan_.segment_after.insert(plan_.segment_after.end(), before.begin(), before.end());
    }
  }

  Plan& plan_;
  const uint32_t lanes_;
  std::vector<Segment::Kind> kinds_;  // by node: of the segment that it would be in
  bool is_cut_ = false;
  std::vector<uint32_t> waits_before_;  // node × lane
  std::vector<uint32_t> levels_;        // by node
};

}  // namespace

absl::Status CutSegments(PlanState& state) {
  SegmentCutter(state).Run();
  return absl::OkStatus();
}

}  // namespace weft::plan
