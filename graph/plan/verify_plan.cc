#include "graph/plan/verify_plan.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/ir/semaphores.h"
#include "graph/ir/use_rows.h"

namespace weft::plan {
namespace {

// By lane, how many of its nodes: those that have ended, those that used a byte.
using PerLane = std::vector<uint32_t>;

absl::Status Fault(const std::string& text) {
  return absl::InternalError(absl::StrCat("the plan is wrong: ", text));
}

bool AllWithin(const PerLane& counts, const PerLane& limits) {
  for (size_t l = 0; l < counts.size(); ++l) {
    if (counts[l] > limits[l]) return false;
  }
  return true;
}

void Raise(PerLane& counts, const PerLane& to) {
  for (size_t l = 0; l < counts.size(); ++l) counts[l] = std::max(counts[l], to[l]);
}

// Marks on ranges of bytes: a map from first byte to a mark that holds up to the next entry.
template <typename Mark>
class ByteMap {
 public:
  explicit ByteMap(Mark initial) { marks_.emplace(0, std::move(initial)); }

  // visit(mark) for each piece of `range`, cut so that no piece reaches out of it.
  template <typename Visit>
  absl::Status ForEach(ByteRange range, Visit&& visit) {
    Cut(range.offset);
    Cut(range.end());
    for (auto it = marks_.find(range.offset); it != marks_.end() && it->first < range.end(); ++it) {
      WEFT_RETURN_IF_ERROR(visit(it->second));
    }
    return absl::OkStatus();
  }

 private:
  void Cut(uint64_t at) {
    const auto it = std::prev(marks_.upper_bound(at));
    if (it->first != at) marks_.emplace(at, it->second);
  }

  std::map<uint64_t, Mark> marks_;
};

class Verifier {
 public:
  // `graphs`: the plans of those before it.
  Verifier(const ir::Graph& graph, const Plan& plan, absl::Span<const Plan> graphs)
      : graph_(graph), plan_(plan), graphs_(graphs), lanes_(plan.lanes.size()) {}

  absl::Status Run() {
    WEFT_RETURN_IF_ERROR(CheckPlaces());
    WEFT_RETURN_IF_ERROR(CheckForward());
    WEFT_RETURN_IF_ERROR(CheckAfter());
    if (graph_.options.ordering == ir::Ordering::kData) WEFT_RETURN_IF_ERROR(CheckData());
    WEFT_RETURN_IF_ERROR(CheckScratch());
    WEFT_RETURN_IF_ERROR(CheckCalls());
    WEFT_RETURN_IF_ERROR(CheckStaging());
    return CheckSegments();
  }

 private:
  std::string Name(uint32_t v) const { return absl::StrCat("\"", graph_.nodes[v].name, "\""); }

  absl::Status CheckPlaces() {
    const size_t count = graph_.nodes.size();
    if (plan_.nodes.size() != count || plan_.order.size() != count ||
        plan_.lane_nodes.size() != count) {
      return Fault("it does not have every node once");
    }
    std::vector<bool> placed(count, false);
    for (uint32_t l = 0; l < lanes_; ++l) {
      const absl::Span<const NodeIndex> nodes = plan_.NodesOf(LaneId(l));
      for (uint32_t position = 0; position < nodes.size(); ++position) {
        const uint32_t v = nodes[position].value();
        if (v >= count || placed[v]) return Fault(absl::StrCat("lane ", l, " repeats a node"));
        placed[v] = true;
        const PlannedNode& node = plan_.nodes[v];
        if (node.lane != LaneId(l) || node.position != position) {
          return Fault(absl::StrCat("node ", Name(v), " is not where its lane has it"));
        }
      }
    }
    rank_.assign(count, UINT32_MAX);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t v = plan_.order[i].value();
      if (v >= count || rank_[v] != UINT32_MAX) return Fault("its order repeats a node");
      rank_[v] = i;
    }
    return absl::OkStatus();
  }

