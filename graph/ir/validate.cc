#include "graph/ir/validate.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "graph/ir/errors.h"
#include "graph/ir/topological_order.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

// Bytes of one buffer that were written: disjoint ranges, none of which touch.
class WrittenBytes {
 public:
  void Add(ByteRange range) {
    uint64_t begin = range.offset;
    uint64_t end = range.end();
    auto it = ranges_.upper_bound(begin);
    if (it != ranges_.begin() && std::prev(it)->second >= begin) --it;
    while (it != ranges_.end() && it->first <= end) {
      begin = std::min(begin, it->first);
      end = std::max(end, it->second);
      it = ranges_.erase(it);
    }
    ranges_.emplace_hint(it, begin, end);
  }

  // The first part of `range` that was not written; empty when all was.
  ByteRange FirstGap(ByteRange range) const {
    uint64_t begin = range.offset;
    auto it = ranges_.upper_bound(begin);
    if (it != ranges_.begin() && std::prev(it)->second > begin) begin = std::prev(it)->second;
    if (begin >= range.end()) return {};
    const uint64_t end = it == ranges_.end() ? range.end() : std::min(it->first, range.end());
    return {begin, end - begin};
  }

 private:
  std::map<uint64_t, uint64_t> ranges_;  // begin → end
};

NodePlace PlaceOfNode(const Graph& graph, uint32_t index) {
  return {index, graph.nodes[index].name};
}

void CheckCycles(const Graph& graph, Violations& violations) {
  Digraph order;
  order.begin.reserve(graph.nodes.size() + 1);
  order.predecessors.reserve(graph.after.size());
  for (const Node& node : graph.nodes) {
    for (const NodeIndex before : graph.AfterOf(node)) order.predecessors.push_back(before.value());
    order.EndVertex();
  }
  const std::vector<uint32_t> cycle = OrderOf(order).cycle;
  if (cycle.empty()) return;
  std::vector<std::string> names;
  names.reserve(cycle.size());
  for (const uint32_t v : cycle) names.push_back(graph.nodes[v].name);
  violations.Add(Cycle(PlaceOfNode(graph, cycle[0]), names));
}

class ScratchReads {
 public:
  ScratchReads(const Graph& graph, Violations& violations)
      : graph_(graph), violations_(violations), written_(graph.buffers.size()) {}

  // With data ordering nodes run as if one by one in program order. With explicit ordering program
  // order means nothing, so bytes that any node writes are taken to be written in time.
  void Check() {
    if (graph_.options.ordering == Ordering::kExplicit) {
      for (const Use& use : graph_.uses) NoteWrite(use);
    }
    for (const Node& node : graph_.nodes) {
      for (const Use& use : graph_.UsesOf(node)) CheckRead(use);
      for (const Use& use : graph_.UsesOf(node)) NoteWrite(use);
    }
  }

 private:
  void NoteWrite(const Use& use) {
    if (kernels::Writes(use.access)) written_[use.storage.value()].Add(use.range);
  }

  void CheckRead(const Use& use) {
    const Buffer& buffer = graph_.buffer(use.storage);
    if (!kernels::Reads(use.access) || buffer.shared.has_value()) return;
    const ByteRange gap = written_[use.storage.value()].FirstGap(use.range);
    if (gap.empty()) return;
    const uint32_t node = use.node.value();
    violations_.Add(UnwrittenRead(PlaceOfNode(graph_, node), KindName(graph_.nodes[node].op),
                                  buffer.name, gap));
    written_[use.storage.value()].Add(use.range);  // reported once, not for every later reader
  }

  const Graph& graph_;
  Violations& violations_;
  std::vector<WrittenBytes> written_;  // by storage
};

void CheckOutputs(const Graph& graph, const Limits& limits, Violations& violations) {
  uint64_t bytes = 0;  // no overflow: at most 400,000 outputs of 2^40 bytes
  for (const Output& output : graph.outputs) bytes += output.size_bytes;
  if (bytes > limits.max_output_bytes) {
    violations.Add(OutputsTooLarge(bytes, limits.max_output_bytes));
  }
}

}  // namespace

void Validate(const Graph& graph, Violations& violations) {
  CheckCycles(graph, violations);
  // A faulty node writes nothing, and everything behind it would be blamed for that.
  if (violations.empty()) ScratchReads(graph, violations).Check();
}

absl::StatusOr<Graph> ValidateJob(const v1::Job& job, const JobContext& context) {
  Violations violations(context.limits.max_reported);
  Graph graph = FromProto(job, context, violations);
  CheckOutputs(graph, context.limits, violations);
  Validate(graph, violations);
  if (!violations.empty()) return violations.ToStatus();
  return graph;
}

}  // namespace weft::ir
