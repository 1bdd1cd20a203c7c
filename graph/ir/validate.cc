#include "graph/ir/validate.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "graph/ir/byte_set.h"
#include "graph/ir/errors.h"
#include "graph/ir/semaphores.h"
#include "graph/ir/topological_order.h"
#include "graph/ir/use_rows.h"
#include "weft/v1/job.pb.h"

namespace weft::ir {
namespace {

NodePlace PlaceOfNode(const Graph& graph, uint32_t index) {
  return {index, graph.nodes[index].name, graph.scope, graph.name};
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
  for (size_t i = 0; i < cycle.size(); ++i) {
    const NodeIndex wait(cycle[i]);
    const NodeIndex signal(cycle[(i + cycle.size() - 1) % cycle.size()]);
    if (!IsSemaphorePair(graph, signal, wait)) continue;
    std::rotate(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names.end());
    const uint64_t value = std::get<SemaphoreWaitOp>(graph.node(wait).op).value;
    violations.Add(SemaphoreDeadlock(PlaceOfNode(graph, wait.value()), value, names));
    return;
  }
  violations.Add(Cycle(PlaceOfNode(graph, cycle[0]), names));
}

// Rows of boxes that are looked at one by one in a job: bounds time and memory. Beyond, the
// bytes between rows count as written, and boxes that are read are not looked at: the check finds
// mistakes, and nothing else rests on it.
constexpr uint64_t kMaxRows = uint64_t{1} << 18;

absl::string_view NameOf(MemoryKind memory) {
  switch (memory) {
    case MemoryKind::kDevice:
      break;
    case MemoryKind::kPinned:
      return "pinned";
    case MemoryKind::kManaged:
      return "managed";
  }
  return "scratch";
}

class ScratchReads {
 public:
  ScratchReads(const Graph& graph, Violations& violations)
      : graph_(graph),
        violations_(violations),
        written_(graph.buffers.size()),
        rows_(graph, kMaxRows) {}

  // With data ordering nodes run as if one by one in program order. With explicit ordering program
  // order means nothing, so bytes that any node writes are taken to be written in time.
  void Check() {
    if (graph_.options.ordering == Ordering::kExplicit) {
      for (const Node& node : graph_.nodes) NoteWrites(node);
    }
    for (const Node& node : graph_.nodes) {
      if (std::holds_alternative<PrefetchOp>(node.op))
        continue;  // its uses are for the order alone
      for (const Use& use : graph_.UsesOf(node)) CheckRead(use);
      NoteWrites(node);
    }
  }

 private:
  void NoteWrites(const Node& node) {
    if (std::holds_alternative<PrefetchOp>(node.op)) return;
    for (const Use& use : graph_.UsesOf(node)) {
      if (!kernels::Writes(use.access) || use.kind != UseKind::kPlain) continue;
      ByteSet& written = written_[use.storage.value()];
      if (!rows_.Take(use)) {
        written.Add(use.range);
      } else {
        rows_.ForEach(use, [&written](ByteRange row) {
          written.Add(row);
          return true;
        });
      }
    }
  }

  void CheckRead(const Use& use) {
    const Buffer& buffer = graph_.buffer(use.storage);
    if (!kernels::Reads(use.access) || buffer.shared.has_value() || buffer.is_parameter) return;
    // Some of these bytes may be left out.
    if (use.kind == UseKind::kMaybe) return;
    ByteSet& written = written_[use.storage.value()];
    ByteRange gap;
    if (use.runs == Use::kAllBytes) {
      gap = written.FirstGap(use.range);
    } else if (rows_.Take(use)) {
      rows_.ForEach(use, [&gap, &written](ByteRange row) {
        gap = written.FirstGap(row);
        return gap.empty();
      });
    }
    if (gap.empty()) return;
    const uint32_t node = use.node.value();
    violations_.Add(UnwrittenRead(PlaceOfNode(graph_, node), KindName(graph_.nodes[node].op),
                                  NameOf(buffer.memory), buffer.name, gap));
    written.Add(use.range);  // reported once, not for every later reader
  }

  const Graph& graph_;
  Violations& violations_;
  std::vector<ByteSet> written_;  // by storage
  UseRows rows_;
};

void CheckOutputs(const Graph& graph, const Limits& limits, Violations& violations) {
  uint64_t bytes = 0;  // no overflow: at most 400,000 outputs of 2^40 bytes
  for (const Output& output : graph.outputs) bytes += output.size_bytes;
  if (bytes > limits.max_output_bytes) {
    violations.Add(OutputsTooLarge(bytes, limits.max_output_bytes));
  }
}

void CheckPinned(const Graph& graph, const Limits& limits, Violations& violations) {
  uint64_t bytes = 0;  // no overflow: at most 1,000,000 buffers of 2^40 bytes
  for (const Buffer& buffer : graph.buffers) {
    if (buffer.memory == MemoryKind::kPinned) bytes += buffer.size_bytes;
  }
  if (bytes > limits.max_pinned_bytes) {
    violations.Add(PinnedTooLarge(bytes, limits.max_pinned_bytes));
  }
}

void ValidateOne(const Graph& graph, Violations& violations) {
  CheckCycles(graph, violations);
  // A faulty node writes nothing, and everything behind it would be blamed for that.
  if (violations.empty()) ScratchReads(graph, violations).Check();
}

}  // namespace

void Validate(const Graph& graph, Violations& violations) {
  for (const Graph& part : graph.graphs) ValidateOne(part, violations);
  ValidateOne(graph, violations);
}

absl::StatusOr<Graph> ValidateJob(const v1::Job& job, const JobContext& context) {
  Violations violations(context.limits.max_reported);
  Graph graph = FromProto(job, context, violations);
  CheckOutputs(graph, context.limits, violations);
  CheckPinned(graph, context.limits, violations);
  Validate(graph, violations);
  if (!violations.empty()) return violations.ToStatus();
  return graph;
}

}  // namespace weft::ir
