// A plan: a job's graph after dependency inference, lane assignment and memory placement. Plain
// data; PlanGraph (planner.h) makes it, graph/build and the executor carry it out, RenderText and
// RenderDot (render.h) show it. The same graph, device and options give the same plan in every
// process.
//
// How to carry it out: take the nodes in `order`; a node runs behind the one before it in its lane,
// and behind every node of WaitsOf. Nothing else orders nodes. A plan that has segments is carried out
// segment by segment, see Segment.
//
//   for (NodeIndex n : plan.order) {
//     const PlannedNode& node = plan.node(n);
//     // stream node.lane: wait for the events of WaitsOf(node), launch LaunchesOf(node) or do the
//     // copy, fill, upload, download (and tell that an output is ready); record an event where
//     // node.has_waiters.
//   }
//
// Thread safety: values. Cost: about 150 bytes a node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/byte_range.h"
#include "base/ids.h"
#include "graph/ir/graph.h"
#include "kernels/launch_shape.h"

namespace weft::plan {

using ir::Slice;

// Offsets in the scratch and the staging area are multiples of this. The areas themselves must be
// aligned to it. 256 is what cuMemAlloc guarantees and what kernels::GivenBuffer asks for.
inline constexpr uint64_t kAreaAlignment = 256;

// Offsets of managed buffers are multiples of this: prefetches and advice work on whole pages, the
// largest of which on a host are of 64 KiB.
inline constexpr uint64_t kManagedAlignment = uint64_t{64} << 10;

// The same of a job with textures, of all its buffers: what every GPU asks of a texture's address.
// Areas themselves begin at multiples of it (memory comes in pages).
inline constexpr uint64_t kTextureAlignment = ir::kTextureAlignmentBytes;

// The word that tells that an output is ready.
inline constexpr uint64_t kReadyWordBytes = 4;

// Why a node is in its lane.
enum class LaneReason : uint8_t {
  kOpens,      // the first of its lane: no lane was free of work that it need not wait for
  kContinues,  // behind a node that it depends on
  kFollows,    // behind a node that has ended before anyway, by way of others
  kShares,     // behind a node that it does not depend on: all lanes are in use
};

struct PlannedNode {
  LaneId lane;
  uint32_t position = 0;  // in its lane, from 0
  LaneReason lane_reason = LaneReason::kOpens;
  bool is_no_op = false;     // nothing to do for host or device; keeps its place in the order
  bool has_waiters = false;  // a node of another lane waits for this one: record an event
  uint32_t segment = 0;      // in Plan::segments; 0 in a plan that is not cut
  Slice waits;               // in Plan::waits
  Slice launches;  // in Plan::launches; kernel nodes, library calls on CPU devices, large copies
  // Kernel nodes whose schema has a workspace, library calls on GPUs, and nodes that run graphs with
  // scratch memory: where it lies in the scratch area. Bodies of one conditional node share it.
  ByteRange workspace;
  // Uploads and downloads: where the bytes lie in the staging area.
  ByteRange staging;
  // Outputs that are delivered while the job runs: the word in the staging area that becomes 1 when
  // the bytes are there, behind them and kReadyWordBytes aligned. Empty: there is none.
  ByteRange ready;
};

// Memory of one run. Its bytes are undefined when the run starts.
struct Scratch {
  uint64_t size_bytes = 0;  // of the area that a run needs; a multiple of kAreaAlignment
  // By BufferIndex: where it lies in the area of its kind of memory; nullopt: it is shared, or no node
  // uses it.
  std::vector<std::optional<uint64_t>> buffer_offsets;
  // The most bytes that are live at once when the nodes run one by one in `order`: no placement of
  // that run needs less.
  uint64_t largest_live_bytes = 0;
  uint64_t unshared_bytes = 0;  // what it would take if no two buffers shared bytes
};

// A part of a plan that is started as a whole. A plan is cut where the host has to act between nodes:
// at waits for semaphores, so that none is ever pending on the device (which could load no module
// meanwhile), and, in a graph, at nodes that no CUDA graph can hold.
//
// A segment of nodes is started, into the stream of the launch, when all segments that it is `after`
// are started, and all waits among them are over. A wait begins when all that it is `after` have ended.
struct Segment {
  enum class Kind : uint8_t {
    kNodes,   // run as LaunchChoice::mode says
    kIssued,  // issued to streams, although the plan's other nodes are in graphs
    kWait,    // one SemaphoreWaitOp, for the host to see to
  };
  Kind kind = Kind::kNodes;
  Slice nodes;  // in Plan::segment_nodes, as in Plan::order
  Slice after;  // in Plan::segment_after: segments before this one, ascending
};

enum class LaunchMode : uint8_t {
  kGraph,    // instantiate a CUDA graph and launch it
  kStreams,  // issue every node to a stream, with events between them
};

struct LaunchChoice {
  LaunchMode mode = LaunchMode::kGraph;
  std::string reason;
  // What the choice was made on: microseconds of CPU time, by the cost figures of choose_launch.h.
  double instantiate_us = 0;
  double graph_launch_us = 0;
  double stream_launch_us = 0;
};

struct Counts {
  uint64_t operations = 0;    // launches, copies and fills of one run, those of graphs included
  uint64_t dependencies = 0;  // as inferred, without duplicates
  uint64_t duplicates = 0;    // dropped because the same two nodes were ordered already
  uint64_t transitive = 0;    // dropped because other dependencies imply them
  uint64_t joins = 0;         // helper vertices that stand for "all of these nodes"
};

struct PassReport {
  std::string name;
  enum class Outcome : uint8_t { kRan, kSwitchedOff } outcome = Outcome::kRan;
  absl::Duration duration;
};

struct Plan {
  std::vector<PlannedNode> nodes;     // by NodeIndex
  std::vector<NodeIndex> order;       // an order in which all may be issued
  std::vector<NodeIndex> lane_nodes;  // grouped by lane, in the order of the lane
  std::vector<Slice> lanes;           // by LaneId, in lane_nodes
  // Event edges, grouped by the node that waits, in ascending order: nodes of other lanes.
  std::vector<NodeIndex> waits;
  std::vector<kernels::PhaseLaunch> launches;  // grouped by node
  Scratch scratch;
  // Areas of the pinned and of the managed buffers of a run; multiples of kAreaAlignment.
  uint64_t pinned_bytes = 0;
  uint64_t managed_bytes = 0;
  uint64_t staging_bytes = 0;  // a multiple of kAreaAlignment; 0: no uploads, no downloads
  LaunchChoice launch;
  // In an order in which they may be started. Empty: the plan is not cut.
  std::vector<Segment> segments;
  std::vector<NodeIndex> segment_nodes;  // grouped by segment
  std::vector<uint32_t> segment_after;   // grouped by segment
  uint32_t lane_limit = 0;               // at most so many lanes were allowed
  Counts counts;
  std::vector<PassReport> passes;
  // Of a job: the plans of its graphs, as ir::Graph::graphs.
  std::vector<Plan> graphs;