  // Lanes and event edges lead forward in the order; ended_[v] follows from them.
  absl::Status CheckForward() {
    ended_.assign(graph_.nodes.size(), PerLane(lanes_, 0));
    std::vector<bool> waited_for(graph_.nodes.size(), false);
    for (const NodeIndex n : plan_.order) {
      const PlannedNode& node = plan_.node(n);
      PerLane& ended = ended_[n.value()];
      std::vector<NodeIndex> before(plan_.WaitsOf(node).begin(), plan_.WaitsOf(node).end());
      for (const NodeIndex waited : before) waited_for[waited.value()] = true;
      if (const auto in_lane = plan_.BeforeInLane(node)) before.push_back(*in_lane);
      for (const NodeIndex b : before) {
        if (rank_[b.value()] >= rank_[n.value()]) {
          return Fault(absl::StrCat("node ", Name(n.value()), " is issued before ", Name(b.value()),
                                    ", which it waits for"));
        }
        Raise(ended, ended_[b.value()]);
      }
      ended[node.lane.value()] = node.position + 1;
    }
    for (uint32_t v = 0; v < plan_.nodes.size(); ++v) {
      if (plan_.nodes[v].has_waiters != waited_for[v]) {
        return Fault(absl::StrCat("node ", Name(v), " has waiters that it does not know, or none"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckAfter() const {
    for (uint32_t v = 0; v < graph_.node_count(); ++v) {
      for (const NodeIndex before : graph_.AfterOf(graph_.nodes[v])) {
        const PlannedNode& node = plan_.node(before);
        if (ended_[v][node.lane.value()] > node.position) continue;
        return Fault(absl::StrCat("node ", Name(v), " does not wait for ", Name(before.value()),
                                  ", which its `after` names"));
      }
    }
    return absl::OkStatus();
  }

  // Who read and wrote a byte so far. Lanes run in order, so of each lane the last is enough.
  struct Users {
    PerLane readers;
    PerLane writers;
  };

  // Uses in program order: each must find the conflicting ones before it ended.
  absl::Status CheckData() {
    const Users nobody = {PerLane(lanes_, 0), PerLane(lanes_, 0)};
    std::vector<ByteMap<Users>> users(graph_.buffers.size(), ByteMap<Users>(nobody));
    ir::OrderedRanges ranges(graph_);
    absl::Status status;
    for (const ir::Use& use : graph_.uses) {
      const uint32_t v = use.node.value();
      ranges.ForEach(use, [&](ByteRange range) {
        status.Update(users[use.storage.value()].ForEach(
            range, [&](Users& byte) { return CheckUse(use, v, byte); }));
      });
      WEFT_RETURN_IF_ERROR(status);
    }
    return absl::OkStatus();
  }

  absl::Status CheckUse(const ir::Use& use, uint32_t v, Users& byte) const {
    // Waits and signals count as reads: they stay between nodes of other kinds that write.
    const bool writes = kernels::Writes(use.access) && use.kind != ir::UseKind::kSemaphore;
    if (!AllWithin(byte.writers, ended_[v]) || (writes && !AllWithin(byte.readers, ended_[v]))) {
      return Fault(absl::StrCat("node ", Name(v), " uses bytes [", use.range.offset, ", ",
                                use.range.end(), ") of buffer \"", graph_.buffer(use.storage).name,
                                "\" without waiting for a node before it that uses them"));
    }
    const PlannedNode& node = plan_.nodes[v];
    uint32_t& last = (writes ? byte.writers : byte.readers)[node.lane.value()];
    last = std::max(last, node.position + 1);
    return absl::OkStatus();
  }

  // Bytes of memory of a run with the time of their uses.
  struct Piece {
    std::string what;
    ir::MemoryKind memory = ir::MemoryKind::kDevice;  // the area that the range lies in
    ByteRange range;
    uint32_t first_rank = UINT32_MAX;
    PerLane used_up_to;
    PerLane ended_before;  // of every use
  };

  void NoteUse(Piece& piece, uint32_t v) const {
    if (piece.used_up_to.empty()) {
      piece.used_up_to.assign(lanes_, 0);
      piece.ended_before.assign(lanes_, UINT32_MAX);
    }
    piece.first_rank = std::min(piece.first_rank, rank_[v]);
    const PlannedNode& node = plan_.nodes[v];
    const uint32_t own = node.lane.value();
    piece.used_up_to[own] = std::max(piece.used_up_to[own], node.position + 1);
    for (uint32_t l = 0; l < lanes_; ++l) {
      const uint32_t ended = l == own ? node.position : ended_[v][l];
      piece.ended_before[l] = std::min(piece.ended_before[l], ended);
    }
  }

  absl::Status CollectPieces(std::vector<Piece>& pieces) const {
    std::vector<Piece> buffers(graph_.buffers.size());
    for (const ir::Use& use : graph_.uses) {
      const ir::Buffer& buffer = graph_.buffer(use.storage);
      if (buffer.shared.has_value() || buffer.is_parameter) continue;
      NoteUse(buffers[use.storage.value()], use.node.value());
    }
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (buffers[i].used_up_to.empty()) continue;
      const auto offset = plan_.scratch.buffer_offsets[i];
      buffers[i].what = absl::StrCat("buffer \"", graph_.buffers[i].name, "\"");
      if (!offset.has_value()) return Fault(absl::StrCat(buffers[i].what, " has no place"));
      buffers[i].memory = graph_.buffers[i].memory;
      buffers[i].range = {*offset, graph_.buffers[i].size_bytes};
      pieces.push_back(std::move(buffers[i]));
    }
    for (uint32_t v = 0; v < plan_.nodes.size(); ++v) {
      if (plan_.nodes[v].workspace.empty()) continue;
      Piece piece;
      piece.what = absl::StrCat("the workspace of node ", Name(v));
      piece.range = plan_.nodes[v].workspace;
      NoteUse(piece, v);
      pieces.push_back(std::move(piece));
    }
    return absl::OkStatus();
  }

  absl::Status CheckScratch() const {
    std::vector<Piece> pieces;
    WEFT_RETURN_IF_ERROR(CollectPieces(pieces));
    std::sort(pieces.begin(), pieces.end(),
              [](const Piece& a, const Piece& b) { return a.first_rank < b.first_rank; });
    // A piece whose first use is later cannot come before one whose first use is earlier.
    std::map<ir::MemoryKind, ByteMap<PerLane>> users;
    for (const Piece& piece : pieces) {
      const auto area = users.try_emplace(piece.memory, PerLane(lanes_, 0)).first;
      WEFT_RETURN_IF_ERROR(CheckRange(piece.what, piece.range, AreaBytes(piece.memory)));
      WEFT_RETURN_IF_ERROR(area->second.ForEach(piece.range, [&piece](PerLane& byte) {
        if (!AllWithin(byte, piece.ended_before)) {
          return Fault(absl::StrCat(piece.what, " shares bytes with another that is still in use"));
        }
        Raise(byte, piece.used_up_to);
        return absl::OkStatus();
      }));
    }
    return absl::OkStatus();
  }

  uint64_t AreaBytes(ir::MemoryKind memory) const {
    if (memory == ir::MemoryKind::kPinned) return plan_.pinned_bytes;
    if (memory == ir::MemoryKind::kManaged) return plan_.managed_bytes;
    return plan_.scratch.size_bytes;
  }

  static absl::Status CheckRange(const std::string& what, ByteRange range, uint64_t area_bytes) {
    if (range.within(area_bytes) && range.offset % kAreaAlignment == 0) return absl::OkStatus();
    return Fault(absl::StrCat(what, " lies outside its area, or misaligned"));
  }

  // Each node that runs a graph has room for its scratch memory.
  absl::Status CheckCalls() const {
    for (uint32_t v = 0; v < graph_.node_count(); ++v) {
      for (const ir::GraphCall& call : graph_.CallsOf(graph_.nodes[v].op)) {
        if (call.graph >= graphs_.size()) {
          return Fault(absl::StrCat("node ", Name(v), " runs a graph that has no plan"));
        }
        if (plan_.nodes[v].workspace.size >= graphs_[call.graph].scratch.size_bytes) continue;
        return Fault(absl::StrCat("node ", Name(v), " has less scratch than a graph it runs"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckStaging() const {
    uint64_t end = 0;  // the planner lays the ranges out in the order of the nodes
    for (uint32_t v = 0; v < plan_.nodes.size(); ++v) {
      const uint64_t wanted = ir::StagedBytes(graph_.nodes[v].op);
      const ByteRange& range = plan_.nodes[v].staging;
      const std::string what = absl::StrCat("the staging bytes of node ", Name(v));
      if (range.size != wanted) return Fault(absl::StrCat(what, " are too few or too many"));
      if (!range.empty()) {
        WEFT_RETURN_IF_ERROR(CheckRange(what, range, plan_.staging_bytes));
        if (range.offset < end) return Fault(absl::StrCat(what, " overlap others"));
        end = range.end();
      }
      WEFT_RETURN_IF_ERROR(CheckReadyWord(v, end));
    }
    return absl::OkStatus();
  }

  // `end`: of the staging bytes that are in use, which the word raises.
  absl::Status CheckReadyWord(uint32_t v, uint64_t& end) const {
    const ByteRange& word = plan_.nodes[v].ready;
    const bool is_wanted = ir::IsHostOutput(graph_.nodes[v].op);
    if (word.empty() && !is_wanted) return absl::OkStatus();
    const std::string what = absl::StrCat("the ready word of node ", Name(v));
    if (!is_wanted || word.size != kReadyWordBytes) {
      return Fault(absl::StrCat(what, " is there for no output, or missing"));
    }
    if (!word.within(plan_.staging_bytes) || word.offset % kReadyWordBytes != 0) {
      return Fault(absl::StrCat(what, " lies outside its area, or misaligned"));
    }
    if (word.offset < end) return Fault(absl::StrCat(what, " overlaps other bytes"));
    end = word.end();
    return absl::OkStatus();
  }

  // A wait is a segment of its own, or has nothing to wait for; and what a segment holds back comes
  // behind what it waits for, all of it and nothing else.
  absl::Status CheckSegments() const {
    for (uint32_t v = 0; v < graph_.node_count(); ++v) WEFT_RETURN_IF_ERROR(CheckWait(v));
    if (plan_.segments.empty()) return absl::OkStatus();
    std::vector<bool> placed(graph_.node_count(), false);
    for (uint32_t s = 0; s < plan_.segments.size(); ++s) {
      const Segment& segment = plan_.segments[s];
      if (segment.nodes.count == 0) return Fault(absl::StrCat("segment ", s, " is empty"));
      for (const uint32_t before : plan_.AfterOf(segment)) {
        if (before >= s) return Fault(absl::StrCat("segment ", s, " comes after a later one"));
      }
      for (const NodeIndex n : plan_.NodesOf(segment)) {
        const uint32_t v = n.value();
        if (placed[v] || plan_.nodes[v].segment != s) {
          return Fault(absl::StrCat("node ", Name(v), " is not where its segment has it"));
        }
        placed[v] = true;
        WEFT_RETURN_IF_ERROR(CheckSegmentOf(v, segment));
      }
    }
    if (std::find(placed.begin(), placed.end(), false) == placed.end()) return absl::OkStatus();
    return Fault("a node is in no segment");
  }

  absl::Status CheckWait(uint32_t v) const {
    if (!std::holds_alternative<ir::SemaphoreWaitOp>(graph_.nodes[v].op)) return absl::OkStatus();
    if (plan_.nodes[v].is_no_op) {
      const absl::Span<const NodeIndex> after = graph_.AfterOf(graph_.nodes[v]);
      if (std::any_of(after.begin(), after.end(), [&](NodeIndex before) {
            return ir::IsSemaphorePair(graph_, before, NodeIndex(v));
          })) {
        return absl::OkStatus();
      }
      return Fault(absl::StrCat("node ", Name(v), " does not wait for its value"));
    }
    if (plan_.nodes[v].segment < plan_.segments.size()) {
      const Segment& segment = plan_.segments[plan_.nodes[v].segment];
      if (segment.kind == Segment::Kind::kWait && segment.nodes.count == 1) return absl::OkStatus();
    }
    return Fault(absl::StrCat("the wait ", Name(v), " is no segment"));
  }

  absl::Status CheckSegmentOf(uint32_t v, const Segment& segment) const {
    const PlannedNode& node = plan_.nodes[v];
    const bool is_wait =
        std::holds_alternative<ir::SemaphoreWaitOp>(graph_.nodes[v].op) && !node.is_no_op;
    if (is_wait != (segment.kind == Segment::Kind::kWait)) {
      return Fault(absl::StrCat("node ", Name(v), " is in a segment of another kind"));
    }
    const absl::Span<const uint32_t> after = plan_.AfterOf(segment);
    std::vector<NodeIndex> before(plan_.WaitsOf(node).begin(), plan_.WaitsOf(node).end());
    if (const auto in_lane = plan_.BeforeInLane(node)) before.push_back(*in_lane);
    for (const NodeIndex b : before) {
      const uint32_t theirs = plan_.node(b).segment;
      if (theirs == node.segment || std::binary_search(after.begin(), after.end(), theirs))
        continue;
      return Fault(absl::StrCat("the segment of node ", Name(v), " does not come after that of ",
                                Name(b.value())));
    }
    for (const uint32_t s : after) {
      if (plan_.segments[s].kind != Segment::Kind::kWait) continue;
      const NodeIndex wait = plan_.NodesOf(plan_.segments[s]).front();
      const PlannedNode& planned = plan_.node(wait);
      if (ended_[v][planned.lane.value()] > planned.position) continue;
      return Fault(absl::StrCat("the wait ", Name(wait.value()), " holds back node ", Name(v),
                                ", which does not come after it"));
    }
    return absl::OkStatus();
  }

  const ir::Graph& graph_;
  const Plan& plan_;
  const absl::Span<const Plan> graphs_;
  const size_t lanes_;
  std::vector<uint32_t> rank_;  // by node: its place in the order
  std::vector<PerLane> ended_;  // by node: what has ended once it has, itself included
};

}  // namespace

absl::Status VerifyPlan(const ir::Graph& graph, const Plan& plan) {
  if (graph.graphs.size() != plan.graphs.size()) return Fault("a graph of the job has no plan");
  const absl::Span<const Plan> graphs = plan.graphs;
  for (size_t i = 0; i < graphs.size(); ++i) {
    WEFT_RETURN_IF_ERROR(Verifier(graph.graphs[i], graphs[i], graphs.subspan(0, i)).Run());
  }
  return Verifier(graph, plan, graphs).Run();
}

}  // namespace weft::plan
