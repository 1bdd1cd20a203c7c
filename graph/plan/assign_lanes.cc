// A path cover by list scheduling: nodes are taken in order, and each goes
//   1. behind a predecessor that kept its lane for it: of a node's successors the one on the
//      longest way to the end is its heir (of equals the last, so that in "a, then b and c" c goes
//      on in the lane of a and b waits on an event between them);
//   2. else behind a node that has ended before it anyway, where no heir is waited for;
//   3. else into a new lane, while there may be more;
//   4. else into the lane that is free first.
// So there are never more lanes than nodes that may run at once, and 4 alone orders nodes that do
// not depend on each other.
//
// Event edges are what lanes do not order already: for each other lane the last node that must have
// ended, less what the other edges imply. Lane clocks make that exact and linear.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "graph/plan/node_cost.h"
#include "graph/plan/pass_pipeline.h"

namespace weft::plan {
namespace {

constexpr uint32_t kNobody = std::numeric_limits<uint32_t>::max();

// The successor that goes on in each node's lane; kNobody for joins and for nodes without
// successor.
std::vector<uint32_t> FindHeirs(const PlanState& state, const std::vector<uint64_t>& costs) {
  const size_t count = state.order.size();
  std::vector<uint64_t> way(count, 0);  // from the start of a vertex to the end, the longest
  std::vector<uint64_t> heir_way(count, 0);
  std::vector<uint32_t> heirs(count, kNobody);
  for (size_t i = count; i-- > 0;) {
    const uint32_t v = state.order[i];
    way[v] += costs[v];
    for (const uint32_t p : state.dependencies.PredecessorsOf(v)) {
      way[p] = std::max(way[p], way[v]);
      if (!state.IsJoin(v) && (heirs[p] == kNobody || way[v] > heir_way[p])) {
        heirs[p] = v;
        heir_way[p] = way[v];
      }
    }
  }
  return heirs;
}

class LaneAssigner {
 public:
  LaneAssigner(PlanState& state, uint32_t lane_limit)
      : state_(state),
        plan_(state.plan),
        clocks_(state.clocks),
        limit_(lane_limit),
        costs_(state.order.size(), 0),
        finish_(state.order.size(), 0),
        need_(lane_limit) {
    clocks_.lanes = lane_limit;
    clocks_.counts.assign(state.order.size() * lane_limit, 0);
    for (uint32_t v = 0; v < state.graph.node_count(); ++v) {
      costs_[v] = EstimateNs(state.graph, state.graph.nodes[v]);
    }
    heirs_ = FindHeirs(state, costs_);
  }

  void Run() {
    for (const uint32_t v : state_.order) {
      const uint64_t ready = CollectNeeds(v);
      if (state_.IsJoin(v)) {
        std::copy(need_.begin(), need_.end(), clocks_.Row(v).begin());
        finish_[v] = ready;
        continue;
      }
      Place(v, ready);
      AddWaits(v);
      UpdateClock(v);
    }
    Flatten();
  }

 private:
  struct Lane {
    std::vector<NodeIndex> nodes;
    uint64_t free_at = 0;      // estimated
    bool is_reserved = false;  // its last node's heir has no place yet
    uint32_t last() const { return nodes.back().value(); }
    uint32_t length() const { return static_cast<uint32_t>(nodes.size()); }
  };

  // need_: how many nodes of each lane must have ended before v. Returns when that is, estimated.
  uint64_t CollectNeeds(uint32_t v) {
    uint64_t ready = 0;
    std::fill(need_.begin(), need_.end(), 0);
    for (const uint32_t p : state_.dependencies.PredecessorsOf(v)) {
      const absl::Span<const uint32_t> row = std::as_const(clocks_).Row(p);
      for (size_t l = 0; l < lanes_.size(); ++l) need_[l] = std::max(need_[l], row[l]);
      ready = std::max(ready, finish_[p]);
    }
    return ready;
  }

  bool IsPredecessor(uint32_t p, uint32_t v) const {
    const absl::Span<const uint32_t> all = state_.dependencies.PredecessorsOf(v);
    return std::find(all.begin(), all.end(), p) != all.end();
  }

  // True when all nodes of lane l have ended before the node whose needs were collected.
  bool HasEnded(uint32_t l) const { return need_[l] == lanes_[l].length(); }

  // Step 1: of the predecessors that kept their lanes, the one that ends last.
  std::optional<uint32_t> InheritedLane(uint32_t v) const {
    std::optional<uint32_t> best;
    for (const uint32_t p : state_.dependencies.PredecessorsOf(v)) {
      if (state_.IsJoin(p) || heirs_[p] != v) continue;
      const uint32_t l = plan_.nodes[p].lane.value();
      if (lanes_[l].last() != p) continue;  // somebody had to share the lane
      const uint64_t best_finish = best.has_value() ? finish_[lanes_[*best].last()] : 0;
      const bool is_better = finish_[p] > best_finish || (finish_[p] == best_finish && l < *best);
      if (!best.has_value() || is_better) best = l;
    }
    return best;
  }

  // Step 2.
  std::optional<uint32_t> EndedLane(uint32_t v) const {
    std::optional<uint32_t> best;
    for (uint32_t l = 0; l < lanes_.size(); ++l) {
      if (!HasEnded(l) || lanes_[l].is_reserved) continue;
      if (IsPredecessor(lanes_[l].last(), v)) return l;
      if (!best.has_value()) best = l;
    }
    return best;
  }