  const PlannedNode& node(NodeIndex i) const { return nodes[i.value()]; }
  uint32_t lane_count() const { return static_cast<uint32_t>(lanes.size()); }
  uint32_t event_edge_count() const { return static_cast<uint32_t>(waits.size()); }

  absl::Span<const NodeIndex> NodesOf(LaneId lane) const {
    return Part(lane_nodes, lanes[lane.value()]);
  }
  absl::Span<const NodeIndex> WaitsOf(const PlannedNode& node) const {
    return Part(waits, node.waits);
  }
  absl::Span<const kernels::PhaseLaunch> LaunchesOf(const PlannedNode& node) const {
    return Part(launches, node.launches);
  }
  absl::Span<const NodeIndex> NodesOf(const Segment& segment) const {
    return Part(segment_nodes, segment.nodes);
  }
  absl::Span<const uint32_t> AfterOf(const Segment& segment) const {
    return Part(segment_after, segment.after);
  }
  // The node before `node` in its lane; nullopt for the first.
  std::optional<NodeIndex> BeforeInLane(const PlannedNode& node) const {
    if (node.position == 0) return std::nullopt;
    return NodesOf(node.lane)[node.position - 1];
  }

 private:
  template <typename T>
  static absl::Span<const T> Part(const std::vector<T>& all, Slice slice) {
    return absl::MakeConstSpan(all).subspan(slice.begin, slice.count);
  }
};

}  // namespace weft::plan