  // Step 4.
  uint32_t FirstFreeLane(uint64_t ready) const {
    const auto starts = [&](uint32_t l) {
      return std::make_pair(std::max(ready, lanes_[l].free_at), !HasEnded(l));
    };
    uint32_t best = 0;
    for (uint32_t l = 1; l < lanes_.size(); ++l) {
      if (starts(l) < starts(best)) best = l;
    }
    return best;
  }

  std::pair<uint32_t, LaneReason> Choose(uint32_t v, uint64_t ready) {
    std::optional<uint32_t> lane = InheritedLane(v);
    if (!lane.has_value()) lane = EndedLane(v);
    if (!lane.has_value() && lanes_.size() < limit_) {
      lanes_.emplace_back();
      return {static_cast<uint32_t>(lanes_.size() - 1), LaneReason::kOpens};
    }
    if (!lane.has_value()) lane = FirstFreeLane(ready);
    if (!HasEnded(*lane)) return {*lane, LaneReason::kShares};
    const bool direct = IsPredecessor(lanes_[*lane].last(), v);
    return {*lane, direct ? LaneReason::kContinues : LaneReason::kFollows};
  }

  void Place(uint32_t v, uint64_t ready) {
    // Lanes kept for v that v does not take are free for others.
    for (const uint32_t p : state_.dependencies.PredecessorsOf(v)) {
      if (state_.IsJoin(p) || heirs_[p] != v) continue;
      Lane& lane = lanes_[plan_.nodes[p].lane.value()];
      if (lane.last() == p) lane.is_reserved = false;
    }
    const auto [l, reason] = Choose(v, ready);
    PlannedNode& node = plan_.nodes[v];
    Lane& lane = lanes_[l];
    node.lane = LaneId(l);
    node.lane_reason = reason;
    node.position = lane.length();
    lane.nodes.emplace_back(v);
    lane.is_reserved = heirs_[v] != kNobody;
    lane.free_at = std::max(ready, lane.free_at) + costs_[v];
    finish_[v] = lane.free_at;
  }

  absl::Span<const uint32_t> BaseOf(const PlannedNode& node) const {
    if (node.position == 0) return {};
    const NodeIndex before = lanes_[node.lane.value()].nodes[node.position - 1];
    return std::as_const(clocks_).Row(before.value());
  }

  void AddWaits(uint32_t v) {
    PlannedNode& node = plan_.nodes[v];
    node.waits.begin = static_cast<uint32_t>(plan_.waits.size());
    candidates_.clear();
    if (state_.keeps_all_edges) {
      for (const uint32_t p : state_.dependencies.PredecessorsOf(v)) {
        if (!state_.IsJoin(p) && plan_.nodes[p].lane != node.lane) candidates_.push_back(p);
      }
    }
    CollectCandidates(node);
    std::sort(candidates_.begin(), candidates_.end());
    candidates_.erase(std::unique(candidates_.begin(), candidates_.end()), candidates_.end());
    for (const uint32_t u : candidates_) {
      if (!state_.keeps_all_edges && IsImplied(u)) continue;
      plan_.waits.emplace_back(u);
      plan_.nodes[u].has_waiters = true;
    }
    node.waits.count = static_cast<uint32_t>(plan_.waits.size()) - node.waits.begin;
  }

  // The last node of each other lane that must have ended and that the own lane does not wait for.
  void CollectCandidates(const PlannedNode& node) {
    const absl::Span<const uint32_t> base = BaseOf(node);
    for (uint32_t l = 0; l < lanes_.size(); ++l) {
      if (LaneId(l) == node.lane || need_[l] == 0) continue;
      if (!base.empty() && base[l] >= need_[l]) continue;
      candidates_.push_back(lanes_[l].nodes[need_[l] - 1].value());
    }
  }

  bool IsImplied(uint32_t u) const {
    const PlannedNode& node = plan_.nodes[u];
    return std::any_of(candidates_.begin(), candidates_.end(), [&](uint32_t other) {
      return other != u && std::as_const(clocks_).Row(other)[node.lane.value()] > node.position;
    });
  }

  void UpdateClock(uint32_t v) {
    const PlannedNode& node = plan_.nodes[v];
    const absl::Span<const uint32_t> base = BaseOf(node);
    absl::Span<uint32_t> row = clocks_.Row(v);
    for (size_t l = 0; l < need_.size(); ++l) {
      row[l] = base.empty() ? need_[l] : std::max(need_[l], base[l]);
    }
    row[node.lane.value()] = node.position + 1;
  }

  void Flatten() {
    plan_.lane_nodes.reserve(state_.graph.nodes.size());
    for (const Lane& lane : lanes_) {
      plan_.lanes.push_back({static_cast<uint32_t>(plan_.lane_nodes.size()), lane.length()});
      plan_.lane_nodes.insert(plan_.lane_nodes.end(), lane.nodes.begin(), lane.nodes.end());
    }
  }

  PlanState& state_;
  Plan& plan_;
  LaneClocks& clocks_;
  const uint32_t limit_;
  std::vector<uint64_t> costs_;   // by vertex, ns
  std::vector<uint64_t> finish_;  // by vertex, estimated
  std::vector<uint32_t> heirs_;   // by vertex
  std::vector<uint32_t> need_;    // by lane, of the node being placed
  std::vector<uint32_t> candidates_;
  std::vector<Lane> lanes_;
};

}  // namespace

absl::Status AssignLanes(PlanState& state) {
  LaneAssigner(state, state.plan.lane_limit).Run();
  return absl::OkStatus();
}

absl::Status UseOneLane(PlanState& state) {
  state.plan.lane_limit = 1;
  LaneAssigner(state, 1).Run();
  return absl::OkStatus();
}

}  // namespace weft::plan
